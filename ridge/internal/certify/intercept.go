package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// An Intercept is a computed intercept, with error bounds. It belongs to computed coefficients x̂.
type Intercept struct {
	Value float64
	Error float64 // bounds the distance from the intercept of the exact solution
	// Own bounds the distance from the best intercept for the given x̂, with the smallest sum of squared residuals.
	// A distance ι adds W·ι² to this sum, where W is the total weight of the rows.
	Own float64
}

// intercept returns the intercept ȳ − xᵀx̄ of target j, with the means x̄ of the features and ȳ of the
// target. The argument xn is the norm of the coefficients x. The argument xError bounds the distance of x from the
// exact solution.
func (c *Columns) intercept(j int, x []float64, xn, xError float64) Intercept {
	d := len(x)
	if c.Means == nil {
		return Intercept{}
	}
	mean := c.Means[:d]
	y := c.Means[d+j]
	off := vec.Norm(c.MeanErrors[:d])
	meanX := vec.Norm(mean)
	rounding := c.MeanErrors[d+j] +
		off*xn +
		2*few*eps*(math.Abs(y)+meanX*xn)
	out := Intercept{Value: y - vec.Dot(x, mean), Error: xError}
	// Own is a sum of one bound for each feature. A product of norms would be too large, because the coefficients
	// and the means often have very different sizes.
	own := c.MeanErrors[d+j] + (float64(d)+few)*eps*math.Abs(y)
	for i, v := range x {
		meanError := c.MeanErrors[i] + (float64(d)+few)*eps*math.Abs(mean[i])
		own += math.Abs(v) * meanError
	}
	out.Own = own * inflate
	if !math.IsInf(xError, 1) {
		out.Error = (rounding + (off+meanX)*xError) * inflate
	}
	return out
}

// A Landing describes the new coefficients x − Step − Low after a step from old coefficients x. Low is the rounding
// error of x − Step. The gradient at x was computed with twice the digits.
type Landing struct {
	Shift     twofold.Number // the mean of Xx − y for the rows X and targets y before centring
	Step, Low []float64
}

// interceptAfter returns the intercept for the new coefficients x − Step. Let ā be the means of the features.
// Shift is the mean of Xx − y, for the rows X and targets y before centring. So the intercept is Stepᵀā −
// Shift. Let e be the error of x − Step. xError bounds ‖e‖, and dotError bounds |ā|ᵀ|e|.
func (c *Columns) interceptAfter(l *Landing, xError, dotError float64) Intercept {
	if c.Means == nil {
		return Intercept{}
	}
	var v twofold.Number
	for j, step := range l.Step {
		v = v.Plus(twofold.Times(c.Means[j], step))
	}
	value, rounding := v.Minus(l.Shift).Round()
	d := len(l.Step)
	means := vec.Norm(c.Means[:d])
	meanErrors := vec.Norm(c.MeanErrors[:d])
	low := vec.Norm(l.Low)
	off := rounding +
		meanErrors*(vec.Norm(l.Step)+xError) +
		math.Min(means*xError, dotError)
	own := rounding + meanErrors*(vec.Norm(l.Step)+low) + means*low
	return Intercept{Value: value, Error: off * inflate, Own: own * inflate}
}

// moved returns i with wider bounds. They allow for an additional error in the mean of the products of features and
// coefficients, which is at most the argument by.
func (i Intercept) moved(by float64) Intercept {
	i.Error += by * inflate
	i.Own += by * inflate
	return i
}

// InterceptOf returns the intercept for coefficients x of target j, or 0 without an intercept. The intercept is the
// mean of the target minus the product of x with the means of the features.
func (k *Known) InterceptOf(x []float64, j int) float64 {
	if k.Means == nil {
		return 0
	}
	d := len(x)
	return k.Means[d+j] - vec.Dot(x, k.Means[:d])
}
