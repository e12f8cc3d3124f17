package fdridge_test

import (
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestDualCGStatus: conjugate gradients factor nothing. They end where the tolerance is certified, given
// or not.
func TestDualCGStatus(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(26, 6)), "gaussian", 20, 40, 1, 0.1)
	s.Sparse = true
	for factor, want := range map[ridge.Method]ridge.Status{ridge.DualCG: ridge.Converged, ridge.Dual: ridge.Factorized} {
		for _, tol := range []float64{0, 1e-8} {
			f := testkit.MustExact(t, s, ridge.ExactOptions{Method: factor, Tol: tol}, 1)[0]
			r := testkit.Must(
				fdridge.Fit(
					t.Context(),
					s,
					fdridge.Options{NoIntercept: true, Method: factor, Gammas: []float64{1}, Tol: tol},
				),
			)(
				t,
			)
			if f.Method != factor || f.Status != want || r.Solutions[0].Status != want || r.Status != want ||
				!(f.Targets[0].RelativeErrorBound <= max(tol, 1e-12)) {
				t.Errorf("%v to %g: %q by %s, by Fit %q", factor, tol, f.Status, f.Method, r.Status)
			}
		}
	}
}
