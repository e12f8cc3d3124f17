package certify

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Left holds two residuals of a row. Residual is for the exact solution of all rows, and LeftOut is for the exact
// solution of all other rows.
type Left struct {
	Residual, LeftOut                 interval.Interval
	ResidualEstimate, LeftOutEstimate float64
}

// Left returns brackets and estimates of the two residuals of the row o with leverage v and target y. The argument
// product is the product of the row a with the coefficients x of the fit f. Let r be the residual for x, x* the
// exact solution for the penalty γ, and H = AᵀA + γI. The bracket of the residual for x* is
//
//	r ± (round-off + √(aᵀH⁻¹a)·‖H^{½}(x − x*)‖).
//
// The leave-one-out residual is this residual divided by 1 − h, for the leverage h of the row. Its bracket contains
// all quotients of numbers in the two brackets.
func (l *LeftOut) Left(
	o *LeftRow,
	v *Leverage,
	f *LeftFit,
	y, product float64,
) Left {
	r, off := l.Residual(o, f, y, product)
	off += v.root * f.energy * upward
	round := few*eps*math.Abs(r) + few*roundoff.Underflow
	out := Left{
		Residual: interval.Interval{
			Lo: r - off - round,
			Hi: r + off + round,
		},
		ResidualEstimate: r,
	}
	if !(off+math.Abs(r) <= math.MaxFloat64/2) {
		out.Residual = interval.Unknown()
	}
	// The leave-one-out residual is minus the leave-one-out prediction that Prediction returns for a target of 0.
	left, estimate := v.Prediction(0, r, off)
	out.LeftOut = interval.Interval{Lo: -left.Hi, Hi: -left.Lo}
	out.LeftOutEstimate = min(max(-estimate, out.LeftOut.Lo), out.LeftOut.Hi)
	return out
}
