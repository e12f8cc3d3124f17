package choose_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

func TestGrid(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 4, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 2})
	mean := math.Pow(testkit.Norm(testkit.Flat(s.X)), 2) / 4
	g := choose.Grid(sum, 7)
	for i, v := range g {
		if want := mean * math.Pow(10, float64(i-3)); !(math.Abs(v-want) <= 1e-12*want) {
			t.Errorf("γ[%d] = %g, want %g", i, v, want)
		}
	}
	if one := choose.Grid(sum, 1); len(one) != 1 || !(math.Abs(one[0]-mean) <= 1e-12*mean) {
		t.Errorf("grid of one %v, mean eigenvalue %g", one, mean)
	}
	if got := len(choose.Grid(sum, 0)) + len(choose.Grid(sum, -3)); got != 0 {
		t.Errorf("%d γ in grids of none", got)
	}
	zero := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2}))(t)
	if g := choose.Grid(zero, 1); g[0] != 1 {
		t.Errorf("grid of no rows: %v", g)
	}
	if d := testkit.Must(sum.Path(g))(t); !(d[6].EffectiveDimension.Hi <= 4e-3) {
		t.Errorf("effective dimension at the upper end %v", d[6].EffectiveDimension)
	}
}

// TestPathRealData: how tight the brackets of a one-pass path are.
func TestPathRealData(t *testing.T) {
	src := testkit.Fourier(t, 4000, 256)
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 64, Intercept: true})
	gammas := choose.Grid(sum, 13)
	exact := testkit.Must(ridge.SolveExact(context.Background(), src, gammas, ridge.ExactOptions{Intercept: true}))(t)
	for i, f := range testkit.Must(sum.Path(gammas))(t) {
		c, e := f.Targets[0], exact[i].Targets[0]
		t.Logf(
			"γ %-9.3g η/γ %-9.3g error ≤ %-9.3g df %.1f of [%.1f, %.1f]  GCV %.5g of [%.5g, %.5g]",
			f.Gamma,
			f.Shrinkage/f.Gamma,
			c.RelativeErrorBound,
			exact[i].EffectiveDimension.Mid(),
			f.EffectiveDimension.Lo,
			f.EffectiveDimension.Hi,
			e.GCV.Mid(),
			c.GCV.Lo,
			c.GCV.Hi,
		)
		for what, v := range map[string][2]ridge.Interval{
			"effective dimension": {f.EffectiveDimension, exact[i].EffectiveDimension}, "GCV": {c.GCV, e.GCV},
			"objective": {c.Objective, e.Objective},
		} {
			if !(v[0].Lo <= v[1].Hi) || !(v[0].Hi >= v[1].Lo) {
				t.Errorf("γ = %g: %s %v, exactly %v", f.Gamma, what, v[0], v[1])
			}
		}
	}
}
