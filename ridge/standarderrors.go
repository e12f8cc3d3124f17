package ridge

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// StandardErrors holds standard errors of the coefficients of one target, in the order of [Target].Coef. Let A be
// the rows, γ the penalty, K = AᵀA, H = K + γI, and σ the standard deviation of the noise. The standard errors are
//
//	Sampling: σ·√diag(H⁻¹KH⁻¹),   Posterior: σ·√diag(H⁻¹).
//
// If the columns have penalty factors pⱼ, which may be 0, H is K + γ·diag(p). An intercept is a column of ones with
// the penalty 0.
//
// Sampling is the standard deviation of a coefficient over repeated samples with the same features. It ignores the
// bias of ridge regression. Posterior is the standard deviation of the coefficient given the data, under a normal
// prior with mean 0 and variance σ²/γ. All figures are brackets that include round-off and the error of the sketch.
type StandardErrors struct {
	// Sigma brackets the standard deviation of the noise, √(RSS/(n − df)). RSS is the residual sum of squares, and
	// n is the number of rows. df is the effective dimension, plus 1 for an intercept and for each column without
	// penalty. If there are too few rows, the upper end of Sigma is +Inf.
	Sigma               Interval
	Sampling, Posterior []Interval
	// Intercept holds the standard errors of the intercept. It is nil if there is no intercept. It is also nil in
	// the results of [Summary.StandardErrors].
	Intercept *InterceptErrors
}

// Unscale converts standard errors for columns that were divided by scale to standard errors for the original
// columns. It rounds outwards and does not change the standard errors of the intercept. scale has a positive number
// for each column.
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

// StandardErrors returns the standard errors of every target of f. f must be a solution for the rows of s, by any
// method. If s holds AᵀA ([Summary.HoldsGram]), the brackets are as narrow as round-off allows. Otherwise their
// width depends on the error of the sketch. If f has a Penalty, it must be the penalty of s, and the standard
// errors are for the original columns.
//
// With m rows in the sketch and d features, each penalty γ takes O(md²) time and O(md) memory. The error is
// [ErrShape] if f has other dimensions, or if columns without penalty were projected out of the rows. Other errors
// are as for [Summary.Predictor].
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

// noise returns a bracket of √(rss/(n − df − q)). q is the number of columns without penalty, including the
// intercept.
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

// deviation returns a bracket of sigma·√variance/scale. If the product underflows, its error is at most one
// subnormal number, which the division by scale may increase. The bracket includes this error.
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
