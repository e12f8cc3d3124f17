package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// At is what is known at one γ. Every quadratic form of H(γ)⁻¹ lies between those of
//
//	(BᵀB + upper·I)⁻¹  and  (BᵀB + lower·I)⁻¹,   lower = γ − pad,  upper = γ + η + pad,
//
// written as functions of the eigenvalues of BᵀB: below(BᵀB) ⪯ H⁻¹ ⪯ above(BᵀB).
type At struct {
	*Known
	Gamma        float64
	lower, upper float64
	definite     bool // BᵀB + lower·I is positive definite beyond doubt; where it isn't, H ⪰ (γ + least)I is used
}

// At is what follows at γ > 0.
func (k *Known) At(gamma float64) At {
	lower, rest := gamma-k.bound.RoundOff, k.eigen.Rest
	return At{Known: k, Gamma: gamma, lower: lower, upper: gamma + k.bound.FD(), definite: lower+rest > 0.5*(gamma+rest)}
}

func (a At) below(s2 float64) float64 { return 1 / (s2 + a.upper) }

func (a At) above(s2 float64) float64 {
	if a.definite {
		return 1 / (s2 + a.lower)
	}
	return 1 / (a.Gamma + a.norm.least)
}

// middle is the function halfway between below and above.
func (a At) middle(s2 float64) float64 { return (a.below(s2) + a.above(s2)) / 2 }

// gap is above − below, without cancellation.
func (a At) gap(s2 float64) float64 {
	if a.definite {
		return (a.upper - a.lower) / (s2 + a.lower) / (s2 + a.upper)
	}
	least := a.Gamma + a.norm.least
	return (s2 + (a.upper - least)) / least / (s2 + a.upper)
}

// rootGap is the square root of gap.
func (a At) rootGap(s2 float64) float64 { return math.Sqrt(a.gap(s2)) }

// rootAbove is the square root of above.
func (a At) rootAbove(s2 float64) float64 { return math.Sqrt(a.above(s2)) }

// normAbove bounds ‖φ(BᵀB)g‖ from above: with the rounding of its evaluation, underflow included.
func (k *Known) normAbove(p *resolvent.Projection, phi func(s2 float64) float64) float64 {
	if p.Norm == 0 {
		return 0
	}
	return k.eigen.Norm(p, phi)*(1+2*k.factor.along*eps) + k.lostNorm()
}

// lostNorm bounds what [resolvent.Eigen.Norm] loses to underflow.
func (k *Known) lostNorm() float64 {
	return float64(len(k.eigen.Values)+few) * roundoff.Underflow
}

// inverse bounds ‖H⁻¹‖.
func (a At) inverse() float64 { return 1 / (a.Gamma + a.norm.least) }

// timesInverse bounds ‖AH⁻¹‖: the largest √λ/(λ+γ) over the eigenvalues λ of K.
func (a At) timesInverse() float64 {
	if least := a.norm.least; least > a.Gamma {
		return math.Sqrt(least) / (least + a.Gamma)
	}
	return 1 / (2 * math.Sqrt(a.Gamma))
}

// widestGap is the largest gap at any eigenvalue.
func (a At) widestGap() float64 {
	return math.Max(a.gap(a.eigen.Rest), a.gap(a.eigen.Largest()))
}

// middleDistance bounds ‖x* − Mc‖ of target j, M = middle(BᵀB): with D = gap(BᵀB) and some
// ‖W‖ ≤ 1, H⁻¹ = M + ½D^{½}WD^{½}, so that it is at most ½√(‖D‖·cᵀDc). The caller adds
// round-off.
func (a At) middleDistance(j int) float64 {
	return math.Sqrt(a.widestGap()) * a.normAbove(&a.targets[j].c, a.rootGap) / 2
}

// energies brackets ‖H^{-½}g‖, for a g known up to an error of norm dg. The round-off of its
// projection onto V comes on top of dg.
func (a At) energies(p *resolvent.Projection, dg float64) interval.Interval {
	most := math.Sqrt(a.inverse())
	lo := a.eigen.Norm(p, func(s2 float64) float64 { return math.Sqrt(a.below(s2)) })
	hi := p.Norm * most
	if a.definite {
		hi = math.Min(hi, a.eigen.Norm(p, a.rootAbove))
	}
	// ‖H^{-½}(g+δ)‖ ≤ ‖H^{-½}g‖ + ‖δ‖·‖H⁻¹‖^{½}.
	round := 1 + 2*a.factor.along*eps
	slack := (dg + a.factor.onto*eps*p.Norm) * most
	if p.Norm > 0 {
		slack += a.lostNorm()
	}
	out := interval.Interval{Lo: math.Max(0, lo/round-slack), Hi: hi*round + slack}
	if !(out.Hi <= math.MaxFloat64) || !(out.Lo <= out.Hi) {
		return interval.Nonnegative()
	}
	return out
}

// quads brackets gᵀH⁻¹g, see energies.
func (a At) quads(p *resolvent.Projection, dg float64) interval.Interval {
	v := a.energies(p, dg)
	return interval.Squared(v.Lo, v.Hi)
}

// Objective brackets f* = ½(‖b‖² − cᵀH⁻¹c) of target j.
func (a At) Objective(j int) interval.Interval {
	q, tss := a.quads(&a.targets[j].c, a.CrossError(j)), a.TSS[j]
	pad := a.SquaresError(j)
	return interval.Interval{Lo: math.Max(0, (tss-q.Hi-pad)/2), Hi: math.Max(0, (tss-q.Lo+pad)/2)}
}
