package certify

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Left holds two residuals of a row: for the exact solution of all rows, and for the exact solution of all other
// rows.
type Left struct {
	Residual, LeftOut                 interval.Interval
	ResidualEstimate, LeftOutEstimate float64
}

// Left returns the residuals of the row o with leverage v. y is the target of the row, and product the product of the
// row a with the coefficients x of f. With the residual r of f, the exact solution x* and H = AᵀA + γI, the bracket
// of the residual for x* is
//
//	r ± (round-off + √(aᵀH⁻¹a)·‖H^{½}(x − x*)‖),
//
// The bracket of the leave-one-out residual follows: each end is divided by the end of the bracket of 1 − h that
// makes the result wider.
func (l *LeftOut) Left(o *LeftRow, v *Leverage, f *LeftFit, y, product float64) Left {
	r, off := l.Residual(o, f, y, product)
	off += v.root * f.energy * upward
	round := few*eps*math.Abs(r) + few*roundoff.Underflow
	out := Left{
		Residual:         interval.Interval{Lo: r - off - round, Hi: r + off + round},
		ResidualEstimate: r,
	}
	if !(off+math.Abs(r) <= math.MaxFloat64/2) {
		out.Residual = interval.Unknown()
	}
	// The leave-one-out prediction for a target of 0 is minus the leave-one-out residual.
	left, estimate := v.Prediction(0, r, off)
	out.LeftOut = interval.Interval{Lo: -left.Hi, Hi: -left.Lo}
	out.LeftOutEstimate = min(max(-estimate, out.LeftOut.Lo), out.LeftOut.Hi)
	return out
}
