package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Claim holds what the certificate of another fit states about one target. The methods of Known compare these
// numbers with the summary. If the fit and the summary are of the same rows, the numbers differ only by round-off.
// roundoff.SameRows bounds the difference between two sums over the same rows.
type Claim struct {
	X              []float64 // x̂
	Objective      interval.Interval
	Error          float64 // bounds ‖x̂ − x*‖
	TSSWidth       float64 // width of the bracket of ‖b‖²; 0 if unknown
	InterceptError float64 // bounds the error of the intercept, 0 if unknown
}

// squaresSlack bounds the difference between ‖b‖² in the fit and in the summary, if both are of the same rows. b
// is target j.
func (k *Known) squaresSlack(c *Claim, j int) float64 {
	return 2*k.SquaresError(j) + c.TSSWidth
}

// SameSquares compares the squared norm of target j in the fit, tss, with this norm in the summary, want. same
// reports whether they differ only by round-off.
func (k *Known) SameSquares(c *Claim, tss float64, j int) (want float64, same bool) {
	b := k.targetNorm(j)
	slack := roundoff.SameRows*b*b + k.squaresSlack(c, j)
	return k.TSS[j], math.Abs(tss-k.TSS[j]) <= slack
}

// SameIntercept compares the intercept of the fit with want, which is computed from the coefficients of the fit and
// the means in the summary. The result same reports whether they differ only by round-off.
func (k *Known) SameIntercept(c *Claim, intercept float64, j int) (want float64, same bool) {
	n := &k.norm
	d := k.eigen.Dim
	xn := vec.Norm(c.X)
	var size float64
	if k.Intercept {
		level := k.Means[d+j]
		mean := k.Means[:d]
		want = level - vec.Dot(mean, c.X)
		size = n.root*(math.Abs(level)+vec.Norm(mean)*xn) +
			math.Sqrt(k.TSS[j]) +
			math.Sqrt(k.bound.Frobenius2)*xn
	}
	off := 4*k.meanShift(k.rhs(j), xn) + n.root*c.InterceptError
	return want, n.root*math.Abs(intercept-want) <= roundoff.SameRows*size+off
}

// SameProducts compares got = c̃ᵀx̂ with want, a bracket of ‖b‖² − 2f*, for target b. The fit gives its
// coefficients x̂ and the minimum f* of the objective. The summary gives c̃, the computed Aᵀb, which has an error
// δ. Without errors, both numbers would be bᵀAx* for the exact solution x*. With errors,
//
//	|c̃ᵀx̂ − (‖b‖² − 2f*)| ≤ (‖c̃‖ + ‖δ‖)·‖x̂ − x*‖ + ‖δ‖·‖x̂‖.
func (k *Known) SameProducts(c *Claim, j int) (got float64, want interval.Interval, same bool) {
	xn := vec.Norm(c.X)
	b := k.targetNorm(j)
	tss := k.TSS[j]
	off := k.CrossError(j)
	norm := k.CNorm(j)
	got = vec.Dot(k.C(j), c.X)
	slack := (norm+off)*c.Error +
		off*xn +
		roundoff.SameRows*(b*b+norm*xn) +
		k.squaresSlack(c, j)
	want = interval.Interval{
		Lo: tss - 2*c.Objective.Hi - slack,
		Hi: tss - 2*c.Objective.Lo + slack,
	}
	return got, want, !(got < want.Lo || got > want.Hi)
}
