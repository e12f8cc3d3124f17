package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Judge bounds the distance of coefficients from the exact solution at one penalty γ. It needs the gradient at
// these coefficients, which a pass over the rows has computed.
type Judge struct {
	At
	// perWeights and perEnergy bound the effect of an error δ of the gradient, where H = AᵀA + γI. They hold if
	// the magnitude of each element δ_j is at most the norm of column j of A.
	perWeights float64 // bounds ‖H⁻¹δ‖
	perEnergy  float64 // bounds ‖H^{-½}δ‖
	// scaledWeights and scaledEnergy bound the same norms if each |δ_j| is at most Scaled[j], see
	// [Columns.Rounded]. They are 0 if Scaled is nil.
	scaledWeights, scaledEnergy float64
}

// Measured holds what a pass over the rows has computed at coefficients x of one target, with error bounds.
type Measured struct {
	Gradient spectral.Projection
	RSS      float64 // ‖Ax − b‖²
	Error    float64 // bounds ‖x − x*‖

	// Exact is nil unless the gradient was computed with twice the digits. Then it holds the bounds at x + Low, the
	// coefficients before rounding. Near bounds the distance of x + Low from the exact solution.
	Exact *Exact
	Near  float64
	Landing
}

// Judge returns the Judge for the penalty γ > 0. It bounds the effect of an error δ of a gradient, if |δ_j| ≤
// ‖a_j‖ for each column a_j of A. The methods of the Judge scale these bounds by the size of the actual
// round-off. With H = AᵀA + γI,
//
//	‖H^{-½}δ‖ ≤ Σ‖a_j‖√(e_jᵀL⁻¹e_j),
//	‖H⁻¹δ‖    ≤ (1 + ρ‖H⁻¹‖)·Σ‖a_j‖·‖Ĥ_R⁻¹e_j‖.
//
// Here e_j is a unit vector, and ρ is half the shrinkage of the sketch B. L is BᵀB + lower·I as in [At], and
// Ĥ_R is BᵀB + (γ+ρ)I. Neither bound depends on the units of the columns.
func (k *Known) Judge(gamma float64) *Judge {
	a := k.At(gamma)
	d := k.eigen.Dim
	b := k.bound
	rest := k.eigen.Rest
	shifted := gamma + b.Shift()
	inverse := make([]float64, d)
	solved := make([]float64, d)
	along := make([]float64, d)
	for i, s2 := range k.eigen.Values {
		above := a.above(s2)
		own := 1 / (s2 + shifted)
		for j, v := range k.eigen.V[i*d : (i+1)*d] {
			v *= v
			along[j] += v
			inverse[j] += v * above
			solved[j] += v * own * own
		}
	}
	out := &Judge{At: a}
	for j, c := range k.norm.columns {
		round := (k.factor.along + 2*k.factor.skew) * eps
		off := math.Max(0, 1-along[j]) + round
		energy := math.Sqrt(inverse[j] + off*a.above(rest))
		weights := math.Sqrt(solved[j] + off/(shifted+rest)/(shifted+rest))
		out.perEnergy += c * energy
		out.perWeights += c * weights
		if k.Scaled != nil {
			out.scaledEnergy += k.Scaled[j] * energy
			out.scaledWeights += k.Scaled[j] * weights
		}
	}
	most := a.inverse()
	round := 1 + few*eps*(1+(k.norm.largest2+gamma)*most) // round-off of the evaluation
	out.perEnergy = math.Min(out.perEnergy*round, k.norm.read*math.Sqrt(most))
	byForm := math.Min(out.perWeights*(1+b.RFD()*most)*round, out.perEnergy*math.Sqrt(most))
	out.perWeights = math.Min(byForm, k.norm.read*most)

	scaled := vec.Norm(k.Scaled) * inflate
	out.scaledEnergy = math.Min(out.scaledEnergy*round, scaled*math.Sqrt(most))
	byForm = math.Min(out.scaledWeights*(1+b.RFD()*most)*round, out.scaledEnergy*math.Sqrt(most))
	out.scaledWeights = math.Min(byForm, scaled*most)
	return out
}

// RoundOff returns bounds on the effect of the round-off δ in the computed gradient at coefficients x of target j.
// With H = AᵀA + γI for the penalty γ, weights bounds ‖H⁻¹δ‖ and energy bounds ‖H^{-½}δ‖. r is the
// norm of the computed residual Ax − b. docs/math.md §14 has the proof.
func (g *Judge) RoundOff(j int, x []float64, r float64) (weights, energy float64) {
	return g.roundOff(g.rhs(j), x, r)
}

func (g *Judge) roundOff(b rhs, x []float64, r float64) (weights, energy float64) {
	xn := vec.Norm(x)
	most := g.inverse()
	r = math.Hypot(r, math.Sqrt(float64(g.Rows))*roundoff.LostResidual)
	residual := g.residualError(b, x, r)
	sums := g.factor.pass * eps * (r + residual)
	own := few*eps*g.Gamma*xn +
		g.centring(b, xn) +
		float64(len(x))*roundoff.Underflow
	scaled := r + residual // multiplies the errors of the features
	energy = residual +
		g.perEnergy*sums +
		g.scaledEnergy*scaled +
		own*math.Sqrt(most)
	weights = residual*math.Min(g.timesInverse(), g.perWeights) +
		g.perWeights*sums +
		g.scaledWeights*scaled +
		own*most
	return math.Min(weights, energy*math.Sqrt(most)), energy
}

// Error returns a bound on the distance ‖x − x*‖ of coefficients x from the exact solution x*. p is the
// projection of the gradient at x onto the eigenvectors of the sketch. The argument round bounds how much the
// round-off in the gradient adds to this distance.
func (g *Judge) Error(p *spectral.Projection, round float64) float64 {
	if p.Norm == 0 {
		return round
	}
	b := g.bound
	most := g.inverse()                  // bounds ‖(AᵀA + γI)⁻¹‖
	e := p.Norm * most                   // the first of three bounds; docs/math.md §6 has the proofs
	onto := g.factor.onto * eps * p.Norm // round-off of the projection
	if g.definite {
		root := g.normAbove(p, g.rootAbove)
		e = math.Min(e, root*math.Sqrt(most)+onto*most)
	}
	s := g.Gamma + b.Shift()
	solved := g.normAbove(p, func(s2 float64) float64 {
		return 1 / (s2 + s)
	})
	solved += onto / (s + g.eigen.Rest)
	e = math.Min(e, (1+b.RFD()*most)*solved)
	return e*(1+2*g.factor.along*eps) + g.lostNorm() + round
}

// Weights returns the error bounds for coefficients x of target j. m holds what a pass has computed at x.
func (g *Judge) Weights(j int, x []float64, m *Measured) Weights {
	if m.Exact != nil {
		return g.exactWeights(j, x, m)
	}
	xn := vec.Norm(x)
	r := math.Sqrt(m.RSS)
	w := Weights{
		Error:    m.Error,
		Relative: Relative(m.Error, xn),
		RSS:      g.squares(g.rhs(j), x, r),
		TSS:      g.TotalSquares(j),
	}
	_, energy := g.RoundOff(j, x, r)
	off := g.energies(&m.Gradient, energy/math.Sqrt(g.inverse())) // ‖H^{½}(x − x*)‖ = ‖H^{-½}g‖
	w.Objective = interval.Intersect(
		g.Objective(j),
		objectiveMeasured(g.Gamma, xn, w.RSS, interval.Squared(off.Lo, off.Hi)),
	)
	return g.complete(w, j, x, xn, off.Hi, math.Inf(1))
}

// objectiveMeasured returns a bracket of the minimum f* of the objective f at the penalty γ, given coefficients x.
// Its argument rss brackets the sum of squared residuals of x, and gap brackets 2(f(x) − f*). The norm of x is xn.
func objectiveMeasured(gamma, xn float64, rss, gap interval.Interval) interval.Interval {
	f := gamma * xn * xn
	pad := few*eps*(f+rss.Hi) + lostSquares(xn)
	return interval.Interval{
		Lo: math.Max(0, (rss.Lo+f-gap.Hi-pad)/2),
		Hi: math.Max(0, (rss.Hi+f-gap.Lo+pad)/2),
	}
}

// squares returns a bracket of ‖Ax − b‖². r is the norm ‖Ax − b‖ as a pass has computed it.
func (k *Known) squares(b rhs, x []float64, r float64) interval.Interval {
	pad := k.residualError(b, x, r) +
		math.Sqrt(float64(k.Rows))*roundoff.LostResidual
	lo := math.Max(0, r-pad)
	shift := k.meanShift(b, vec.Norm(x))
	return interval.Interval{
		Lo: math.Max(0, lo*lo-shift*shift),
		Hi: (r + pad) * (r + pad),
	}
}
