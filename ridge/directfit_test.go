package ridge_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestNoWorseThanOnePass: an iteration that ends short of its tolerance certifies no less than the one
// pass before it.
func TestNoWorseThanOnePass(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(21, 3)), "gaussian", 400, 60, 2, 0.1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 12})
	better := 0
	for _, share := range []float64{1e-3, 0.1, 1, 10} {
		gamma := share * testkit.Must(sum.Fit(1))(t).Shrinkage
		once := testkit.Must(sum.Fit(gamma))(t)
		for _, method := range testkit.Methods {
			_, err := ridge.Solve(
				context.Background(),
				s,
				sum,
				gamma,
				ridge.SolveOptions{Method: method, MaxPasses: 1, Tol: 1e-12},
			)
			short, ok := errors.AsType[*ridge.NotConvergedError](err)
			if !ok {
				t.Fatal(err)
			}
			for j, o := range short.Solutions[0].Targets {
				if !(o.RelativeErrorBound <= once.Targets[j].RelativeErrorBound) {
					t.Errorf(
						"%v, γ = %g: one pass certifies %g, with one more %g",
						method,
						gamma,
						once.Targets[j].RelativeErrorBound,
						o.RelativeErrorBound,
					)
				}
				if math.IsNaN(o.GradientNorm) {
					better++
				}
			}
		}
	}
	if better == 0 {
		t.Error("one pass never certified more")
	}
}
