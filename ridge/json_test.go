package ridge_test

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestProves: a bound of 1 or more, or none, proves nothing of weights that are not zero.
func TestProves(t *testing.T) {
	for bound, want := range map[float64]bool{
		0:           true,
		0.99:        true,
		1:           false,
		7:           false,
		math.Inf(1): false,
		math.NaN():  false,
	} {
		o := ridge.Target{Coef: []float64{0, 2}, Certificate: ridge.Certificate{RelativeErrorBound: bound}}
		if o.Proves() != want {
			t.Errorf("a relative error of at most %v proves something: %v", bound, !want)
		}
		o.Coef[1] = 0
		if !o.Proves() {
			t.Errorf("zeros with a bound of %v", bound)
		}
	}
}
