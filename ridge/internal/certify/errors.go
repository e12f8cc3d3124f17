package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// CrossError bounds the norm of the error of the computed c for target j. The error comes from the sums and
// from centring and scaling the rows. It is 0 if all features or all values of the target are zero.
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

// A side describes the right-hand side b of Ax − b: its norm and the error of its mean. The zero value is b =
// 0.
type side struct{ norm, meanOff float64 }

// side returns the side of target j.
func (k *Known) side(j int) side { return side{k.targetNorm(j), k.targets[j].meanOff} }

// residualError bounds the norm of the round-off of Ax − b, where r is ‖Ax − b‖. The bound includes the
// products, the centring of the rows and of b, and the rounding of the residual.
func (k *Known) residualError(b side, x []float64, r float64) float64 {
	return eps*(k.factor.dot*vec.AbsDot(k.norm.columns, x)+few*b.norm+(few+k.factor.workers/4)*r) + float64(len(x)+few)*roundoff.Underflow
}

// meanShift bounds the norm of the change of Ax − b by errors δ and δ_b of the means. xn is ‖x‖. The change
// is (δᵀx − δ_b)·1, which is orthogonal to Ax − b and has the norm √W·|δᵀx − δ_b|.
func (k *Known) meanShift(b side, xn float64) float64 {
	return k.norm.root * (k.norm.meanOff*xn + b.meanOff)
}

// centring bounds the norm of the change of the gradient by errors δ and δ_b of the means, which is W·δ(δᵀx −
// δ_b). xn is ‖x‖.
func (k *Known) centring(b side, xn float64) float64 {
	return k.norm.root * k.norm.meanOff * k.meanShift(b, xn)
}

// Relative returns a bound on ‖x̂ − x*‖/‖x*‖, given a bound abs on ‖x̂ − x*‖ and xn = ‖x̂‖.
func Relative(abs, xn float64) float64 {
	switch {
	case abs == 0:
		return 0
	case abs < xn:
		return abs / (xn - abs)
	}
	return math.Inf(1)
}
