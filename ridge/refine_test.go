package ridge_test

import (
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// TestExactRefined: direct fits are certified to 1e-14, in two passes more, and what is
// certified is near the truth; least squares too, where the columns are independent.
func TestExactRefined(t *testing.T) {
	var looseness []float64
	for name, p := range preciseProblems() {
		ref := refbig.New(p.x, p.y, p.w, p.intercept)
		for _, factor := range []ridge.Factor{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
			for _, gamma := range []float64{p.gamma, 1e-6 * p.gamma, 0} {
				want := must(ref.Solve(gamma))(t)
				fits, err := ridge.Exact(t.Context(), p, []float64{gamma}, ridge.ExactOptions{Factor: factor, Intercept: p.intercept, Tol: 1e-14})
				if err != nil {
					t.Fatalf("%s, %v, γ = %g: %v", name, factor, gamma, err)
				}
				ridgetest.Certificate(t, ref, fits[0])
				for j, c := range fits[0].Targets {
					looseness = append(looseness, c.ErrorBound/refbig.Distance(c.Coef, want.Coef[j]))
					if !(c.RelativeErrorBound <= 1e-14) || fits[0].Passes > 4 {
						t.Errorf("%s, %v, γ = %g: certified %.3g after %d passes", name, factor, gamma, c.RelativeErrorBound, fits[0].Passes)
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
