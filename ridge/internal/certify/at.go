package certify

import (
	"math"
	"sync"

	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// At holds bounds on the inverse of H = AᵀA + γI at one penalty γ, from a sketch B of the rows A:
//
//	(BᵀB + upper·I)⁻¹ ⪯ H⁻¹ ⪯ (BᵀB + lower·I)⁻¹,   lower = γ − pad,  upper = γ + η + pad.
//
// The shrinkage η bounds how much of AᵀA the sketch has lost, and pad = bound.RoundOff bounds the round-off in B.
// The two bounds have the eigenvectors of BᵀB. For an eigenvalue s2 of BᵀB, their eigenvalues are [At.below] and
// [At.above].
type At struct {
	*Known
	Gamma        float64
	lower, upper float64
	// definite is true if BᵀB + lower·I is safely positive definite. If it is false, [At.above] uses
	// H ⪰ (γ + least)I instead, where least is a lower bound on the eigenvalues of AᵀA.
	definite  bool
	dimension func() Dimension
}

// At returns the bounds at γ > 0.
func (k *Known) At(gamma float64) At {
	lower := gamma - k.bound.RoundOff
	rest := k.eigen.Rest
	a := At{
		Known:    k,
		Gamma:    gamma,
		lower:    lower,
		upper:    gamma + k.bound.FD(),
		definite: lower+rest > 0.5*(gamma+rest),
	}
	a.dimension = sync.OnceValue(func() Dimension {
		return Dimension{a.effectiveDimension(), a.logDet()}
	})
	return a
}

func (a At) below(s2 float64) float64 { return 1 / (s2 + a.upper) }

func (a At) above(s2 float64) float64 {
	if a.definite {
		return 1 / (s2 + a.lower)
	}
	return 1 / (a.Gamma + a.norm.least)
}

// middle returns the mean of a.below(s2) and a.above(s2).
func (a At) middle(s2 float64) float64 {
	return (a.below(s2) + a.above(s2)) / 2
}

// estimate estimates the eigenvalue of (AᵀA + γI)⁻¹ that corresponds to the eigenvalue s2 of BᵀB, for the
// sketch B of A. It assumes that each eigenvalue of AᵀA exceeds the corresponding eigenvalue of BᵀB by meanLoss.
func (a At) estimate(s2 float64) float64 {
	return 1 / (s2 + a.Gamma + a.meanLoss())
}

// meanLoss returns tr(AᵀA − BᵀB) divided by the bound on the rank of A, for the sketch B of A.
func (k *Known) meanLoss() float64 {
	return k.bound.Tail / math.Max(1, float64(k.Rank()))
}

// gap returns a.above(s2) − a.below(s2), computed without cancellation.
func (a At) gap(s2 float64) float64 {
	if a.definite {
		return (a.upper - a.lower) / (s2 + a.lower) / (s2 + a.upper)
	}
	least := a.Gamma + a.norm.least
	return (s2 + (a.upper - least)) / least / (s2 + a.upper)
}

// rootGap returns the square root of a.gap(s2).
func (a At) rootGap(s2 float64) float64 {
	return math.Sqrt(a.gap(s2))
}

// rootAbove returns the square root of a.above(s2).
func (a At) rootAbove(s2 float64) float64 {
	return math.Sqrt(a.above(s2))
}

// normAbove returns an upper bound on ‖φ(BᵀB)g‖ for the sketch B, a vector g, and the function φ given by
// phi. The bound includes round-off and underflow. p is the projection of g onto the eigenvectors of BᵀB.
func (k *Known) normAbove(p *spectral.Projection, phi func(s2 float64) float64) float64 {
	if p.Norm == 0 {
		return 0
	}
	return k.eigen.Norm(p, phi)*(1+2*k.factor.along*eps) + k.lostNorm()
}

// lostNorm returns a bound on the underflow error of [spectral.Eigen.Norm].
func (k *Known) lostNorm() float64 {
	return float64(len(k.eigen.Values)+few) * roundoff.Underflow
}

// inverse returns a bound on ‖H⁻¹‖.
func (a At) inverse() float64 {
	return 1 / (a.Gamma + a.norm.least)
}

// timesInverse returns a bound on ‖A(AᵀA + γI)⁻¹‖. This norm is the largest √λ/(λ+γ) over the
// eigenvalues λ of AᵀA.
func (a At) timesInverse() float64 {
	if least := a.norm.least; least > a.Gamma {
		return math.Sqrt(least) / (least + a.Gamma)
	}
	return 1 / (2 * math.Sqrt(a.Gamma))
}

// widestGap returns the largest distance between the upper and the lower bound on an eigenvalue of (AᵀA +
// γI)⁻¹. It is the maximum of [At.gap] over the eigenvalues of BᵀB, for the sketch B of A.
func (a At) widestGap() float64 {
	last := a.gap(a.eigen.Rest)
	first := a.gap(a.eigen.Largest())
	return math.Max(last, first)
}

// middleDistance returns a bound on ‖x* − MAᵀb‖, without round-off. x* is the exact solution for target j,
// which is b. M is the mean of the lower and the upper bound on (AᵀA + γI)⁻¹ (docs/math.md §5, "Position").
func (a At) middleDistance(j int) float64 {
	c := &a.targets[j].c
	return math.Sqrt(a.widestGap()) * a.normAbove(c, a.rootGap) / 2
}

// energies returns a bracket of √(gᵀ(AᵀA + γI)⁻¹g) for a vector g. The argument p is the projection of g
// onto the eigenvectors of the sketch. The argument dg bounds the norm of the error of the g that was projected.
func (a At) energies(p *spectral.Projection, dg float64) interval.Interval {
	most := math.Sqrt(a.inverse())
	lo := a.eigen.Norm(p, func(s2 float64) float64 {
		return math.Sqrt(a.below(s2))
	})
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
	out := interval.Interval{
		Lo: math.Max(0, lo/round-slack),
		Hi: hi*round + slack,
	}
	if !(out.Hi <= math.MaxFloat64) || !(out.Lo <= out.Hi) {
		return interval.Nonnegative()
	}
	return out
}

// quads returns a bracket of gᵀ(AᵀA + γI)⁻¹g for a vector g. The argument p is the projection of g onto the
// eigenvectors of the sketch. The argument dg bounds the norm of the error of the g that was projected.
func (a At) quads(p *spectral.Projection, dg float64) interval.Interval {
	v := a.energies(p, dg)
	return interval.Squared(v.Lo, v.Hi)
}

// Objective returns a bracket of the smallest objective for target j, which is b. It is
// f* = ½(‖b‖² − cᵀ(AᵀA + γI)⁻¹c) for c = Aᵀb.
func (a At) Objective(j int) interval.Interval {
	q := a.quads(&a.targets[j].c, a.CrossError(j))
	tss := a.TSS[j]
	pad := a.SquaresError(j)
	return interval.Interval{
		Lo: math.Max(0, (tss-q.Hi-pad)/2),
		Hi: math.Max(0, (tss-q.Lo+pad)/2),
	}
}
