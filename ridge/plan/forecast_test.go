package plan_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestPredictedPasses: the prediction, made before the first pass, is an upper
// bound on what the solver then takes.
func TestPredictedPasses(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(4, 2)), "gaussian", 300, 40, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 10})
	eta := testkit.Must(sum.Fit(1))(t).Shrinkage
	for _, m := range testkit.Methods {
		last := 0
		for _, ratio := range []float64{10, 1, 0.1} {
			// The prediction is in the norm of H; a margin of √κ(H) makes it one
			// for the norm of x.
			predicted := testkit.Must(plan.PredictedPasses(sum, ratio*eta, 1e-8*1e-3, m))(t)
			f := testkit.Must(ridge.Solve(context.Background(), s, sum, ratio*eta, ridge.SolveOptions{Method: m, Tol: 1e-8}))(t)
			if f.Passes-1 > predicted+2 {
				t.Errorf("%v, γ/η = %g: %d passes, predicted %d", m, ratio, f.Passes-1, predicted)
			}
			if !(predicted > last) {
				t.Errorf("%v: the prediction does not grow as γ falls: %d, %d", m, last, predicted)
			}
			last = predicted
		}
	}
}
