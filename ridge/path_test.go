package ridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestPath: a path is the fits for its γ one by one, and its certificates hold
// against 512-bit arithmetic.
func TestPath(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		cases := 0
		rapid.Check(t, func(t *rapid.T) {
			p, gammas := testkit.DrawWide(t, be)
			for i, f := range testkit.Must(p.Sum.Path(gammas))(t) {
				testkit.Certificate(t, p.Ref, f)
				one := testkit.Must(p.Sum.Fit(gammas[i]))(t)
				samePathPoint(t, one, f)
				cases++
			}
		})
		t.Logf("%d cases", cases)
	})
}

// samePathPoint compares to round-off, which is relative to (σ₁²+γ)/γ: the fits'
// own certificates know how much that is.
func samePathPoint(t rapid.TB, a, b *ridge.Solution) {
	t.Helper()
	if a.Gamma != b.Gamma || a.Method != b.Method || a.Passes != b.Passes || a.Rows != b.Rows || a.Status != b.Status ||
		len(a.Targets) != len(b.Targets) {
		t.Fatalf("%+v is not %+v", a, b)
	}
	for j, ca := range a.Targets {
		cb := b.Targets[j]
		if ca.ComputedTSS != cb.ComputedTSS {
			t.Fatalf("%+v is not %+v", a, b)
		}
		x, y := ca.Coef, cb.Coef
		diff := make([]float64, len(x))
		for k := range x {
			diff[k] = x[k] - y[k]
		}
		tol := 1e-12 * testkit.Norm(x)
		if !(testkit.Norm(diff) <= tol) {
			t.Errorf("γ = %g: weights differ by %g of %g", a.Gamma, testkit.Norm(diff), testkit.Norm(x))
		}
		if !(math.Abs(ca.ErrorBound-cb.ErrorBound) <= 0.01*ca.ErrorBound) {
			t.Errorf("γ = %g: error bounds %g and %g", a.Gamma, ca.ErrorBound, cb.ErrorBound)
		}
		for _, v := range [][2]float64{
			{ca.RSS.Lo, cb.RSS.Lo}, {ca.RSS.Hi, cb.RSS.Hi}, {ca.Objective.Lo, cb.Objective.Lo},
		} {
			if v[0] != v[1] && !(math.Abs(v[0]-v[1]) <= 1e-6*(ca.ComputedTSS+v[0])) {
				t.Errorf("γ = %g: the certificates say %g and %g", a.Gamma, v[0], v[1])
			}
		}
	}
}

func TestPathRefuses(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 3, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 2})
	for _, gamma := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		var e *ridge.GammaError
		if _, err := sum.Path([]float64{1, gamma}); !errors.As(err, &e) {
			t.Errorf("γ = %v: %v", gamma, err)
		}
	}
	none := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2}))(t)
	if _, err := none.Path([]float64{1}); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("path of nothing: %v", err)
	}
	if fits := testkit.Must(sum.Path(nil))(t); len(fits) != 0 {
		t.Errorf("%d fits for no γ", len(fits))
	}
}
