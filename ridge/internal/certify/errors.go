package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// CrossError bounds the error of the computed c for target j: that of the sums, and what
// rounding had put wrong before. It is 0 where the features, or the target, are all zero.
func (k *Known) CrossError(j int) float64 {
	if !k.NonZero[0] || !k.NonZero[1+j] {
		return 0
	}
	b, n, off := math.Sqrt(k.TSS[j]), &k.norm, k.targets[j].displaced
	return (k.factor.sum*eps*n.size*b + n.displaced*(b+off) + math.Sqrt(n.staged2)*off) * inflate
}

// SquaresError bounds the error of the computed ‖b‖² of target j.
func (k *Known) SquaresError(j int) float64 {
	tss, off := k.TSS[j], k.targets[j].displaced
	return k.factor.sum*eps*tss + off*(2*math.Sqrt(tss)+off)*inflate
}

// TotalSquares brackets ‖b‖² of target j.
func (k *Known) TotalSquares(j int) interval.Interval {
	return interval.Around(k.TSS[j], k.SquaresError(j))
}

// A side is the right-hand side b of Ax − b, as a pass reads it: its norm, and how far its
// mean is off. The zero value is b = 0.
type side struct{ norm, meanOff float64 }

// side is that of target j.
func (k *Known) side(j int) side { return side{k.targetNorm(j), k.targets[j].meanOff} }

// residualError bounds, in norm, the round-off of Ax − b, r its norm: that of the products,
// of rows and b less their means and of r itself.
func (k *Known) residualError(b side, x []float64, r float64) float64 {
	return eps*(k.factor.dot*vec.AbsDot(k.norm.columns, x)+few*b.norm+(few+k.factor.workers/4)*r) + float64(len(x)+few)*roundoff.Underflow
}

// meanShift bounds what means that are off by δ and δ_b do to Ax − b: they add
// (δᵀx − δ_b)·1 to it, of norm √W·|δᵀx − δ_b|, orthogonal to it; x is the norm of the weights.
func (k *Known) meanShift(b side, x float64) float64 {
	return k.norm.root * (k.norm.meanOff*x + b.meanOff)
}

// centring bounds what means that are off by δ and δ_b do to the gradient: as the columns of
// A and Ax − b are orthogonal to 1, they add W·δ(δᵀx − δ_b) to it.
func (k *Known) centring(b side, x float64) float64 {
	return k.norm.root * k.norm.meanOff * k.meanShift(b, x)
}

// Relative turns a bound on ‖x̂ − x*‖ into one on ‖x̂ − x*‖/‖x*‖, given ‖x̂‖.
func Relative(abs, x float64) float64 {
	switch {
	case abs == 0:
		return 0
	case abs < x:
		return abs / (x - abs)
	}
	return math.Inf(1)
}
