package interval

import (
	"math"
	"testing"
)

// TestWidenRootOverflow: a square that overflowed says only that its root is large. The distance may be larger.
func TestWidenRootOverflow(t *testing.T) {
	inf := math.Inf(1)
	for _, distance := range []float64{1e200, 1e300, inf} {
		for _, lo := range []float64{inf, math.MaxFloat64} {
			if v := WidenRoot(Interval{lo, inf}, distance); v != (Interval{0, inf}) {
				t.Errorf("the root of [%g, ∞), off by %g, has its square in %v", lo, distance, v)
			}
		}
	}
	if v := WidenRoot(Interval{inf, inf}, 1e100); !(v.Lo >= 1e308) {
		t.Errorf("the root of a number that overflowed, off by 1e100, has its square in %v", v)
	}
}
