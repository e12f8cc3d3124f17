package model

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// CoefficientError returns bounds on ‖w − w*‖ and ‖w − w*‖/‖w*‖ for the coefficients w that
// [Preparation.Unscale] returns, and for the exact coefficients w*. o is a target of the fit of the prepared rows, with
// coefficients x̂ for scaled columns. Its certificate bounds the error ‖x̂ − x*‖, where x* are the exact
// coefficients for these columns. Scaling divides column j by sⱼ, so that wⱼ = x̂ⱼ/sⱼ and
//
//	‖w − w*‖ ≤ ‖x̂ − x*‖/min sⱼ + round-off of the quotients.
//
// If p does not scale columns, or computes features, w is x̂ and the bounds are those in o. Both bounds include the
// coefficients of columns without penalty. They are +Inf if o is nil or has a wrong number of coefficients. See
// docs/math.md §3.
func (p *Preparation) CoefficientError(o *ridge.Target) (bound, relative float64) {
	if o == nil ||
		p.unscales() && len(o.Coef) != len(p.Scaling.Scale) {
		return math.Inf(1), math.Inf(1)
	}
	if !p.unscales() {
		if o.UnpenalizedBounds == nil {
			return o.ErrorBound, o.RelativeErrorBound
		}
		bound = math.Hypot(o.ErrorBound, vec.Norm(o.UnpenalizedBounds)) * (1 + 0x1p-44)
		return bound, relativeTo(o.Coef, bound)
	}
	w, _ := p.Unscale(o.Coef, 0)
	least := math.Inf(1)
	for _, s := range p.Scaling.Scale {
		least = math.Min(least, math.Abs(s))
	}
	e := math.Hypot(o.ErrorBound, vec.Norm(o.UnpenalizedBounds))
	if e == 0 && vec.Norm(w) == 0 {
		return 0, 0
	}
	bound = e/least*(1+0x1p-44) +
		0x1p-51*vec.Norm(w) +
		float64(len(w))*0x1p-1074
	return bound, relativeTo(w, bound)
}

// relativeTo returns a bound on the relative error ‖w − w*‖/‖w*‖ of the coefficients w, where w* are the
// exact ones. The error ‖w − w*‖ must be at most bound, so that ‖w*‖ is at least ‖w‖ − bound.
func relativeTo(w []float64, bound float64) float64 {
	if bound == 0 {
		return 0
	}
	least := vec.Norm(w)*(1-float64(len(w)+8)*0x1p-52) - bound
	if !(least > 0) { // also true if bound is NaN
		return math.Inf(1)
	}
	return bound / least * (1 + 0x1p-50)
}

// CoefficientError returns bounds on the error ‖w − w*‖ and the relative error ‖w − w*‖/‖w*‖. Here w
// are the coefficients of target j in the fit f of m, and w* are the exact coefficients. The bounds are read from
// the record of the certificate. If an earlier program wrote the record without them, CoefficientError computes
// them. Both bounds are +Inf if the certificate cannot be read, or if it may belong to other coefficients.
func (m *Model) CoefficientError(f *Fit, j int) (bound, relative float64) {
	if m == nil || f == nil {
		return math.Inf(1), math.Inf(1)
	}
	all, err := f.Certificates()
	if err != nil ||
		j < 0 ||
		j >= len(all) ||
		j >= len(f.Coef) {
		return math.Inf(1), math.Inf(1)
	}
	if r, err := f.Certificate.Record(); err == nil &&
		j < len(r.CoefError) &&
		j < len(r.CoefRelative) {
		return float64(r.CoefError[j]), float64(r.CoefRelative[j])
	}
	o := ridge.Target{Coef: f.Coef[j], Certificate: all[j]}
	if j < len(f.UnpenalizedBounds) {
		o.UnpenalizedBounds = f.UnpenalizedBounds[j]
	}
	if m.Folded == nil {
		return (&Preparation{}).CoefficientError(&o)
	}
	if f.Fitted == nil || j >= len(f.Fitted.Coef) {
		return math.Inf(1), math.Inf(1)
	}
	o.Coef = f.Fitted.Coef[j]
	prep := Preparation{Scaling: m.Folded}
	free := o.UnpenalizedBounds // in the units of the file, unlike the bounds of a fit
	o.UnpenalizedBounds = nil
	bound, relative = prep.CoefficientError(&o)
	if free == nil {
		return bound, relative
	}
	bound = math.Hypot(bound, vec.Norm(free)) * (1 + 0x1p-44)
	return bound, relativeTo(f.Coef[j], bound)
}
