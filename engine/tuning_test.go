package engine

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/engine/purego"
)

func TestOverride(t *testing.T) {
	settings := map[string]struct {
		most int
		of   func(*Tuning) *Setting
	}{
		"FDRIDGE_MC":            {1 << 20, func(t *Tuning) *Setting { return &t.MC }},
		"FDRIDGE_KC":            {1 << 20, func(t *Tuning) *Setting { return &t.KC }},
		"FDRIDGE_NC":            {1 << 24, func(t *Tuning) *Setting { return &t.NC }},
		"FDRIDGE_SHRINK_ROWS":   {1 << 24, func(t *Tuning) *Setting { return &t.Shrink }},
		"FDRIDGE_SPARSE_ROWS":   {1 << 24, func(t *Tuning) *Setting { return &t.Sparse }},
		"FDRIDGE_SCATTER":       {1 << 24, func(t *Tuning) *Setting { return &t.Scatter }},
		"FDRIDGE_GRADIENT_ROWS": {1 << 24, func(t *Tuning) *Setting { return &t.Gradient }},
		"FDRIDGE_LANES":         {1 << 10, func(t *Tuning) *Setting { return &t.Lanes }},
		"FDRIDGE_THREADS":       {1 << 10, func(t *Tuning) *Setting { return &t.Threads }},
	}
	before := Detect()
	for name, s := range settings {
		only := func(text string) func(string) (string, bool) {
			return func(asked string) (string, bool) {
				if _, known := settings[asked]; !known && asked != "FDRIDGE_KERNEL" {
					t.Errorf("%s is looked up", asked)
				}
				return text, asked == name
			}
		}
		for text, value := range map[string]int{"1": 1, "7": 7, fmt.Sprint(s.most): s.most} {
			want := before
			*s.of(&want) = Setting{value, name}
			got := before
			if err := got.Override(only(text)); err != nil || got != want {
				t.Errorf("%s=%s: %v, %v\n%v", name, text, err, *s.of(&got), got)
			}
		}
		for _, text := range []string{"", "0", "-1", "1.5", "four", "0x10", " 8", "8 ", "99999999999999999999", fmt.Sprint(s.most + 1)} {
			got := before
			err := got.Override(only(text))
			if err == nil || !strings.Contains(err.Error(), name) ||
				!strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
				t.Errorf("%s=%q: error %v", name, text, err)
			}
			if got != before {
				t.Errorf("%s=%q: changed to\n%v", name, text, got)
			}
		}
	}

	for _, k := range purego.Kernels() {
		got := before
		err := got.Override(func(name string) (string, bool) { return k.Name, name == "FDRIDGE_KERNEL" })
		if err != nil || got.ISA != k.Name || got.MR != k.MR || got.NR != k.NR || got.Origin != "FDRIDGE_KERNEL" ||
			got.MC.Value%k.MR != 0 {
			t.Errorf("FDRIDGE_KERNEL=%s: %v\n%v", k.Name, err, got)
		}
	}
	for _, name := range []string{"", "AVX2", "sse2", "generic "} {
		got := before
		err := got.Override(func(asked string) (string, bool) { return name, asked == "FDRIDGE_KERNEL" })
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("FDRIDGE_KERNEL=%q", name)) || got != before {
			t.Errorf("FDRIDGE_KERNEL=%q: %v", name, err)
		}
	}

	// A bad one among good ones changes nothing either.
	got := before
	if err := got.Override(func(name string) (string, bool) {
		switch name {
		case "FDRIDGE_THREADS":
			return "none", true
		case "FDRIDGE_KERNEL":
			return "generic", true
		}
		return "8", true
	}); err == nil || got != before {
		t.Errorf("error %v, changed %v", err, got != before)
	}
}

// TestRows tries the rules behind the settings 0 and the settings that replace
// them.
func TestRows(t *testing.T) {
	var tuning Tuning
	for d, want := range map[int]int{1: 8192, 128: 8192, 200: 5242, 1000: 1048, 1 << 20: 16} {
		if got := tuning.GradientRows(d); got != want {
			t.Errorf("%d rows of a gradient block for d = %d, want %d", got, d, want)
		}
	}
	if got := tuning.ShrinkRows(50); got != 63 {
		t.Errorf("%d rows a shrink", got)
	}
	for d, want := range map[int]int{1: 4096, 8: 4096, 16: 2048, 64: 512, 100: 400, math.MaxInt: 4 * (math.MaxInt / 8)} {
		if got := tuning.LosslessRows(d, 256<<10); got != want {
			t.Errorf("%d rows a shrink of all %d dimensions, want %d", got, d, want)
		}
	}
	tuning.Gradient.Value, tuning.Shrink.Value = 9, 11
	g, s, l := tuning.GradientRows(128), tuning.ShrinkRows(50), tuning.LosslessRows(50, 0)
	if g != 9 || s != 11 || l != 11 {
		t.Errorf("%d, %d and %d rows, want the settings 9, 11 and 11", g, s, l)
	}
	for _, c := range []struct {
		d, m, setting int
		want          bool
	}{{113, 50, 0, false}, {61, 50, 0, true}, {62, 50, 0, false}, {50, math.MaxInt, 0, true}, {math.MaxInt, 1, 0, false}, {7, 1, 7, true}, {8, 100, 7, false}} {
		tuning.Scatter.Value = c.setting
		if tuning.KeepsScatter(c.d, c.m) != c.want {
			t.Errorf("d = %d, m = %d, set to %d: AᵀA is kept: %v", c.d, c.m, c.setting, !c.want)
		}
	}
	tuning = (Tuning{})
	if !tuning.KeepsScatter(113, 50) || tuning.KeepsScatter(114, 50) {
		t.Error("m + p = 113 rows, and AᵀA of as many features, are not equal")
	}
}

// TestSparseRows: the rule's cost is least where it says, up to what p asks for, and settings
// replace it.
func TestSparseRows(t *testing.T) {
	var tuning Tuning
	for _, c := range []struct{ d, m int }{{300, 100}, {55000, 100}, {360000, 100}, {359000, 64}, {1 << 30, 128}, {2, 1}} {
		p := tuning.ShrinkRows(c.m)
		cost := func(r int) float64 {
			m, d, order := float64(c.m), float64(c.d), float64(c.m+r)
			return (2*m*m*d + 7*order*order*order) / float64(r)
		}
		r := tuning.SparseRows(c.d, c.m, p)
		if !(r >= p) || r > p && !(cost(r) <= cost(r-2)) || !(cost(r) <= cost(r+1)) { // the least is between r−1 and r
			t.Errorf("d = %d, m = %d: %d sparse rows", c.d, c.m, r)
		}
		if got := tuning.SparseRows(c.d, c.m, p+1); got != p+1 {
			t.Errorf("d = %d, m = %d: %d sparse rows where %d others are asked for", c.d, c.m, got, p+1)
		}
	}
	tuning.Sparse.Value = 9
	if got := tuning.SparseRows(55000, 100, 125); got != 9 {
		t.Errorf("%d sparse rows, want the setting 9", got)
	}
}

func TestString(t *testing.T) {
	tuning := Tuning{
		ISA: "isa1", Origin: "origin1", MR: 6, NR: 16,
		L1: Cache{Size: 48 << 10, Ways: 12, Sets: 64, Line: 64, Origin: "origin2"},
		L2: Cache{Size: 2 << 20, Origin: "origin3"}, L3: Cache{Origin: "origin4"},
		MC: Setting{101, "origin5"}, KC: Setting{102, "origin6"}, NC: Setting{103, "origin7"},
		Shrink:   Setting{0, "origin8"},
		Scatter:  Setting{106, "origin11"},
		Sparse:   Setting{107, "origin12"},
		Gradient: Setting{104, "origin9"},
		Threads:  Setting{105, "origin10"},
	}
	text := tuning.String()
	for _, part := range []string{
		"isa1, tile 6×16", "48 KiB, 12 ways × 64 sets × 64 B", "2048 KiB", "unknown",
		"101", "102", "103", "by rule", "104", "105", "106", "107",
		"origin1\n", "origin2\n", "origin3\n", "origin4\n", "origin5\n", "origin6\n", "origin7\n", "origin8\n", "origin9\n", "origin10\n", "origin11\n", "origin12\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
