package testkit

import (
	"math"
	"math/big"
	"sync"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// Certificate checks all bounds and brackets of the fit f against the exact solution of p. For each target, the
// error of the coefficients is divided by its bound. worst is the largest of these quotients.
func Certificate(t rapid.TB, p *refbig.Problem, f *ridge.Solution) (worst float64) {
	t.Helper()
	want, err := latest.solve(p, f.Gamma)
	if err != nil {
		// The matrix is singular in exact arithmetic, so no finite bound is right.
		for _, o := range f.Targets {
			if !math.IsInf(o.ErrorBound, 1) {
				t.Errorf("error bound %g for a singular system", o.ErrorBound)
			}
		}
		return 0
	}
	return Compare(t, p, want, f)
}

// latest caches exact solutions, because many fits of one problem are checked in succession.
var latest memo

type memo struct {
	mu     sync.Mutex
	p      *refbig.Problem
	solved map[float64]reference
}

type reference struct {
	solution *refbig.Solution
	err      error
}

func (m *memo) solve(p *refbig.Problem, gamma float64) (*refbig.Solution, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.p != p {
		m.p, m.solved = p, make(map[float64]reference)
	}
	r, known := m.solved[gamma]
	if !known {
		r.solution, r.err = p.Solve(gamma)
		m.solved[gamma] = r
	}
	return r.solution, r.err
}

// Compare does the checks of Certificate for the exact solution want.
func Compare(t rapid.TB, p *refbig.Problem, want *refbig.Solution, f *ridge.Solution) (worst float64) {
	t.Helper()
	Inside(t, "effective dimension", f.EffectiveDimension, want.EffectiveDimension, refbig.Float(float64(p.D)))
	for j := range p.T {
		c := f.Targets[j]
		x := c.Coef
		xn := refbig.Norm(want.Coef[j])
		e := math.Max(0, refbig.Distance(x, want.Coef[j])-xn*0x1p-480) // rounding of the 512-bit reference
		if !(e <= c.ErrorBound) {
			t.Errorf("‖x̂ − x*‖ = %g, bound %g", e, c.ErrorBound)
		}
		if xn > 0 && !(e/xn <= c.RelativeErrorBound) {
			t.Errorf("relative error %g, bound %g", e/xn, c.RelativeErrorBound)
		}
		if e > 1e-290 {
			worst = math.Max(worst, e/c.ErrorBound)
		}
		if v, _ := new(big.Float).Sub(refbig.Float(c.Intercept), want.Intercept[j]).Float64(); !(math.Abs(v) <=
			c.InterceptBound) {
			t.Errorf("the intercept is off by %g, bound %g", v, c.InterceptBound)
		}
		whole, _ := p.Energy(f.Gamma, make([]float64, p.D), want.Coef[j]).Float64()
		if v, _ := p.Energy(f.Gamma, x, want.Coef[j]).Float64(); !(v-whole*0x1p-480 <= c.EnergyBound) {
			t.Errorf("‖H^½(x̂ − x*)‖ = %g, bound %g", v, c.EnergyBound)
		}
		Inside(t, "RSS", c.RSS, p.RSS(j, x), p.YY[j])
		Inside(t, "objective", c.Objective, want.Objective[j], p.YY[j])
		if want.GCV[j] == nil {
			if !math.IsInf(c.GCV.Hi, 1) {
				t.Errorf("GCV %v where n = df", c.GCV)
			}
		} else {
			Inside(t, "GCV", c.GCV, want.GCV[j], p.YY[j])
		}
		Inside(t, "TSS", c.TSS, p.YY[j], p.YY[j])
		if v := c.ComputedTSS; !(v >= c.TSS.Lo && v <= c.TSS.Hi) {
			t.Errorf("TSS %g is not in its own bracket %v", v, c.TSS)
		}
	}
	return worst
}

// Inside fails the test if the interval v does not contain x. An end of v may be wrong by 2⁻⁴⁰⁰·scale,
// because x itself is rounded.
func Inside(t rapid.TB, what string, v ridge.Interval, x, scale *big.Float) {
	t.Helper()
	slack := new(big.Float).SetMantExp(scale, -400)
	lo, hi := new(big.Float).Add(x, slack), new(big.Float).Sub(x, slack)
	if math.IsNaN(v.Lo) || math.IsNaN(v.Hi) || !(refbig.Float(v.Lo).Cmp(lo) <= 0) ||
		!(refbig.Float(v.Hi).Cmp(hi) >= 0) {
		t.Errorf("%s %.17g is outside [%.17g, %.17g]", what, x, v.Lo, v.Hi)
	}
}
