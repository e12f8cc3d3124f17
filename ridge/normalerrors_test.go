package ridge_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// An augmented is a problem in 512 bits whose intercept is a column of ones without penalty. Column first+j has feature
// j.
type augmented struct {
	*refbig.Problem
	first   int
	inverse [][]*big.Float // H⁻¹
	sigma   *big.Float
	rss, df float64   // df counts only columns with a penalty
	coef    []float64 // of the features
}

// augment solves p with the given penalties. It returns nil if the matrix is singular.
func (p *diagnosed) augment(t *testing.T, penalty []float64) *augmented {
	t.Helper()
	out := &augmented{}
	var x [][]float64
	for _, row := range p.x {
		if p.intercept {
			row = append([]float64{1}, row...)
		}
		x = append(x, row)
	}
	if p.intercept {
		out.first, penalty = 1, append([]float64{0}, penalty...)
	}
	out.Problem = refbig.New(x, p.y, p.w, false)
	out.Penalty = penalty
	s, err := out.Solve(p.gamma)
	if errors.Is(err, refbig.ErrSingular) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	free := new(big.Float).Sub(refbig.Float(float64(out.N)), s.EffectiveDimension)
	out.rss, _ = s.RSS[0].Float64()
	for _, x := range s.Coef[0][out.first:] {
		v, _ := x.Float64()
		out.coef = append(out.coef, v)
	}
	out.df, _ = s.EffectiveDimension.Float64()
	for _, v := range penalty {
		if v == 0 {
			out.df--
		}
	}
	if free.Sign() > 0 && s.RSS[0].Sign() > 0 {
		out.sigma = free.Sqrt(new(big.Float).Quo(s.RSS[0], free))
	}
	for j := range out.D { // column j of H⁻¹ is the solution for Aᵀb = eⱼ
		unit := *out.Problem
		unit.T, unit.C, unit.MeanY = 1, [][]*big.Float{make([]*big.Float, out.D)}, []*big.Float{refbig.Float(0)}
		unit.YY = []*big.Float{refbig.Float(0)}
		for i := range out.D {
			unit.C[0][i] = refbig.Float(0)
		}
		unit.C[0][j] = refbig.Float(1)
		of, err := unit.Solve(p.gamma)
		if err != nil {
			t.Fatal(err)
		}
		out.inverse = append(out.inverse, of.Coef[0])
	}
	return out
}

// errors returns the standard errors of xᵀθ for the coefficients θ.
func (a *augmented) errors(x []*big.Float) (sampling, posterior *big.Float) {
	along := make([]*big.Float, a.D) // H⁻¹x
	form := func(u, v []*big.Float) *big.Float {
		sum := refbig.Float(0)
		for i := range u {
			sum.Add(sum, new(big.Float).Mul(u[i], v[i]))
		}
		return sum
	}
	for i := range along {
		along[i] = form(a.inverse[i], x)
	}
	both := refbig.Float(0)
	for i := range along {
		both.Add(both, new(big.Float).Mul(along[i], form(a.K[i], along)))
	}
	sampling = new(big.Float).Sqrt(both)
	posterior = new(big.Float).Sqrt(form(x, along))
	return sampling.Mul(sampling, a.sigma), posterior.Mul(posterior, a.sigma)
}

// TestStandardErrorsOf: brackets contain the closed form in 512 bits, for the intercept and for columns with and
// without penalty, with weights, sparse rows, fewer rows than columns and γ = 0. Most are narrow.
func TestStandardErrorsOf(t *testing.T) {
	t.Parallel()
	var widths []float64
	counted, free := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 497))
		p := drawDiagnosed(r)
		d := len(p.x[0])
		for i := range p.y {
			p.y[i] = p.y[i][:1]
		}
		penalty := make([]float64, d)
		for j := range penalty {
			penalty[j] = math.Pow(10, float64(r.IntN(3)-1)*r.Float64())
			if slices.Contains(p.free, j) {
				penalty[j] = 0
			}
		}
		if r.IntN(8) == 0 {
			p.gamma = 0
		}
		var origin []float64
		if r.IntN(2) == 0 {
			for range d {
				origin = append(origin, 10*r.NormFloat64())
			}
		}
		exact := p.augment(t, penalty)
		if exact == nil || exact.sigma == nil {
			continue
		}
		around := func(v float64) ridge.Interval {
			return ridge.Interval{Lo: v - 1e-15*math.Abs(v), Hi: v + 1e-15*math.Abs(v)}
		}
		fit := &ridge.Solution{Outcome: ridge.Outcome{Gamma: p.gamma}, Targets: make([]ridge.Target, 1)}
		fit.EffectiveDimension = around(exact.df)
		fit.Targets[0].Coef, fit.Targets[0].RSS = exact.coef, around(exact.rss)
		all, err := ridge.StandardErrorsOf(
			t.Context(), p.source(t), []*ridge.Solution{fit}, origin,
			ridge.NormalOptions{Intercept: p.intercept, Penalty: penalty})
		if errors.Is(err, ridge.ErrIllConditioned) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		counted++
		got := all[0][0]
		check := func(what string, v ridge.Interval, want *big.Float) {
			if !inside(v, want) {
				t.Errorf("seed %d: %s: %.17g is not in %v", seed, what, want, v)
			}
			size, _ := want.Float64()
			widths = append(widths, (v.Hi-v.Lo)/size)
		}
		check("sigma", got.Sigma, exact.sigma)
		for j := range d {
			unit := make([]*big.Float, exact.D)
			for k := range unit {
				unit[k] = refbig.Float(0)
			}
			unit[exact.first+j] = refbig.Float(1)
			sampling, posterior := exact.errors(unit)
			check("sampling", got.Sampling[j], sampling)
			check("posterior", got.Posterior[j], posterior)
			if penalty[j] == 0 {
				free++
			}
		}
		if (got.Intercept != nil) != p.intercept {
			t.Errorf("seed %d: intercept %v, errors %v", seed, p.intercept, got.Intercept)
		}
		if got.Intercept != nil {
			row := []*big.Float{refbig.Float(1)}
			for j := range d {
				row = append(row, refbig.Float(0))
				if origin != nil {
					row[j+1] = refbig.Float(origin[j])
				}
			}
			sampling, posterior := exact.errors(row)
			check("intercept, sampling", got.Intercept.Sampling, sampling)
			check("intercept, posterior", got.Intercept.Posterior, posterior)
		}
	}
	slices.Sort(widths)
	median, most := widths[len(widths)/2], widths[len(widths)*9/10]
	t.Logf("%d problems, %d columns without penalty; widths: median %g, 90 %% %g", counted, free, median, most)
	if counted < 250 || free < 20 || !(median < 1e-10) || !(most < 1e-6) {
		t.Errorf("%d problems, %d columns without penalty, widths %g and %g", counted, free, median, most)
	}
}

// inside reports whether v contains want.
func inside(v ridge.Interval, want *big.Float) bool {
	return refbig.Float(v.Lo).Cmp(want) <= 0 && (math.IsInf(v.Hi, 1) || refbig.Float(v.Hi).Cmp(want) >= 0)
}

// TestStandardErrorsOfRefuses: other dimensions and other γ are errors.
func TestStandardErrorsOfRefuses(t *testing.T) {
	p := drawDiagnosed(rand.New(rand.NewPCG(1, 497)))
	src := p.source(t)
	_, d, k := src.Dims()
	fit := func(t, d int, gamma float64) []*ridge.Solution {
		out := &ridge.Solution{Outcome: ridge.Outcome{Gamma: gamma}, Targets: make([]ridge.Target, t)}
		for j := range out.Targets {
			out.Targets[j].Coef = make([]float64, d)
		}
		return []*ridge.Solution{out}
	}
	for what, call := range map[string]func() error{
		"no rows": func() error {
			_, err := ridge.StandardErrorsOf(t.Context(), nil, nil, nil, ridge.NormalOptions{})
			return err
		},
		"no solution": func() error {
			_, err := ridge.StandardErrorsOf(t.Context(), src, []*ridge.Solution{nil}, nil, ridge.NormalOptions{})
			return err
		},
		"more features": func() error {
			_, err := ridge.StandardErrorsOf(t.Context(), src, fit(k, d+1, 1), nil, ridge.NormalOptions{})
			return err
		},
		"a longer origin": func() error {
			_, err := ridge.StandardErrorsOf(t.Context(), src, fit(k, d, 1), make([]float64, d+1), ridge.NormalOptions{})
			return err
		},
		"a negative gamma": func() error {
			_, err := ridge.StandardErrorsOf(t.Context(), src, fit(k, d, -1), nil, ridge.NormalOptions{})
			return err
		},
		"other rows": func() error {
			fits := fit(k, d, 1)
			for j := range fits[0].Targets {
				fits[0].Targets[j].RSS = ridge.Interval{Lo: 1e9, Hi: 2e9} // all coefficients are 0
			}
			_, err := ridge.StandardErrorsOf(t.Context(), src, fits, nil, ridge.NormalOptions{})
			return err
		},
	} {
		if err := call(); !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
