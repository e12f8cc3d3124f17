package columns

import (
	"math"
	"testing"
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
