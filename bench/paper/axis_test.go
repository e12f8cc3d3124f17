package paper

import (
	"math"
	"slices"
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

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                {""},
		"plain":           {"plain"},
		"2⁻⁸":             {"2", "−8"},
		"‖x⁽ᵗ⁾ − x*‖²":    {"‖x", "(t)", " − x*‖", "2"},
		"5·10⁻⁹ and more": {"5·10", "−9", " and more"},
	} {
		if got := split(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{
		0x1p-8: "2⁻⁸", 1: "1", 2: "2", 1024: "2¹⁰", 10: "10", 0.3: "0.3",
	} {
		if got := power(x); got != want {
			t.Errorf("power(%v) = %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{
		0: "0", 1: "1.0", 0.999: "1.0", 0.0234: "0.023", 123.4: "123", 9876: "9876",
		12345: "1.2·10⁴", -4.56e-7: "-4.6·10⁻⁷", math.Inf(1): "+Inf",
	} {
		if got := short(x); got != want {
			t.Errorf("short(%v) = %q, want %q", x, got, want)
		}
	}
	if got := span(3, 1, 2); got != "1.0 to 3.0" {
		t.Errorf("span: %q", got)
	}
	if got := span(1.001, 1); got != "1.0" {
		t.Errorf("span of numbers that look alike: %q", got)
	}
}
