package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Judge says, of gradients that passes have measured at one γ, how far the weights are
// from x*.
type Judge struct {
	At
	// Where |δ_j| ≤ ‖a_j‖, the norm of column j of A, for every component of an error δ of a
	// gradient:
	perWeights float64 // bounds ‖H⁻¹δ‖
	perEnergy  float64 // bounds ‖H^{-½}δ‖
}

// Measured is what a pass over the data found at weights x for one target.
type Measured struct {
	Gradient resolvent.Projection
	RSS      float64 // ‖Ax − b‖²
	Error    float64 // a bound on ‖x − x*‖

	// Where a gradient was measured with twice the digits: what is known at x + Low, and how far
	// that is from x* at most.
	Exact *Exact
	Near  float64
	Landing
}

// Judge prepares the bounds at γ > 0. For |δ_j| ≤ ‖a_j‖, with L = BᵀB + lower·I,
//
//	‖H^{-½}δ‖ ≤ Σ‖a_j‖√(e_jᵀL⁻¹e_j),   ‖H⁻¹δ‖ ≤ (1 + ρ‖H⁻¹‖)·Σ‖a_j‖·‖Ĥ_R⁻¹e_j‖,
//
// neither of which depends on the units of the columns, where ‖A‖_F/√γ and ‖A‖_F/γ
// are as large as the largest of them.
func (k *Known) Judge(gamma float64) *Judge {
	a := k.At(gamma)
	d, b, rest := k.eigen.Dim, k.bound, k.eigen.Rest
	shifted := gamma + b.Shift()
	inverse, solved, along := make([]float64, d), make([]float64, d), make([]float64, d)
	for i, s2 := range k.eigen.Values {
		above, own := a.above(s2), 1/(s2+shifted)
		for j, v := range k.eigen.V[i*d : (i+1)*d] {
			v *= v
			along[j] += v
			inverse[j] += v * above
			solved[j] += v * own * own
		}
	}
	out := &Judge{At: a}
	for j, c := range k.norm.columns {
		off := math.Max(0, 1-along[j]) + (k.factor.along+2*k.factor.skew)*eps
		out.perEnergy += c * math.Sqrt(inverse[j]+off*a.above(rest))
		out.perWeights += c * math.Sqrt(solved[j]+off/(shifted+rest)/(shifted+rest))
	}
	most := a.inverse()
	round := 1 + few*eps*(1+(k.norm.largest2+gamma)*most) // of evaluating these
	out.perEnergy = math.Min(out.perEnergy*round, k.norm.read*math.Sqrt(most))
	out.perWeights = math.Min(math.Min(out.perWeights*(1+b.RFD()*most)*round, out.perEnergy*math.Sqrt(most)), k.norm.read*most)
	return out
}

// RoundOff bounds ‖H⁻¹δg‖ and ‖H^{-½}δg‖ for the round-off δg of a gradient that a
// pass computed at x, with residual r, for target j. The error of Ax − b reaches x
// through H⁻¹Aᵀ; it changes component i of the gradient by at most ‖a_i‖ times its norm.
// The error of accumulating Aᵀr is, in component i, at most a multiple of ‖a_i‖‖r‖.
func (g *Judge) RoundOff(j int, x []float64, r float64) (weights, energy float64) {
	return g.roundOff(g.side(j), x, r)
}

func (g *Judge) roundOff(b side, x []float64, r float64) (weights, energy float64) {
	xn, most := vec.Norm(x), g.inverse()
	r = math.Hypot(r, math.Sqrt(float64(g.Rows))*roundoff.LostResidual)
	residual := g.residualError(b, x, r)
	sums := g.factor.pass * eps * (r + residual)
	own := few*eps*g.Gamma*xn + g.centring(b, xn) + float64(len(x))*roundoff.Underflow
	energy = residual + g.perEnergy*sums + own*math.Sqrt(most)
	weights = residual*math.Min(g.timesInverse(), g.perWeights) + g.perWeights*sums + own*most
	return math.Min(weights, energy*math.Sqrt(most)), energy
}

// Error bounds ‖x − x*‖ = ‖H⁻¹g‖ by the least of
//
//	‖H⁻¹‖·‖g‖,   √(‖H⁻¹‖·gᵀĤ⁻¹g) for Ĥ ⪯ H,   (1 + ρ‖H⁻¹‖)·‖Ĥ_R⁻¹g‖,
//
// plus round, the share of round-off in g.
func (g *Judge) Error(p *resolvent.Projection, round float64) float64 {
	if p.Norm == 0 {
		return round
	}
	b := g.bound
	most := g.inverse()
	e := p.Norm * most
	onto := g.factor.onto * eps * p.Norm // what the projection is off by
	if g.definite {
		e = math.Min(e, g.normAbove(p, g.rootAbove)*math.Sqrt(most)+onto*most)
	}
	s := g.Gamma + b.Shift()
	solved := g.normAbove(p, func(s2 float64) float64 { return 1 / (s2 + s) })
	e = math.Min(e, (1+b.RFD()*most)*(solved+onto/(s+g.eigen.Rest)))
	return e*(1+2*g.factor.along*eps) + g.lostNorm() + round
}

// Weights are the bounds for weights x of target j at which m was measured.
func (g *Judge) Weights(j int, x []float64, m *Measured) Weights {
	if m.Exact != nil {
		return g.exactWeights(j, x, m)
	}
	xn, r := vec.Norm(x), math.Sqrt(m.RSS)
	w := Weights{
		Error: m.Error, Relative: Relative(m.Error, xn),
		RSS: g.squares(g.side(j), x, r), TSS: g.TotalSquares(j),
	}
	_, energy := g.RoundOff(j, x, r)
	off := g.energies(&m.Gradient, energy/math.Sqrt(g.inverse())) // ‖H^{½}(x − x*)‖ = ‖H^{-½}g‖
	w.Objective = interval.Intersect(g.Objective(j), objectiveMeasured(g.Gamma, xn, w.RSS, interval.Squared(off.Lo, off.Hi)))
	return g.complete(w, j, x, xn, off.Hi, math.Inf(1))
}

// objectiveMeasured brackets f* from the gap 2(f(x) − f*), with ‖Ax − b‖² and ‖x‖.
func objectiveMeasured(gamma, x float64, rss, gap interval.Interval) interval.Interval {
	f := gamma * x * x
	pad := few*eps*(f+rss.Hi) + lostSquares(x)
	return interval.Interval{
		Lo: math.Max(0, (rss.Lo+f-gap.Hi-pad)/2),
		Hi: math.Max(0, (rss.Hi+f-gap.Lo+pad)/2),
	}
}

// squares brackets ‖Ax − b‖² of the r = ‖Ax − b‖ that a pass computed.
func (k *Known) squares(b side, x []float64, r float64) interval.Interval {
	pad := k.residualError(b, x, r) + math.Sqrt(float64(k.Rows))*roundoff.LostResidual
	lo, shift := math.Max(0, r-pad), k.meanShift(b, vec.Norm(x))
	return interval.Interval{Lo: math.Max(0, lo*lo-shift*shift), Hi: (r + pad) * (r + pad)}
}
