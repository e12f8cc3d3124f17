package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Claim is what the certificate of another fit says of one target. It can be true of the
// summary's rows only if the fit is of these rows. The numbers of a fit of the same rows
// agree with the summary's but for round-off, for which roundoff.SameRows leaves much room, and for
// what centring has moved in both.
type Claim struct {
	X              []float64 // x̂
	Objective      interval.Interval
	Error          float64 // bounds ‖x̂ − x*‖
	TSSWidth       float64 // of the bracket on ‖b‖², 0 if unknown
	InterceptError float64 // bounds that of the intercept, 0 if unknown
}

// squaresSlack is how far apart the fit's ‖b‖² may be from the summary's.
func (k *Known) squaresSlack(c *Claim, j int) float64 { return 2*k.SquaresError(j) + c.TSSWidth }

// SameSquares compares the fit's ‖b‖² with that of target j, which it returns.
func (k *Known) SameSquares(c *Claim, tss float64, j int) (want float64, same bool) {
	b := k.targetNorm(j)
	return k.TSS[j], math.Abs(tss-k.TSS[j]) <= roundoff.SameRows*b*b+k.squaresSlack(c, j)
}

// SameIntercept compares the fit's intercept with ȳ − x̂ᵀx̄, which it returns.
func (k *Known) SameIntercept(c *Claim, intercept float64, j int) (want float64, same bool) {
	n, d, xn := &k.norm, k.eigen.Dim, vec.Norm(c.X)
	var size float64
	if k.Intercept {
		level, mean := k.Means[d+j], k.Means[:d]
		want = level - vec.Dot(mean, c.X)
		size = n.root*(math.Abs(level)+vec.Norm(mean)*xn) + math.Sqrt(k.TSS[j]) + math.Sqrt(k.bound.Frobenius2)*xn
	}
	off := 4*k.meanShift(k.side(j), xn) + n.root*c.InterceptError
	return want, n.root*math.Abs(intercept-want) <= roundoff.SameRows*size+off
}

// SameProducts compares c̃ᵀx̂ with what the claim says of it. With Hx* = c, so that
// ‖b‖² − 2f* = cᵀx*, its certificate says what cᵀx̂ is. The summary has c̃ = c + δ, which
// may be next to nothing where c is not:
//
//	c̃ᵀx̂ − cᵀx* = cᵀ(x̂ − x*) + δᵀx̂,   |c̃ᵀx̂ − (‖b‖² − 2f*)| ≤ (‖c̃‖ + ‖δ‖)·‖x̂ − x*‖ + ‖δ‖·‖x̂‖.
func (k *Known) SameProducts(c *Claim, j int) (got float64, want interval.Interval, same bool) {
	xn, b, tss, off, norm := vec.Norm(c.X), k.targetNorm(j), k.TSS[j], k.CrossError(j), k.CNorm(j)
	got = vec.Dot(k.C(j), c.X)
	slack := (norm+off)*c.Error + off*xn + roundoff.SameRows*(b*b+norm*xn) + k.squaresSlack(c, j)
	want = interval.Interval{Lo: tss - 2*c.Objective.Hi - slack, Hi: tss - 2*c.Objective.Lo + slack}
	return got, want, !(got < want.Lo || got > want.Hi)
}
