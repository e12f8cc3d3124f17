package ridge

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// StandardErrors holds standard errors of the coefficients of one target, in the order of [Target].Coef. With H = K +
// γI for K = AᵀA, and the noise σ of an observation, they are
//
//	Sampling: σ·√diag(H⁻¹KH⁻¹),   Posterior: σ·√diag(H⁻¹).
//
// With columns of other penalties pⱼ, or with none, H = K + γ·diag(p). An intercept is a column of ones without
// penalty.
//
// Sampling is the standard deviation of a coefficient over repeated samples with the same features. It ignores the bias
// of ridge regression. Posterior is the standard deviation of the coefficient given the data, under a normal prior with
// mean 0 and variance σ²/γ. All figures are brackets that include round-off and the error of the sketch.
type StandardErrors struct {
	// Sigma is √(RSS/(n − df)) for n rows and the effective dimension df, with 1 more for an intercept and for each
	// column without penalty. Its upper end is +Inf if there are too few rows.
	Sigma               Interval
	Sampling, Posterior []Interval
	// Intercept holds the standard errors of the intercept, which has no penalty. It is nil without an intercept, and for
	// [Summary.StandardErrors].
	Intercept *InterceptErrors
}

// Unscale converts the standard errors of columns that were divided by scale to the columns before, rounding outwards.
// The intercept does not change. scale has a positive number for each column.
func (s *StandardErrors) Unscale(scale []float64) {
	const lost = 2 * roundoff.Underflow // a quotient may be a subnormal number
	for _, list := range [][]Interval{s.Sampling, s.Posterior} {
		for i, v := range list {
			list[i] = Interval{
				Lo: math.Max(0, v.Lo/scale[i]*(1-0x1p-51)-lost),
				Hi: v.Hi/scale[i]*(1+0x1p-51) + lost,
			}
		}
	}
}

// InterceptErrors holds the standard errors of an intercept, see [StandardErrors].
type InterceptErrors struct{ Sampling, Posterior Interval }

// StandardErrors returns the standard errors of every target of f, a solution for the rows of s by any method. The
// brackets are as narrow as round-off allows if s holds AᵀA ([Summary.HoldsGram]). Otherwise, the sketch decides
// about their width. A Penalty of f is taken into account: f.Penalty must be the penalty of s, and the standard
// errors are for the columns before it.
//
// With m rows in the sketch and d features, each γ takes O(md²) time and O(md) memory. The error is [ErrShape] if f
// has other dimensions, or if columns without penalty were projected out of the rows. Other errors are as for
// [Summary.Predictor].
func (s *Summary) StandardErrors(f *Solution) ([]StandardErrors, error) {
	if !s.isValid() {
		return nil, errZeroValue
	}
	if f == nil || !f.hasShape(s.cfg.Targets, s.cfg.Dim) {
		return nil, unfit("standard errors need a solution of %d targets and %d features", s.cfg.Targets, s.cfg.Dim)
	}
	if s.projected != nil {
		return nil, unfit("columns without penalty were projected out of the rows")
	}
	penalty := f.Penalty
	f, err := s.inColumns(f)
	if err != nil {
		return nil, err
	}
	type variances struct{ sampling, posterior []interval.Interval }
	known := map[float64]variances{}
	free := 0
	if s.cfg.Intercept {
		free = 1
	}
	var out []StandardErrors
	for j, o := range f.Targets {
		gamma := f.GammaOf(j)
		v, found := known[gamma]
		if !found {
			k, err := s.quantities("standard errors", 1, gamma)
			if err != nil {
				return nil, err
			}
			v.sampling, v.posterior = k.Variances(gamma)
			known[gamma] = v
		}
		one := StandardErrors{Sigma: noise(o.RSS, f.DimensionOf(j), s.Rows(), free)}
		for i := range v.sampling {
			scale := 1.0
			if penalty != nil {
				scale = math.Sqrt(penalty[i])
			}
			one.Sampling = append(one.Sampling, deviation(one.Sigma, v.sampling[i], scale))
			one.Posterior = append(one.Posterior, deviation(one.Sigma, v.posterior[i], scale))
		}
		out = append(out, one)
	}
	return out, nil
}

// noise returns a bracket of √(rss/(n − df − q)), for an intercept and columns without penalty, q in all.
func noise(rss, df Interval, n int64, q int) Interval {
	left := float64(n) - float64(q)
	free := Interval{Lo: left - df.Hi, Hi: left - df.Lo}
	const round = 8 * roundoff.Eps
	out := Interval{Lo: 0, Hi: math.Inf(1)}
	slack := round * float64(n)
	if free.Lo-slack > 0 {
		out.Hi = math.Sqrt(math.Max(0, rss.Hi)/(free.Lo-slack)) * (1 + round)
	}
	if free.Hi+slack > 0 {
		out.Lo = math.Sqrt(math.Max(0, rss.Lo)/(free.Hi+slack)) * (1 - round)
	}
	return out
}

// deviation returns a bracket of sigma·√variance/scale. A product that underflows is off by one subnormal number.
// The division by scale may make its error larger.
func deviation(sigma Interval, variance interval.Interval, scale float64) Interval {
	const round = 8 * roundoff.Eps
	lost := roundoff.Underflow * (2 + 2/scale)
	out := Interval{
		Lo: math.Max(0, sigma.Lo*math.Sqrt(variance.Lo)/scale*(1-round)-lost),
		Hi: sigma.Hi*math.Sqrt(variance.Hi)/scale*(1+round) + lost,
	}
	if math.IsNaN(out.Hi) {
		out.Hi = math.Inf(1)
	}
	return out
}
