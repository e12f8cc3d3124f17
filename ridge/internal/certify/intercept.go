package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// An Intercept is a computed intercept, with a bound on its distance from the exact solution's intercept.
type Intercept struct{ Value, Error float64 }

// intercept returns the intercept ȳ − x̂ᵀx̄ of target j. xn is ‖x̂‖, and the argument e bounds ‖x̂ − x*‖.
func (c *Columns) intercept(j int, x []float64, xn, e float64) Intercept {
	d := len(x)
	if c.Means == nil {
		return Intercept{}
	}
	mean, y := c.Means[:d], c.Means[d+j]
	out := Intercept{y - vec.Dot(x, mean), e}
	if !math.IsInf(e, 1) {
		off, meanX := vec.Norm(c.MeanErrors[:d]), vec.Norm(mean)
		out.Error = (c.MeanErrors[d+j] + off*(xn+e) + meanX*e + 2*few*eps*(math.Abs(y)+meanX*xn)) * inflate
	}
	return out
}

// A Landing describes the step from coefficients x, where the gradient was measured with twice the digits, to
// x̂ = x − Step − Low. Low is the rounding error of x̂.
type Landing struct {
	Shift     twofold.Number // the mean of Xx − y for the rows X and targets y before centring
	Step, Low []float64
}

// landed returns the intercept Stepᵀx̄ − Shift of x − Step, rounded once. The argument e bounds ‖x − Step −
// x*‖, and the argument along bounds |x̄|ᵀ|x − Step − x*|. The error bound is the smaller of the bounds from
// e and along.
func (c *Columns) landed(l *Landing, e, along float64) Intercept {
	if c.Means == nil {
		return Intercept{}
	}
	var v twofold.Number
	for j, step := range l.Step {
		v = v.Plus(twofold.Times(c.Means[j], step))
	}
	value, off := v.Minus(l.Shift).Round()
	d := len(l.Step)
	off += vec.Norm(c.MeanErrors[:d])*(vec.Norm(l.Step)+e) + math.Min(vec.Norm(c.Means[:d])*e, along)
	return Intercept{value, off * inflate}
}

// InterceptOf returns ȳ − xᵀx̄ for coefficients x of target j, or 0 without an intercept.
func (k *Known) InterceptOf(x []float64, j int) float64 {
	if k.Means == nil {
		return 0
	}
	d := len(x)
	return k.Means[d+j] - vec.Dot(x, k.Means[:d])
}
