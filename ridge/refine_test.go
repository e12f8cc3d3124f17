package ridge_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestExactRefined: direct fits are certified to 1e-14, in two passes more, and what is
// certified is near the truth; least squares too, where the columns are independent.
func TestExactRefined(t *testing.T) {
	var looseness []float64
	for name, p := range preciseProblems() {
		ref := refbig.New(p.X, p.Y, p.W, p.intercept)
		for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
			for _, gamma := range []float64{p.gamma, 1e-6 * p.gamma, 0} {
				want := testkit.Must(ref.Solve(gamma))(t)
				fits, err := ridge.SolveExact(
					t.Context(),
					p,
					[]float64{gamma},
					ridge.ExactOptions{Method: factor, Intercept: p.intercept, Tol: 1e-14},
				)
				if err != nil {
					t.Fatalf("%s, %v, γ = %g: %v", name, factor, gamma, err)
				}
				testkit.Certificate(t, ref, fits[0])
				for j, c := range fits[0].Targets {
					looseness = append(looseness, c.ErrorBound/refbig.Distance(c.Coef, want.Coef[j]))
					if !(c.RelativeErrorBound <= 1e-14) || fits[0].Passes > 4 {
						t.Errorf(
							"%s, %v, γ = %g: certified %.3g after %d passes",
							name,
							factor,
							gamma,
							c.RelativeErrorBound,
							fits[0].Passes,
						)
					}
				}
			}
		}
	}
	slices.Sort(looseness)
	median, high := looseness[len(looseness)/2], looseness[len(looseness)*95/100]
	t.Logf("bound/error: median %.3g, 95th percentile %.3g", median, high)
	if !(median <= 10) || !(high <= 100) {
		t.Errorf("bound/error: median %.3g, 95th percentile %.3g", median, high)
	}
}

// TestExactRefinedFar: refined fits are certified to the rounding of the weights. In one case the columns are 10⁹
// times as far from zero as their smallest singular value is large. In the other case they are nearly dependent, and H
// has the condition number 10¹².
func TestExactRefinedFar(t *testing.T) {
	for _, c := range []struct {
		name         string
		far, near    float64
		gamma        float64
		factors      []ridge.Method
		passes, iter int
	}{
		{"far", 1e6, 1e-3, 1e-6, []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal}, 4, 30},
		{"far, least squares", 1e6, 1e-3, 0, []ridge.Method{ridge.QR}, 4, 0},
		{"near to dependent", 1, 1e-6, 0, []ridge.Method{ridge.QR, ridge.Cholesky}, 6, 0},
	} {
		for _, sparse := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(17, 8))
			var p testkit.Table
			p.Sparse = sparse
			for range 80 {
				x := testkit.Normals(rng, 4)
				x[3] = x[2] + c.near*x[3]
				for j := range x {
					x[j] += c.far
				}
				p.X, p.Y = append(p.X, x), append(p.Y, []float64{x[0] - 2*x[1] + x[3] + 0.1*rng.NormFloat64()})
			}
			ref := refbig.New(p.X, p.Y, nil, true)
			for _, factor := range c.factors {
				fit := testkit.MustExact(t, p, ridge.ExactOptions{Method: factor, Intercept: true, Tol: 1e-15}, c.gamma)[0]
				testkit.Certificate(t, ref, fit)
				if o := fit.Targets[0]; !(o.RelativeErrorBound <= 1e-15) || fit.Passes > c.passes {
					t.Errorf(
						"%s, sparse %v, %v: certified %.3g after %d passes",
						c.name,
						sparse,
						factor,
						o.RelativeErrorBound,
						fit.Passes,
					)
				}
			}
			for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin} {
				if c.iter == 0 {
					break
				}
				sum := testkit.Summarize(t, p, ridge.SummaryConfig{Size: 2, Intercept: true})
				fit := testkit.Must(
					ridge.Solve(t.Context(), p, sum, c.gamma, ridge.SolveOptions{Method: method, Tol: 1e-15}),
				)(
					t,
				)
				testkit.Certificate(t, ref, fit)
				if fit.Passes > c.iter {
					t.Errorf("%s, sparse %v, %v: %d passes", c.name, sparse, method, fit.Passes)
				}
			}
		}
	}
}

// TestExactWeakRows: if γ keeps the weights small, the rounding of the rows matters as little as the rows do. One pass
// certifies a similar relative error at γ = 10¹²·‖A‖² as at γ = 100·‖A‖².
func TestExactWeakRows(t *testing.T) {
	p := testkit.Problem(rand.New(rand.NewPCG(3, 17)), "offset", 90, 5, 1, 1)
	ref := refbig.New(p.X, p.Y, nil, true)
	scale := testkit.ScaleOf(ref)
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
		fits := testkit.MustExact(t, p, ridge.ExactOptions{Method: factor, Intercept: true}, 100*scale, 1e12*scale)
		for _, f := range fits {
			testkit.Certificate(t, ref, f)
		}
		if a, b := fits[0].Targets[0].RelativeErrorBound, fits[1].Targets[0].RelativeErrorBound; !(b <= 4*a) {
			t.Errorf("%v: certified %.3g where the rows are weak, %.3g where they are less so", factor, b, a)
		}
	}
}
