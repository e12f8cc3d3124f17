package ridge_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// closedForm returns σ, and the standard errors of the first target's coefficients by the closed form in 512 bits.
func closedForm(t *testing.T, p *diagnosed, penalty []float64) (sigma float64, sampling, posterior []float64) {
	t.Helper()
	problem := refbig.New(p.x, p.y, p.w, p.intercept)
	problem.Penalty = penalty
	d := problem.D
	s, err := problem.Solve(p.gamma)
	if err != nil {
		t.Fatal(err)
	}
	free := refbig.Float(float64(problem.N))
	free.Sub(free, s.EffectiveDimension)
	if p.intercept {
		free.Sub(free, refbig.Float(1))
	}
	square := new(big.Float).Quo(s.RSS[0], free)
	if free.Sign() <= 0 {
		return math.Inf(1), nil, nil
	}
	// Column j of H⁻¹ is the solution for Aᵀb = eⱼ.
	var inverse [][]*big.Float
	for j := range d {
		unit := *problem
		unit.T, unit.C, unit.MeanY = 1, [][]*big.Float{make([]*big.Float, d)}, []*big.Float{refbig.Float(0)}
		unit.YY = []*big.Float{refbig.Float(0)}
		for i := range d {
			unit.C[0][i] = refbig.Float(0)
		}
		unit.C[0][j] = refbig.Float(1)
		of, err := unit.Solve(p.gamma)
		if err != nil {
			t.Fatal(err)
		}
		inverse = append(inverse, of.Coef[0])
	}
	root := func(v *big.Float) float64 {
		out, _ := v.Sqrt(v.Mul(v, square)).Float64()
		return out
	}
	for j := range d {
		both := refbig.Float(0)
		for a := range d {
			for b := range d {
				term := new(big.Float).Mul(inverse[j][a], problem.K[a][b])
				both.Add(both, term.Mul(term, inverse[j][b]))
			}
		}
		sampling = append(sampling, root(both))
		posterior = append(posterior, root(new(big.Float).Set(inverse[j][j])))
	}
	sigma, _ = new(big.Float).Sqrt(square).Float64()
	return sigma, sampling, posterior
}

// TestStandardErrors: brackets of standard errors contain the closed form in 512 bits, by a sketch and by AᵀA, with
// weights, intercepts, scaled columns and penalties. Brackets by AᵀA are narrow, unless a column is so large that
// γ is near the round-off of AᵀA.
func TestStandardErrors(t *testing.T) {
	t.Parallel()
	var widths []float64
	within := func(v ridge.Interval, want float64) bool {
		return v.Lo <= want*(1+0x1p-50) && want*(1-0x1p-50) <= v.Hi // want is rounded
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 493))
		p := drawDiagnosed(r)
		hasLarge := seed >= 200
		if hasLarge {
			factor, j := math.Pow(10, 4+5*r.Float64()), r.IntN(len(p.x[0]))
			for i := range p.x {
				p.x[i][j] *= factor
			}
		}
		p.free = nil
		for i := range p.y {
			p.y[i] = p.y[i][:1]
		}
		var penalty []float64
		if seed%3 == 0 {
			for range p.x[0] {
				penalty = append(penalty, math.Pow(10, 2*r.Float64()-1))
			}
		}
		sigma, sampling, posterior := closedForm(t, p, penalty)
		for _, cfg := range []ridge.SummaryConfig{{Size: 2, Store: fd.StoreRows}, {Size: 1, Store: fd.StoreScatter}} {
			cfg.Intercept, cfg.Lanes = p.intercept, 1
			sum := testkit.Must(ridge.Summarize(t.Context(), p.source(t), cfg, nil))(t)
			if penalty != nil {
				sum = testkit.Must(sum.Penalize(penalty))(t)
			}
			fit, err := sum.Fit(p.gamma)
			if err != nil && hasLarge { // γ is below the round-off of AᵀA
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if penalty != nil {
				fit.Unscale(penalty)
			}
			all := testkit.Must(sum.StandardErrors(fit))(t)
			got := all[0]
			if math.IsInf(sigma, 1) {
				continue
			}
			// σ is of the fit's own RSS, which is near the exact RSS only with AᵀA.
			if cfg.Store == fd.StoreScatter && !hasLarge && !within(got.Sigma, sigma) {
				t.Errorf("seed %d: σ = %.17g is not in %v", seed, sigma, got.Sigma)
			}
			for i := range sampling {
				if cfg.Store != fd.StoreScatter || hasLarge { // of the same σ, whatever it is
					if !(got.Sampling[i].Lo*sigma <= sampling[i]*got.Sigma.Lo*(1+1e-12) &&
						got.Sampling[i].Hi*sigma >= sampling[i]*got.Sigma.Hi*(1-1e-12) &&
						got.Posterior[i].Lo*sigma <= posterior[i]*got.Sigma.Lo*(1+1e-12) &&
						got.Posterior[i].Hi*sigma >= posterior[i]*got.Sigma.Hi*(1-1e-12)) {
						t.Errorf("seed %d: %v/%v is not in %v/%v", seed, sampling[i], sigma, got.Sampling[i], got.Sigma)
					}
					continue
				}
				if !within(got.Sampling[i], sampling[i]) || !within(got.Posterior[i], posterior[i]) {
					t.Errorf("seed %d: %v and %v are not in %v and %v",
						seed, sampling[i], posterior[i], got.Sampling[i], got.Posterior[i])
				}
				widths = append(widths, (got.Sampling[i].Hi-got.Sampling[i].Lo)/sampling[i])
			}
		}
	}
	slices.Sort(widths)
	if median := widths[len(widths)/2]; !(median < 1e-9) {
		t.Errorf("half of the brackets are wider than %g", median)
	}
}
