package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// EffectiveDimension returns a bracket of the effective degrees of freedom Σ λᵢ/(λᵢ+γ), where γ is the
// penalty and λᵢ are the eigenvalues of AᵀA. The sketch of A restricts these eigenvalues to
//
//	λᵢ = σᵢ² + eᵢ,   0 ≤ eᵢ ≤ η,   Σeᵢ = T.
//
// σᵢ are the singular values of the sketch, and 0 beyond its rank. eᵢ is the part of λᵢ that the sketch has
// lost. The shrinkage η bounds each loss, and T, which is bound.Tail, is the sum of all losses. The bracket holds
// for all eᵢ that satisfy these conditions (docs/math.md §5). It is computed on the first call.
func (a At) EffectiveDimension() interval.Interval {
	return a.dimension().Interval
}

func (a At) effectiveDimension() interval.Interval {
	rank := float64(a.Rank())
	most := a.inverse()
	slope := a.Gamma * most * most // the largest slope of λ/(λ+γ)
	// tail bounds the error of bound.Tail from two sources: ‖A‖²_F, and the lengths of the singular vectors of the
	// sketch
	tail := (a.factor.squares + a.factor.skew) * eps * a.bound.Frobenius2
	// moved bounds the sum of the slopes of λ/(λ+γ) at the eigenvalues λ of AᵀA. An eigenvalue is at least the
	// corresponding eigenvalue of the sketch minus RoundOff.
	moved := a.unseen() * slope
	for _, s2 := range a.eigen.Values {
		far := a.Gamma + math.Max(a.norm.least, s2*downward-a.bound.RoundOff)
		moved += a.Gamma / far / far
	}
	pad := a.bound.RoundOff*moved*inflate +
		float64(a.eigen.Dim)*few*eps +
		tail*slope
	return interval.Interval{
		Lo: math.Min(rank, math.Max(0, a.leastDimension()-pad)),
		Hi: math.Min(rank, a.mostDimension()+pad),
	}
}

func (a At) leastDimension() float64 {
	eta := a.bound.Shrinkage
	left := 0.0 // the part of T that is not yet distributed, in units of η
	if eta > 0 {
		tail := a.bound.Tail - a.bound.TailSlack - a.traceError()
		left = math.Max(0, tail) / eta
	}
	var df twofold.Total // sums d terms near 1; a plain sum would be off by d²·eps/4
	for _, s2 := range a.eigen.Values {
		part := math.Min(1, left)
		left -= part
		least := ratio(s2, a.Gamma)
		most := ratio(s2+eta, a.Gamma)
		df.Add((1-part)*least + part*most)
	}
	unseen := math.Min(left, a.unseen())
	return df.Value() + unseen*ratio(eta, a.Gamma)
}

// traceError returns a bound on the error of bound.Tail, the computed trace of AᵀA − BᵀB for the sketch B of A.
// The error comes from round-off in the eigenvalues.
func (k *Known) traceError() float64 {
	terms := max(k.Rank(), len(k.eigen.Values))
	return float64(terms) * k.bound.RoundOff
}

// unseen returns a bound on the number of nonzero eigenvalues of AᵀA that the sketch does not contain. It is the
// bound on the rank of A minus the number of stored eigenvalues of the sketch, but at least 0.
func (k *Known) unseen() float64 {
	return math.Max(0, float64(k.Rank()-len(k.eigen.Values)))
}

// mostDimension returns the upper bound of [At.EffectiveDimension], without round-off. The sketch has lost a part
// eᵢ of each eigenvalue λᵢ. The shrinkage η bounds each loss, eᵢ ≤ η, and bound.Tail is the sum of all
// losses. The result is the smaller of two maxima of Σ λᵢ/(λᵢ+γ): one ignores the bound η, and the other
// ignores the sum.
func (a At) mostDimension() float64 {
	eta := a.bound.Shrinkage
	s2 := a.eigen.Values
	unseen := a.unseen()
	// The maximum that ignores the bound η raises the smallest eigenvalues to a common level. The level is such
	// that their sum grows by bound.Tail.
	level := 0.0
	below := unseen
	left := a.bound.Tail + a.traceError()
	for i := len(s2); i > 0 && (s2[i-1]-level)*below <= left; i-- {
		left -= (s2[i-1] - level) * below
		level = s2[i-1]
		below++
	}
	if below > 0 {
		level += left / below
	}
	var filled, capped twofold.Total // the maximum without eᵢ ≤ η, and without Σeᵢ = T
	filled.Add(unseen * ratio(level, a.Gamma))
	capped.Add(unseen * ratio(eta, a.Gamma))
	for _, v := range s2 {
		filled.Add(ratio(math.Max(v, level), a.Gamma))
		capped.Add(ratio(v+eta, a.Gamma))
	}
	return math.Min(filled.Value(), capped.Value())
}

// ratio returns λ/(λ+γ).
func ratio(lambda, gamma float64) float64 {
	return lambda / (lambda + gamma)
}
