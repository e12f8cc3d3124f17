package plan_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestPlanWide: the planned number of passes is within a factor of two of the number that are needed. γ is far below
// the smallest nonzero eigenvalue of K, as with fewer rows than features, so that γ alone would predict ten to a
// thousand times as many. If there are about as many rows as features, noise leaves tiny eigenvalues. They take three
// to five times as many passes as their mean would.
func TestPlanWide(t *testing.T) {
	for _, c := range []struct {
		n, d, m int
		power   float64 // by which column norms fall
		gamma   float64
	}{
		{200, 1500, 40, 0, 1e-3}, {200, 1500, 20, 0.5, 1e-3}, {300, 60, 10, 0.5, 1e-3},
		{360, 300, 40, 0.5, 1e-5}, {300, 360, 20, 0.5, 1e-5},
	} {
		rng := rand.New(rand.NewPCG(9, uint64(c.d)))
		x, y := make([]float64, c.n*c.d), make([]float64, c.n)
		for i := range y {
			for j := range c.d {
				x[i*c.d+j] = rng.NormFloat64() * math.Pow(float64(j+1), -c.power)
			}
			y[i] = x[i*c.d] + rng.NormFloat64()
		}
		src := testkit.Must(dataset.FromDense(c.n, c.d, 1, x, y))(t)
		sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: c.m})
		list := testkit.Must(plan.New(sum, plan.Config{Sizes: []int{c.m}, Gammas: []float64{c.gamma}}))(t)
		proved := testkit.Must(plan.PredictedPasses(sum, c.gamma, 1e-8, ridge.CG))(t)
		for _, o := range list.Options {
			method := ridge.CG
			switch o.Method {
			case ridge.CG:
			case ridge.Galerkin:
				method = ridge.Galerkin
			default:
				continue
			}
			fit := testkit.Must(ridge.Solve(context.Background(), src, sum, c.gamma, ridge.SolveOptions{Method: method}))(t)
			if took, want := fit.Passes, o.Passes[0]; 2*want < took || want > 2*took || proved < 10*took {
				t.Errorf(
					"%d×%d, m = %d: %s took %d passes, planned were %d, proved are %d",
					c.n,
					c.d,
					c.m,
					o.Method,
					took,
					want,
					proved,
				)
			}
		}
	}
}
