package ridge_test

import (
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestTrialsLeaveOut: for many sparse rows, dual-cg brackets the leave-one-out errors and effective dimensions of dual,
// with and without an intercept and weights, for several targets. The brackets are narrow unless γ is small.
func TestTrialsLeaveOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 4))
	const n, d = 640, 900
	x, y := testkit.Words(rng, n, d)
	targets, weights := make([]float64, 0, 2*n), make([]float64, n)
	for i := range n {
		targets, weights[i] = append(targets, y[i], rng.NormFloat64()), 0.5+rng.Float64()
	}
	gammas := []float64{0.03, 1, 30}
	for _, weighted := range []bool{false, true} {
		for _, intercept := range []bool{false, true} {
			src := testkit.Must(dataset.FromCSR(x, 2, targets))(t)
			if weighted {
				src = testkit.Must(dataset.Weigh(src, testkit.Must(dataset.FromDense(n, 1, 0, weights, nil))(t)))(t)
			}
			scores, fits := map[ridge.Method][][]ridge.Interval{}, map[ridge.Method][]*ridge.Solution{}
			for _, m := range []ridge.Method{ridge.Dual, ridge.DualCG} {
				f := testkit.Must(
					ridge.Factorize(
						t.Context(),
						src,
						gammas,
						ridge.ExactOptions{Method: m, LeaveOneOut: true, Intercept: intercept},
					),
				)(
					t,
				)
				found, errs, err := f.LeaveOneOut(t.Context(), src, gammas, ridge.LeaveOneOutOptions{})
				if err != nil {
					t.Fatalf("%v: %v", m, err)
				}
				if f.Method() != m {
					t.Fatalf("%v ran as %v", m, f.Method())
				}
				scores[m], fits[m] = errs.Bounds, found
			}
			for i, g := range gammas {
				for j := range 2 {
					a, b := scores[ridge.Dual][i][j], scores[ridge.DualCG][i][j]
					if !(b.Lo <= a.Hi && a.Lo <= b.Hi) || !(g < 1 || b.Hi <= 1.02*b.Lo) {
						t.Errorf(
							"weighted %v, intercept %v, γ = %v, target %d: %v by dual-cg, %v by dual",
							weighted,
							intercept,
							g,
							j,
							b,
							a,
						)
					}
				}
				a, b := fits[ridge.Dual][i].EffectiveDimension, fits[ridge.DualCG][i].EffectiveDimension
				if !(b.Lo <= a.Hi && a.Lo <= b.Hi && b.Lo <= b.Hi) || !(g < 1 || b.Hi-b.Lo < 0.2*b.Hi) {
					t.Errorf("γ = %v: effective dimension %v by dual-cg, %v by dual", g, b, a)
				}
			}
		}
	}
}
