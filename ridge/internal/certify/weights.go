package certify

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Weights are the bounds for the weights x̂ of one target.
type Weights struct {
	Error     float64 // on ‖x̂ − x*‖
	Relative  float64 // on ‖x̂ − x*‖/‖x*‖
	Energy    float64 // on ‖H^{½}(x̂ − x*)‖
	Intercept Intercept
	Objective interval.Interval // f*
	TSS       interval.Interval // ‖b‖²
	RSS       interval.Interval // ‖Ax̂ − b‖²
	GCV       interval.Interval // n·‖Ax* − b‖²/(n − df)²
}

// complete fills in what follows for weights x of norm xn from their error, the squares and
// f*, given bounds on ‖H^{½}(x̂ − x*)‖ and ‖A(x̂ − x*)‖.
func (a At) complete(w Weights, j int, x []float64, xn, energy, move float64) Weights {
	w.Energy = math.Min(energy, a.excess(xn, w.RSS, w.Objective))
	w.Intercept = a.intercept(j, x, xn, w.Error)
	w.GCV = gcv(a.Rows, a.Intercept, a.EffectiveDimension(), a.rssAtOptimum(j, xn, w.Error, move, w.Objective, w.RSS))
	return w
}

// lostSquares bounds what a few products such as γ‖x‖², for an x of that norm, lose to underflow: the
// first factor of γ‖x‖·‖x‖ may, and the second.
func lostSquares(xn float64) float64 { return few * roundoff.Underflow * (1 + xn) }

// excess bounds ‖H^{½}(x − x*)‖ by √(2(f(x) − f*)), given ‖x‖, ‖Ax − b‖² and f*.
func (a At) excess(x float64, rss, objective interval.Interval) float64 {
	return math.Sqrt(math.Max(0, rss.Hi+a.Gamma*x*x*(1+few*eps)-2*objective.Lo)+4*eps*rss.Hi+lostSquares(x)) * (1 + 16*eps)
}

// rssAtOptimum brackets RSS(x*) = 2f* − γ‖x*‖², with ‖x*‖ ∈ ‖x‖ ± e and
// γ‖x*‖² ≤ cᵀH⁻¹c = ‖b‖² − 2f*, and by ‖Ax* − b‖ ∈ ‖Ax − b‖ ± move, where move is
// no more than ‖A‖₂e.
func (a At) rssAtOptimum(j int, x, e, move float64, f, rss interval.Interval) interval.Interval {
	far, near := x+e, math.Max(0, x-e)
	lost := lostSquares(far)
	most := math.Min(a.Gamma*far*far+lost, math.Max(0, a.TSS[j]+a.SquaresError(j)-2*f.Lo))
	byObjective := interval.Interval{Lo: math.Max(0, 2*f.Lo*(1-4*eps)-most*(1+4*eps)), Hi: 2*f.Hi*(1+4*eps) - a.Gamma*near*near*(1-4*eps) + lost}
	move = math.Min(move, math.Sqrt(a.norm.largest2)*e)
	byMove := interval.Squared(math.Sqrt(rss.Lo)-move, math.Sqrt(rss.Hi)+move)
	byMove.Lo, byMove.Hi = byMove.Lo*(1-8*eps), byMove.Hi*(1+8*eps)
	return interval.Intersect(a.rssFromEnvelope(j), interval.Intersect(byObjective, byMove))
}

// rssFromEnvelope brackets RSS(x*) = ‖b‖² − cᵀH⁻¹c − γ‖H⁻¹c‖² without weights at
// hand. With H⁻¹ = M + ½D^{½}WD^{½} as for middleDistance, z = D^{½}c and y = D^{½}Mc,
//
//	RSS(x*) = ‖b‖² − cᵀMc − γ‖Mc‖² − ½(z + 2γy)ᵀWz − γ/4·‖D^{½}Wz‖²,
//
// of which ‖W‖ ≤ 1 bounds the last two terms.
func (a At) rssFromEnvelope(j int) interval.Interval {
	c, tss, gamma := &a.targets[j].c, a.TSS[j], a.Gamma
	form := a.eigen.Norm(c, func(s2 float64) float64 { return math.Sqrt(a.middle(s2) * (1 + gamma*a.middle(s2))) })
	middle := tss - form*form
	half := a.normAbove(c, a.rootGap) * a.normAbove(c, func(s2 float64) float64 { return (1 + 2*gamma*a.middle(s2)) * a.rootGap(s2) }) / 2
	radius := a.middleDistance(j)
	// cᵀφ(K)c and the bounds, φ ≤ 2‖H⁻¹‖, for a c known to δ and projected.
	delta, most := a.CrossError(j)+a.factor.onto*eps*c.Norm, a.inverse()
	pad := 16*math.Sqrt(tss*most)*delta + 8*delta*delta*most + a.SquaresError(j) + 4*(a.factor.along+few)*eps*(tss+half)
	if lost := a.lostNorm(); c.Norm > 0 {
		pad += lost * (1 + 2*form + lost)
	}
	return interval.Interval{Lo: math.Max(0, middle-half-gamma*radius*radius-pad), Hi: math.Max(0, middle+half+pad)}
}

// gcv brackets n·RSS/(n − df)² for n rows, the intercept counting as one more degree of
// freedom.
func gcv(rows int64, intercept bool, df, rss interval.Interval) interval.Interval {
	n := float64(rows)
	free := interval.Interval{Lo: n - df.Hi, Hi: n - df.Lo}
	if intercept {
		free.Lo, free.Hi = free.Lo-1, free.Hi-1
	}
	out := interval.Nonnegative()
	if free.Hi > 0 {
		out.Lo = math.Max(0, n*rss.Lo/free.Hi/free.Hi*(1-8*eps)-4*roundoff.Underflow)
		if math.IsInf(out.Lo, 1) { // n·RSS is beyond range, which says nothing of GCV
			out.Lo = 0
		}
	}
	if free.Lo > 0 {
		out.Hi = n*rss.Hi/free.Lo/free.Lo*(1+8*eps) + 4*roundoff.Underflow
	}
	return out
}
