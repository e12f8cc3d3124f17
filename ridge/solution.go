package ridge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// An Outcome describes how a [Solution] was computed. A [Target] holds the result for one target.
type Outcome struct {
	Gamma float64 `json:"gamma"`
	// Gammas holds the penalty γ of each target if they differ ([Summary.FitEach]). Otherwise it is nil. If it is
	// not nil, Gamma is the smallest γ in Gammas, and Contraction and EffectiveDimension hold for all γ in Gammas.
	Gammas []float64 `json:"gammas,omitempty"`
	// Method is the method that ran. In JSON it is "one-shot", "cg", "galerkin", "chebyshev", "newton", "cholesky",
	// "qr", "tridiagonal", "dual" or "dual-cg".
	Method Method `json:"method"`
	// Status is the reason why the method stopped. If several targets missed the tolerance, it is the reason for
	// the last of these targets.
	Status     Status `json:"status"`
	Backend    string `json:"backend"` // the backend that was used
	Rows       int64  `json:"n"`       // n; 0 if unknown
	Passes     int    `json:"passes"`  // number of passes over the data
	Iterations int    `json:"iterations"`

	// Rank and Dependent describe the columns if Status is [MinimumNorm]. Rank is the number of independent
	// columns, and Dependent lists the other columns. Both may be wrong because of round-off; they are not proved.
	Rank      int          `json:"rank,omitempty"`
	Dependent []Dependence `json:"dependent,omitempty"`

	// Shrinkage is a bound on ‖AᵀA − BᵀB‖₂ for the rows A and their sketch B. It includes round-off. For a
	// method without a sketch it is 0.
	Shrinkage float64 `json:"shrinkage" null:"+Inf"`
	// Contraction is a bound on ‖x̂ − x*‖/‖x*‖, without round-off. x* is the exact solution, and x̂ is the
	// solution that is computed from the sketch alone. A step of [Newton] multiplies the error by at most
	// Contraction. For a method without a sketch, Contraction is 0.
	Contraction float64 `json:"contraction" null:"+Inf"`
	// EffectiveDimension is a bracket of the trace of (AᵀA + γI)⁻¹AᵀA, for the rows A and the penalty γ. The
	// bracket is wide for [DualCG].
	EffectiveDimension Interval `json:"effective_dimension"`
	// EffectiveDimensions holds one bracket for each target if the targets have different penalties. Otherwise it
	// is nil.
	EffectiveDimensions []Interval `json:"effective_dimensions,omitempty"`
}

// A Dependence is a column of A that equals Σᵢ Factors[i]·(column On[i]) up to round-off. If On is empty, the
// column is zero. With an intercept, this holds for the centred columns: the column is a combination of the columns
// On and a constant. If the solution has a Penalty, the factors are for columns divided by the roots of their
// penalties.
type Dependence struct {
	Column  int       `json:"column"`  // counted from 0
	On      []int     `json:"on"`      // columns before Column
	Factors []float64 `json:"factors"` // in the order of On
	// Underflow is true if the products of the column with itself or with other columns may underflow. The column
	// may then be independent of the other columns.
	Underflow bool `json:"underflow,omitempty"`
}

// A Solution is the ridge solution for one γ.
type Solution struct {
	Outcome
	// Penalty holds a factor pⱼ ≥ 0 for each column j: the penalty of the coefficients x is γ·Σ pⱼxⱼ². If all
	// factors are 1, it is nil. A factor 0 means a column without penalty; see package ridge/columns.
	Penalty []float64 `json:"penalty,omitempty"`
	Targets []Target  `json:"targets"` // in the order of the source, at least one
}

// A Target holds the coefficients x̂ for one target b, and bounds on their error. In its fields, A are the rows, x*
// is the exact solution, and γ is the penalty.
type Target struct {
	Coef []float64 `json:"coef"` // x̂, length d
	// Intercept is ȳ − x̂ᵀā. x̂ are the coefficients, and ā and ȳ are the weighted means of the features and
	// of the target. A fit without an intercept has Intercept 0. If Intercept is unknown, it is NaN.
	Intercept float64 `json:"intercept" null:"NaN"`
	// Scaled holds the coefficients √pⱼ·x̂ⱼ if the solution has a Penalty p. Otherwise it is nil. If it is not
	// nil, Certificate and GradientNorm are for Scaled, and [Solution.CoefficientError] is for Coef.
	//
	// For a column j without penalty, Scaled[j] is x̂ⱼ. The norms leave out these elements, except in
	// RelativeErrorBound.
	Scaled []float64 `json:"scaled_coef,omitempty"`
	// ComputedTSS is the computed sum of squares of the target, with its mean subtracted if there is an intercept.
	// If it is unknown, it is NaN.
	ComputedTSS float64 `json:"computed_tss" null:"NaN"`
	// GradientNorm is the norm of the gradient Aᵀ(Ax̂ − b) + γx̂ as computed in the last pass, before any rounding
	// of x̂. It is NaN for a method that makes no pass to compute the gradient at x̂.
	GradientNorm float64 `json:"gradient_norm" null:"NaN"`

	Certificate `json:"certificate"`
	// UnpenalizedBounds holds a bound on the error of each coefficient whose column has the penalty 0, in the order
	// of the columns. The bounds of the Certificate are for all other coefficients. If a bound of a coefficient
	// without penalty is not finite, UnpenalizedBounds is nil and ErrorBound is +Inf.
	UnpenalizedBounds []float64 `json:"unpenalized_bounds,omitempty"`

	// Marginal describes the marginal likelihood of the target for the penalty γ. JSON does not contain it.
	Marginal Marginal `json:"-"`

	// Weight is the total weight of the rows. InterceptRounding bounds the distance of Intercept from the intercept
	// that is best for Coef. If they are unknown, for example after decoding, both are 0. [Target.RSSAfter] needs
	// them.
	Weight            float64 `json:"-"`
	InterceptRounding float64 `json:"-"`
}

// A Marginal describes the marginal likelihood of a target for the penalty γ, see docs/math.md §22. Noise brackets
// the noise variance σ² that maximises the likelihood, and Loss brackets the negative logarithm of the maximum. The
// model is: each coefficient is N(0, σ²/γ), and the noise of a row of weight w is N(0, σ²/w). Let ν be the number
// of rows minus the number of coefficients without penalty, K = AᵀA for the rows A, and f* the smallest objective.
// Then
//
//	σ² = 2f*/ν,   Loss = ½(ν·log σ² + log det(I + K/γ) + ν + ν·log 2π).
//
// A constant that depends only on the weights is left out. The number of rows includes rows of weight 0.
type Marginal struct{ Loss, Noise Interval }

// RSSAfter returns the bracket of RSS, the residual sum of squares, after one more rounding of the intercept. The
// rounding changes the intercept by at most rounding.
//
// Let W be the total weight of the rows. With a fitted intercept, an intercept at the distance ι from the best
// intercept increases RSS by W·ι². Without a fitted intercept, the norm of the residuals changes by at most
// √W·ι.
func (t *Target) RSSAfter(rounding float64) Interval {
	out := t.RSS
	if rounding == 0 {
		return out
	}
	if !(t.Weight > 0) {
		return Interval{Lo: out.Lo, Hi: math.Inf(1)}
	}
	if t.InterceptRounding == 0 {
		v := interval.WidenRoot(interval.Interval(out), math.Sqrt(t.Weight)*rounding*roundoff.Inflate)
		return Interval{
			Lo: v.Lo * (1 - 8*roundoff.Eps),
			Hi: v.Hi * (1 + 8*roundoff.Eps),
		}
	}
	out.Hi = (out.Hi + t.Weight*rounding*(2*t.InterceptRounding+rounding)*roundoff.Inflate) * (1 + 8*roundoff.Eps)
	return out
}

// newSolution returns a Solution for the penalty gamma that has no targets yet.
func (s *Summary) newSolution(gamma float64, method Method, k *certify.Known) *Solution {
	return &Solution{
		Targets: make([]Target, 0, s.cfg.Targets),
		Outcome: Outcome{
			Gamma:              gamma,
			Shrinkage:          k.Bound().FD(),
			EffectiveDimension: Interval(k.At(gamma).EffectiveDimension()),
			Method:             method,
			Backend:            s.cfg.Backend.Name(),
			Rows:               s.Rows(),
		},
	}
}

// newTarget returns the target with the coefficients x, which it does not copy, and the bounds in w. weight is the
// total weight of the rows. The bracket of RSS includes the rounding of the intercept. If features were scaled, it
// also includes the rounding of the coefficients when they are converted to unscaled features. The relative error
// of this rounding is at most twice the relative error of the entries.
func newTarget(x []float64, tss, weight float64, w certify.Weights) Target {
	own := w.Intercept.Own
	if w.Scattered > 0 {
		w.RSS = interval.WidenRoot(w.RSS, 2*w.Scattered*roundoff.Inflate)
		w.RSS.Lo, w.RSS.Hi = w.RSS.Lo*(1-8*roundoff.Eps), w.RSS.Hi*(1+8*roundoff.Eps)
		if own > 0 || w.Intercept.Value != 0 {
			own += 2 * w.Scattered / math.Sqrt(weight) * roundoff.Inflate
		}
	}
	if added := weight * own * own; added > 0 {
		w.RSS.Hi = (w.RSS.Hi + added) * (1 + 8*roundoff.Eps)
	}
	return Target{
		Coef:              x,
		Intercept:         w.Intercept.Value,
		ComputedTSS:       tss,
		GradientNorm:      math.NaN(),
		Certificate:       newCertificate(w),
		Marginal:          Marginal{Loss: Interval(w.Marginal.Loss), Noise: Interval(w.Marginal.Noise)},
		Weight:            weight,
		InterceptRounding: own,
	}
}

// R2 returns a bracket of the coefficient of determination 1 − RSS/TSS on the training rows. RSS is the residual
// sum of squares, and TSS the total sum of squares. If TSS is 0, or if the certificate has no bounds on them, R2
// returns NaN.
func (t *Target) R2() Interval {
	if !(t.ComputedTSS > 0) || !(t.TSS.Hi > 0) {
		return Interval{math.NaN(), math.NaN()}
	}
	const round = 4 * roundoff.Eps
	return Interval{
		Lo: 1 - t.RSS.Hi/t.TSS.Lo*(1+round) - round,
		Hi: math.Min(1, 1-t.RSS.Lo/t.TSS.Hi*(1-round)+round),
	}
}

// CoefficientBounds returns a bound on the error of each coefficient in Coef. penalty must be the Penalty of the
// solution. If it is not nil, the bounds are for the coefficients in Scaled, not in Coef.
func (t *Target) CoefficientBounds(penalty []float64) []float64 {
	out := make([]float64, len(t.Coef))
	free := t.UnpenalizedBounds
	for j := range out {
		out[j] = t.ErrorBound
		if j < len(penalty) && penalty[j] == 0 && len(free) > 0 {
			out[j] = free[0]
			free = free[1:]
		}
	}
	return out
}

// Proves reports whether the certificate proves ‖x̂ − x*‖ < ‖x*‖ for the coefficients x̂ and the exact
// solution x*. Then x̂ is closer to x* than the zero vector is. If x̂ itself is zero, Proves returns true, because
// there is nothing to prove.
func (t *Target) Proves() bool {
	return t.RelativeErrorBound < 1 ||
		!slices.ContainsFunc(t.Coef, func(v float64) bool {
			return v != 0
		})
}

// Dims returns the number of targets and the number of features.
func (s *Solution) Dims() (t, d int) {
	if len(s.Targets) == 0 {
		return 0, 0
	}
	return len(s.Targets), len(s.Targets[0].Coef)
}

// GammaOf returns the penalty γ with which target j was solved.
func (o *Outcome) GammaOf(j int) float64 {
	if j < len(o.Gammas) {
		return o.Gammas[j]
	}
	return o.Gamma
}

// DimensionOf returns the bracket of the effective dimension for the penalty γ of target j.
func (o *Outcome) DimensionOf(j int) Interval {
	if j < len(o.EffectiveDimensions) {
		return o.EffectiveDimensions[j]
	}
	return o.EffectiveDimension
}

// hasShape reports whether s has t targets with d coefficients each.
func (s *Solution) hasShape(t, d int) bool {
	return len(s.Targets) == t &&
		!slices.ContainsFunc(s.Targets, func(o Target) bool {
			return len(o.Coef) != d
		})
}

// isCertified reports whether every target has a certificate. If all bounds of a target are zero although its
// coefficients are not, the target has no certificate.
func (s *Solution) isCertified() bool {
	return !slices.ContainsFunc(s.Targets, func(o Target) bool {
		return o.Objective == Interval{} &&
			!(o.ErrorBound > 0 && o.EnergyBound > 0) &&
			slices.ContainsFunc(o.Coef, func(v float64) bool { return v != 0 })
	})
}

// Coef returns a copy of the coefficients of all targets as a t×d matrix. The matrix is empty if there are no targets
// or no features.
func (s *Solution) Coef() *mat.Dense {
	t, d := s.Dims()
	if t == 0 || d == 0 {
		return &mat.Dense{}
	}
	out := mat.NewDense(t, d, nil)
	for j := range s.Targets {
		copy(out.RawRowView(j), s.Targets[j].Coef)
	}
	return out
}

// Proves reports whether [Target.Proves] holds for every target.
func (s *Solution) Proves() bool {
	for j := range s.Targets {
		if !s.Targets[j].Proves() {
			return false
		}
	}
	return true
}

// WorstError returns the largest RelativeErrorBound of the targets.
func (s *Solution) WorstError() float64 {
	worst := 0.0
	for j := range s.Targets {
		worst = math.Max(worst, s.Targets[j].RelativeErrorBound)
	}
	return worst
}
