package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// An Intercept is that of weights x̂, as computed, and how far it is from that of x* at most.
type Intercept struct{ Value, Error float64 }

// intercept is ȳ − x̂ᵀx̄ of target j, given ‖x̂‖ and a bound on ‖x̂ − x*‖.
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

// A Landing is where weights x, at which a pass measured with twice the digits, have been moved:
// to x̂ = x − Step − Low, Low being what the last rounding has taken.
type Landing struct {
	Shift     twofold.Number // the mean of Xx − y, X and y being the rows as they are
	Step, Low []float64
}

// landed is the intercept that belongs to x − Step, of which x̂ is what float64 holds: Stepᵀx̄ −
// Shift, of which nothing is rounded but the end. e bounds ‖x − Step − x*‖, and along, if it is
// less than that makes of it, |x̄|ᵀ|x − Step − x*|.
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

// InterceptOf returns ȳ − xᵀx̄ for weights x of target j, 0 without an intercept.
func (k *Known) InterceptOf(x []float64, j int) float64 {
	if k.Means == nil {
		return 0
	}
	d := len(x)
	return k.Means[d+j] - vec.Dot(x, k.Means[:d])
}
