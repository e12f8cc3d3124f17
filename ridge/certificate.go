package ridge

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// A Certificate holds bounds on the error of the computed solution x̂ for one target. x* is the exact solution: the
// result of exact arithmetic for the data as read. All bounds include round-off.
//
// Code outside this package that fills in a [Target] must set unknown bounds to +Inf and unknown intervals to (−Inf,
// +Inf), because a bound of 0 means that the error is 0. A [Predictor] requires only ErrorBound, EnergyBound,
// InterceptBound and Objective. If TSS is zero, the Predictor assumes that ComputedTSS is exact.
//
// The round-off of sums over rows and of products over features is bounded from the number of additions alone. This
// covers AᵀY, ‖Y‖², gradients, residuals, means, centring, Cholesky and QR. The errors of eigenproblems and of
// reductions to tridiagonal form are measured after the computation, by matrix products whose own round-off is bounded
// (docs/math.md §14).
type Certificate struct {
	ErrorBound float64 `json:"error_bound" null:"+Inf"` // bounds ‖x̂ − x*‖₂
	// RelativeErrorBound is a bound on ‖x̂ − x*‖₂/‖x*‖₂, for the computed coefficients x̂ and the exact
	// solution x*. If some columns have no penalty, the bound holds for the coefficients of the columns with a
	// penalty. It also holds for the coefficients of all columns together.
	RelativeErrorBound float64 `json:"relative_error_bound" null:"+Inf"`
	// EnergyBound is a bound on ‖H^{½}(x̂ − x*)‖₂, where H is AᵀA + γI for the penalty γ, x̂ the computed
	// solution and x* the exact solution. The objective at x̂ exceeds its minimum by at most half the square of
	// EnergyBound. The prediction for a row a has an error of at most √(aᵀH⁻¹a)·EnergyBound.
	EnergyBound float64 `json:"energy_bound" null:"+Inf"`
	// InterceptBound is a bound on the absolute error of the intercept. It is zero if no intercept is fitted.
	InterceptBound float64 `json:"intercept_bound" null:"+Inf"`
	// Objective is a bracket of the smallest objective f* = ½‖Ax* − b‖² + γ/2·‖x*‖². Here x* is the exact
	// solution for the target b and the penalty γ.
	Objective Interval `json:"objective"`
	// TSS is a bracket of the total sum of squares ‖b‖² of the target b. With an intercept, b is the centred
	// target.
	TSS Interval `json:"tss"`
	// RSS is a bracket of ‖Ax̂ − b‖², the sum of squared residuals of the computed solution x̂ for the target
	// b. If some columns have no penalty, their coefficients may be the returned ones, or the best ones for the
	// other coefficients. The bracket contains the sum for both. It also contains the sum for the returned and for
	// the best intercept.
	RSS Interval `json:"rss"`
	// GCV is a bracket of n·RSS/(n − df)², the score of generalised cross-validation of the exact solution x*. Here
	// n is the number of rows, and RSS the sum of squared residuals of x*. df is the effective dimension of x*,
	// plus one if there is an intercept.
	GCV Interval `json:"gcv"`
}

// ProjectionBounds holds bounds on the rounding errors of projected rows. Such rows arise when the columns without
// penalty are projected out of the other columns. The method columns.Projection.Rounding returns these bounds.
type ProjectionBounds certify.Projection

// RowErrors holds bounds on the errors that rows have before a fit reads them, for example by scaling. The bounds
// that the fit proves then hold for the rows without these errors. The zero value means that the rows are exact.
// The method columns.Map.Errors returns the RowErrors of a change of columns.
type RowErrors struct {
	// Rounding describes features whose entries were rounded, for example by [dataset.Scaling]. The relative error
	// of an entry in column j is at most Rounding[j] times the unit round-off 2⁻⁵³. If Rounding is nil, the entries
	// are exact. See [dataset.Scaling.Rounding].
	Rounding []float64
	// Projected is not nil if columns without penalty were projected out of the rows. Each of these columns then
	// counts as a degree of freedom in the scores (generalised cross-validation and leave-one-out errors). The
	// brackets of the scores include the errors of the projection.
	Projected *ProjectionBounds
}

// projection returns the bounds on the errors of projected rows, or nil.
func (e RowErrors) projection() *certify.Projection {
	return (*certify.Projection)(e.Projected)
}

// Unproject converts o to the problem before a projection. o must be the solution at gamma for the rows whose
// errors p bounds, and j the number of its target. df brackets the effective dimension of these rows. Afterwards,
// Intercept, the bounds and UnpenalizedBounds are for the rows before the projection. ComputedTSS and TSS do not
// change, and Coef has the same coefficients, of the columns with a penalty. The result unpenalized has the
// coefficients of the columns without one. If no bound on them is known, UnpenalizedBounds is nil and ErrorBound is
// +Inf. before brackets the effective dimension of the rows before the projection. The type columns.Projection
// calls Unproject. The error is [ErrShape] if p has no such target, or another number of features.
func (o *Target) Unproject(
	p *ProjectionBounds, gamma float64, j int, df Interval,
) (unpenalized []float64, before Interval, err error) {
	found := (*certify.Projection)(p)
	if p == nil ||
		j < 0 ||
		len(o.Coef)+j >= min(len(p.Left), len(p.Round)) {
		return nil, Interval{}, unfit("target %d of %d features does not belong to the projection", j, len(o.Coef))
	}
	w, dimension, moved := found.Weights(
		gamma,
		o.Coef,
		j,
		o.bounds(),
		interval.Interval(df),
	)
	intercept := certify.Intercept{Value: o.Intercept, Error: boundOrInf(o.InterceptBound)}
	rest := found.Unpenalized(o.Coef, j, w, moved, intercept)
	w.Intercept = rest.Intercept
	w.RSS = rest.RSS
	w.TSS = interval.Interval(o.TSS)
	o.UnpenalizedBounds = rest.Bounds
	if slices.ContainsFunc(rest.Bounds, func(v float64) bool {
		return !(v <= math.MaxFloat64)
	}) {
		o.UnpenalizedBounds = nil
		w.Error = math.Inf(1)
		w.Relative = math.Inf(1)
	}
	w.Relative = math.Max(w.Relative, rest.Relative(w.Error, o.Coef))
	o.InterceptRounding = rest.Intercept.Own
	o.Intercept = rest.Intercept.Value
	o.Certificate = newCertificate(w)
	return rest.Coef, Interval(dimension), nil
}

// bounds returns the bounds of the certificate. Unknown bounds are +Inf.
func (c *Certificate) bounds() certify.Weights {
	return certify.Weights{
		Error:     boundOrInf(c.ErrorBound),
		Energy:    boundOrInf(c.EnergyBound),
		Objective: interval.Interval(c.Objective),
		RSS:       interval.Interval(c.RSS),
	}
}

func newCertificate(w certify.Weights) Certificate {
	return Certificate{
		ErrorBound:         w.Error,
		RelativeErrorBound: w.Relative,
		EnergyBound:        w.Energy,
		InterceptBound:     w.Intercept.Error,
		Objective:          Interval(w.Objective),
		TSS:                Interval(w.TSS),
		RSS:                Interval(w.RSS),
		GCV:                Interval(w.GCV),
	}
}
