package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestLogTicks: labels are in range, say what they stand at, are few enough to be
// read, and are at least two.
func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		base, lo, hi float64
		labels       []string // nil: any
	}{
		{2, 0x1p-8, 0x1p6, []string{"2⁻⁸", "2⁻⁶", "2⁻⁴", "2⁻²", "1", "2²", "2⁴", "2⁶"}},
		{2, 15, 70, []string{"2⁴", "2⁵", "2⁶"}},
		{10, 1e-3, 10, []string{"10⁻³", "10⁻²", "10⁻¹", "1", "10"}},
		{10, 1e-14, 1e4, []string{"10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "1", "10³"}},
		{10, 0.8, 7, []string{"1", "2", "5"}},
		{10, 1.2e-9, 6e-9, []string{"2·10⁻⁹", "5·10⁻⁹"}},
		{10, 1.2e5, 1.9e6, nil},
		{10, 3.1, 3.3, nil},
		{10, 1e-300, 1e300, nil},
	} {
		var labels []string
		minor := 0
		for _, tick := range (logTicks{c.base}).Ticks(c.lo, c.hi) {
			if tick.Value < c.lo*(1-1e-6) || tick.Value > c.hi*(1+1e-6) {
				t.Errorf("base %v, %v to %v: a tick at %v", c.base, c.lo, c.hi, tick.Value)
			}
			if tick.Label == "" {
				minor++
				continue
			}
			labels = append(labels, tick.Label)
		}
		if c.labels != nil && !slices.Equal(labels, c.labels) || len(labels) < 2 || len(labels) > 9 {
			t.Errorf("base %v, %v to %v: labels %q, want %q", c.base, c.lo, c.hi, labels, c.labels)
		}
		if span := math.Log10(c.hi / c.lo); c.base == 10 && span >= 3 && minor < 8 {
			t.Errorf("%v to %v: %d small ticks", c.lo, c.hi, minor)
		}
	}
}

// TestLinearTicks: no two labels look alike.
func TestLinearTicks(t *testing.T) {
	for _, c := range [][2]float64{{0, 10}, {7.977, 8}, {1.5e14, 1.6e14}, {-1e-7, 1e-7}, {0, 100}} {
		seen := map[string]bool{}
		for _, tick := range (linearTicks{}).Ticks(c[0], c[1]) {
			if tick.Label != "" && seen[tick.Label] {
				t.Errorf("%v: %q twice", c, tick.Label)
			}
			seen[tick.Label] = true
		}
		if len(seen) < 3 {
			t.Errorf("%v: labels %v", c, seen)
		}
	}
}

// TestWholeTicks: ticks are whole, few have labels, and those are told apart.
func TestWholeTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		labels []string
	}{
		{0.97, 2.03, []string{"1", "2"}},
		{0.8, 5.1, []string{"1", "2", "3", "4", "5"}},
		{0.7, 13.8, []string{"2", "4", "6", "8", "10", "12"}},
		{-6, 263, []string{"0", "50", "100", "150", "200", "250"}},
		{1, 20000, nil},
		{1, 8, []string{"1", "2", "3", "4", "5", "6", "7", "8"}},
	} {
		ticks := wholeTicks{}.Ticks(c.lo, c.hi)
		var labels []string
		for _, tick := range ticks {
			if tick.Value != math.Trunc(tick.Value) || tick.Value < c.lo || tick.Value > c.hi {
				t.Errorf("%v to %v: a tick at %v", c.lo, c.hi, tick.Value)
			}
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if c.labels != nil && !slices.Equal(labels, c.labels) || len(labels) < 2 || len(labels) > 8 || len(ticks) > 45 {
			t.Errorf("%v to %v: %d ticks, labels %q, want %q", c.lo, c.hi, len(ticks), labels, c.labels)
		}
	}
}

func TestSplit(t *testing.T) {
	up := func(text string) run { return run{text: text, raised: true} }
	greek := func(text string) run { return run{text: text, greek: true} }
	for line, want := range map[string][]run{
		"":                {{}},
		"plain":           {{text: "plain"}},
		"2⁻⁸":             {{text: "2"}, up("−8")},
		"‖x⁽ᵗ⁾ − x*‖²":    {{text: "‖x"}, up("(t)"), {text: " − x*‖"}, up("2")},
		"5·10⁻⁹ and more": {{text: "5·10"}, up("−9"), {text: " and more"}},
		"σ², of γ":        {greek("σ"), up("2"), {text: ", of "}, greek("γ")},
	} {
		if got := split(line); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1.0", 0.999: "1.0", 0.0234: "0.023", 123.4: "123", 9876: "9876",
		12345: "1.2·10⁴", -4.56e-7: "-4.6·10⁻⁷", math.Inf(1): "+Inf",
	} {
		if got := Short(x); got != want {
			t.Errorf("Short(%v) = %q, want %q", x, got, want)
		}
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", 0.25: "0.25", 1234: "1234", 12345: "1.23·10⁴", 1.5e14: "1.5·10¹⁴", 1e4: "10⁴", 9.999e5: "10⁶", -2e-9: "−2·10⁻⁹",
		math.Inf(1): "+Inf",
	} {
		if got := Digits(x, 3); strings.ReplaceAll(got, "-", "−") != want {
			t.Errorf("Digits(%v) = %q, want %q", x, got, want)
		}
	}
	if a, b := Digits(1.5e14, 3), Digits(1.6e14, 3); a == b {
		t.Errorf("two numbers look alike: %s", a)
	}
}
