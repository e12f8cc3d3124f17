package ridge_test

import (
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestDualManyGammas: one reduction of G serves every γ, and each is certified as if it were alone.
func TestDualManyGammas(t *testing.T) {
	eachDual(t, func(t *testing.T, opts ridge.ExactOptions) {
		r := rand.New(rand.NewPCG(35, 6))
		opts.Tol = 1e-14
		for _, sparse := range []bool{false, true} {
			s := testkit.Problem(r, "gaussian", 9, 14, 2, 0.1)
			wideKinds["few entries"](r, &s)
			s.Sparse, s.W = sparse, testkit.DrawWeights(r, 9)
			p := refbig.New(s.X, s.Y, s.W, opts.Intercept)
			gammas := []float64{1e-9, 1e-6, 1e-3, 1, 10, 1e3, 1e6}
			for i, f := range testkit.MustExact(t, s, opts, gammas...) {
				testkit.Certificate(t, p, f)
				if f.Gamma != gammas[i] || !(f.Targets[1].RelativeErrorBound <= 1e-14) {
					t.Errorf("γ = %g of %g: certified to %.3g", f.Gamma, gammas[i], f.Targets[1].RelativeErrorBound)
				}
			}
		}
	})
}

// TestDualCGLeavesOut: a factorisation by DualCG gives the leave-one-out errors of Dual, and its mean eigenvalue is an
// upper bound.
func TestDualCGLeavesOut(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 2))
	x, y := testkit.SparseRows(r, 30, 200, 5)
	src := testkit.Must(dataset.FromCSR(x, 1, y))(t)
	gammas := []float64{0.1, 3}
	scores, means := map[ridge.Method][][]ridge.Interval{}, map[ridge.Method]float64{}
	for _, m := range []ridge.Method{ridge.Dual, ridge.DualCG} {
		f := testkit.Must(ridge.Factorize(t.Context(), src, gammas, ridge.ExactOptions{Method: m, LeaveOneOut: true}))(t)
		means[m] = f.MeanEigenvalue()
		_, found, err := f.LeaveOneOut(t.Context(), src, gammas, ridge.LeaveOneOutOptions{})
		if err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		scores[m] = found.Bounds
	}
	for i := range gammas {
		a, b := scores[ridge.Dual][i][0], scores[ridge.DualCG][i][0]
		if !(a.Lo <= b.Hi && b.Lo <= a.Hi && b.Hi < 1.001*b.Lo) {
			t.Errorf("γ = %v: %v by dual-cg, %v by dual", gammas[i], b, a)
		}
	}
	if a, b := means[ridge.Dual], means[ridge.DualCG]; !(b >= a && b < 4*a) {
		t.Errorf("mean eigenvalue %v by dual-cg, %v by dual", b, a)
	}
}
