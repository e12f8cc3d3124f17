package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// An Intercept is a computed intercept, with a bound on its distance from the exact solution's intercept.
type Intercept struct{ Value, Error float64 }

// intercept returns the intercept ȳ − x̂ᵀx̄ of target j, with the means x̄ of the features and ȳ of the target.
// xn is ‖x̂‖. xError bounds the distance of x̂ from the exact solution.
func (c *Columns) intercept(j int, x []float64, xn, xError float64) Intercept {
	d := len(x)
	if c.Means == nil {
		return Intercept{}
	}
	mean, y := c.Means[:d], c.Means[d+j]
	out := Intercept{y - vec.Dot(x, mean), xError}
	if !math.IsInf(xError, 1) {
		off, meanX := vec.Norm(c.MeanErrors[:d]), vec.Norm(mean)
		out.Error = (c.MeanErrors[d+j] + off*(xn+xError) + meanX*xError + 2*few*eps*(math.Abs(y)+meanX*xn)) * inflate
	}
	return out
}

// A Landing describes coefficients x − Step − Low, where Low is a rounding error. The gradient at x was
// computed in double-double arithmetic.
type Landing struct {
	Shift     twofold.Number // the mean of Xx − y for the rows X and targets y before centring
	Step, Low []float64
}

// interceptAfter returns the intercept for the coefficients x − Step. With the means x̄ of the features, it is
// Stepᵀx̄ − Shift, because Shift is the mean of Xx − y. xError bounds ‖e‖ for the error e of x − Step. dotError
// bounds |x̄|ᵀ|e|.
func (c *Columns) interceptAfter(l *Landing, xError, dotError float64) Intercept {
	if c.Means == nil {
		return Intercept{}
	}
	var v twofold.Number
	for j, step := range l.Step {
		v = v.Plus(twofold.Times(c.Means[j], step))
	}
	value, off := v.Minus(l.Shift).Round()
	d := len(l.Step)
	off += vec.Norm(c.MeanErrors[:d])*(vec.Norm(l.Step)+xError) + math.Min(vec.Norm(c.Means[:d])*xError, dotError)
	return Intercept{value, off * inflate}
}

// InterceptOf returns the intercept for coefficients x of target j, or 0 without an intercept. The intercept is
// the mean of the target minus the product of x and the means of the features.
func (k *Known) InterceptOf(x []float64, j int) float64 {
	if k.Means == nil {
		return 0
	}
	d := len(x)
	return k.Means[d+j] - vec.Dot(x, k.Means[:d])
}
