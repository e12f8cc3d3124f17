package columns

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/dataset/prepare"
)

// TestNotFinite: the first number that is not finite is found wherever it stands.
func TestNotFinite(t *testing.T) {
	for n := range 41 {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.MaxFloat64 * float64(1-i%2*2)
		}
		if got := firstNotFinite(v); got != n {
			t.Errorf("%d of %d", got, n)
		}
		for i := range v {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				was := v[i]
				v[i] = bad
				if got := firstNotFinite(v); got != i {
					t.Errorf("%v at %d of %d: %d", bad, i, n, got)
				}
				v[n-1] = bad
				if got := firstNotFinite(v); got != i {
					t.Errorf("%v at %d and the end of %d: %d", bad, i, n, got)
				}
				v[n-1], v[i] = 1, was
			}
		}
	}
}

// TestColumnsAccepts: Columns refuses an infinity, and a gap where its own column has none.
func TestColumnsAccepts(t *testing.T) {
	c := Choice{To: []int{0, 1}, Features: 1, Targets: 1, Cells: &prepare.Cells{Missing: prepare.MissingMean}}
	nan, inf := math.NaN(), math.Inf(1)
	for _, v := range []struct {
		values []float64 // of two rows: a feature, which may have gaps, and a target
		want   bool
	}{
		{[]float64{1, 2, 3, 4}, true}, {[]float64{math.MaxFloat64, math.MaxFloat64, 3, 4}, true}, {[]float64{1, nan, 3, 4}, true},
		{[]float64{1, 2, nan, 4}, false}, {[]float64{nan, 2, 3, nan}, false}, {[]float64{1, inf, 3, 4}, false}, {[]float64{nan, nan, 3, -inf}, false},
	} {
		x, y := make([]float64, 2), make([]float64, 2)
		if got := c.Columns(x, y, []int{0, 1}, 0, v.values); got != v.want {
			t.Errorf("%v: accepted is %v", v.values, got)
		}
		if _, _, _, bad := c.Find(x, y); bad == v.want {
			t.Errorf("%v: Find says %v", v.values, bad)
		}
	}
}
