package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// CrossError returns a bound on the norm of the error in the computed Aᵀb, where b is target j. The error comes
// from the sums, and from centring and scaling the rows A. It is 0 if all features or all values of the target are
// zero.
func (k *Known) CrossError(j int) float64 {
	if !k.NonZero[0] || !k.NonZero[1+j] {
		return 0
	}
	b := math.Sqrt(k.TSS[j])
	n := &k.norm
	off := k.targets[j].displaced
	return (k.factor.sum*eps*n.size*b +
		n.displaced*(b+off) +
		math.Sqrt(n.staged2)*off) * inflate
}

// SquaresError returns a bound on the error of the computed sum of squares of target j.
func (k *Known) SquaresError(j int) float64 {
	tss := k.TSS[j]
	off := k.targets[j].displaced
	moved := off * (2*math.Sqrt(tss) + off)
	return k.factor.sum*eps*tss + moved*inflate
}

// TotalSquares returns a bracket of ‖b‖² of target j.
func (k *Known) TotalSquares(j int) interval.Interval {
	return interval.Around(k.TSS[j], k.SquaresError(j))
}

// An rhs describes the right-hand side b of Ax ≈ b: its norm, and a bound on the error of its mean. The zero value
// stands for b = 0.
type rhs struct{ norm, meanOff float64 }

// rhs returns the norm of target j, and a bound on the error of its mean.
func (k *Known) rhs(j int) rhs {
	return rhs{k.targetNorm(j), k.targets[j].meanOff}
}

// residualError returns a bound on the norm of the round-off in a computed residual Ax − b. The round-off comes
// from the products, the centring of A and b, the subtraction, and the scaling of the features. r is the norm of
// the computed residual.
func (k *Known) residualError(b rhs, x []float64, r float64) float64 {
	return eps*(k.factor.dot*vec.AbsDot(k.norm.columns, x)+few*b.norm+(few+k.factor.workers/4)*r) +
		float64(len(x)+few)*roundoff.Underflow +
		k.Scattered(x)
}

// meanShift returns a bound on the norm of the change of the residual Ax − b by errors of the means. Let δ and δ_b
// be the errors of the means of A and b, and W the total weight of the rows. The residual moves by
// √W·|δᵀx − δ_b|, in a direction orthogonal to Ax − b. xn is the norm of the coefficients x.
func (k *Known) meanShift(b rhs, xn float64) float64 {
	return k.norm.root * (k.norm.meanOff*xn + b.meanOff)
}

// centring returns a bound on the norm of the error of the gradient at coefficients x that comes from the means.
// Let δ and δ_b be the errors of the means of A and b, and W the total weight of the rows. The gradient is wrong by
// W·δ(δᵀx − δ_b). xn is the norm of x.
func (k *Known) centring(b rhs, xn float64) float64 {
	return k.norm.root * k.norm.meanOff * k.meanShift(b, xn)
}

// Relative returns a bound on the relative error ‖x̂ − x*‖/‖x*‖ of computed coefficients x̂, for the exact
// solution x*. abs bounds ‖x̂ − x*‖, and xn is the norm of x̂.
func Relative(abs, xn float64) float64 {
	switch {
	case abs == 0:
		return 0
	case abs < xn:
		return quotient(abs, xn-abs)
	}
	return math.Inf(1)
}

// quotient returns an upper bound on a/b for a ≥ 0. The bound is valid even if the division underflows. If a is 0,
// it returns 0.
func quotient(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a/b + roundoff.Underflow
}
