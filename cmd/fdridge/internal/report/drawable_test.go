package report

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestBrackets: what the report writes, with its indents, is read back, of one target and
// of several.
func TestBrackets(t *testing.T) {
	inf := math.Inf(1)
	for _, want := range [][]ridge.Interval{
		{{Lo: 1, Hi: 2}}, {{Lo: 1, Hi: 2}, {Lo: -3, Hi: inf}}, {{Lo: -inf, Hi: inf}}, {{Lo: 0, Hi: inf}},
	} {
		text, err := json.MarshalIndent(perTarget[ridge.Interval](want), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var got brackets
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %v", text, got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v", text, got)
			}
		}
	}
}

// TestWindow: brackets that reach to zero or to infinity leave an axis that shows
// the others.
func TestWindow(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		values []ridge.Interval
		lo, hi float64
	}{
		{[]ridge.Interval{{Lo: 1, Hi: 2}, {Lo: 3, Hi: 5}}, 1, 5},
		{[]ridge.Interval{{Lo: 0, Hi: 2}, {Lo: 1, Hi: inf}}, 1, 2},
		{[]ridge.Interval{{Lo: 1e-9, Hi: 2}}, 2e-3, 2},
		{[]ridge.Interval{{Lo: 0, Hi: 2}}, 2e-3, 2},
		{[]ridge.Interval{{Lo: 1, Hi: inf}}, 1, 1000},
		{[]ridge.Interval{{Lo: 0, Hi: 0}}, 0, 0},
		{[]ridge.Interval{{Lo: inf, Hi: inf}}, 0, 0},
	} {
		lo, hi := window(c.values)
		if c.lo < c.hi && !(math.Abs(lo*1.1-c.lo) <= 1e-9*c.lo && math.Abs(hi/1.1-c.hi) <= 1e-9*c.hi) ||
			c.lo == 0 && (lo != 0 || hi != 0) {
			t.Errorf("%v: %v to %v, want %v to %v", c.values, lo, hi, c.lo, c.hi)
		}
		if lo != 0 && !(lo < hi) || math.IsInf(hi, 1) {
			t.Errorf("%v: %v to %v is no axis", c.values, lo, hi)
		}
	}
	for _, values := range [][]ridge.Interval{{{Lo: math.MaxFloat64, Hi: inf}}, {{Lo: 1e300, Hi: math.MaxFloat64}}, {{Lo: 1, Hi: 1e308}, {Lo: 1e308, Hi: inf}}} {
		if lo, hi := window(values); !(0 < lo && lo < hi && hi <= math.MaxFloat64) {
			t.Errorf("%v: %v to %v", values, lo, hi)
		}
	}
}
