package certify

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// EffectiveDimension brackets tr(H⁻¹K) = Σφ(λᵢ), φ(λ) = λ/(λ+γ), by what is known
// of the eigenvalues of K: λᵢ = σᵢ² + eᵢ with 0 ≤ eᵢ ≤ η, Σeᵢ = T, the tail mass, of which the
// least or the most is taken where it is known to within a slack alone,
// and no more than rank(A) of them positive (σᵢ = 0 past the sketch). φ is concave,
// so the sum is least where T goes first to the largest σᵢ², η to each, and greatest
// where it fills up the smallest ones to one level. Round-off blurs each λᵢ by pad.
func (a At) EffectiveDimension() interval.Interval {
	rank, most := float64(a.Rank()), a.inverse()
	slope := a.Gamma * most * most                            // the steepest of φ
	tail := (24*eps + a.factor.skew*eps) * a.bound.Frobenius2 // of ‖A‖²_F and of the lengths of V's rows
	pad := float64(a.eigen.Dim)*(a.bound.RoundOff*slope+few*eps) + tail*slope
	return interval.Interval{
		Lo: math.Min(rank, math.Max(0, a.leastDimension()-pad)),
		Hi: math.Min(rank, a.mostDimension()+pad),
	}
}

func (a At) leastDimension() float64 {
	eta := a.bound.Shrinkage
	left := 0.0 // of T, in units of η
	if eta > 0 {
		left = (a.bound.Tail - a.bound.TailSlack) / eta
	}
	df := 0.0
	for _, s2 := range a.eigen.Values {
		part := math.Min(1, left)
		left -= part
		df += (1-part)*ratio(s2, a.Gamma) + part*ratio(s2+eta, a.Gamma)
	}
	return df + math.Min(left, a.unseen())*ratio(eta, a.Gamma)
}

// unseen is how many eigenvalues of K may be positive that the sketch has none for.
func (k *Known) unseen() float64 { return math.Max(0, float64(k.Rank()-len(k.eigen.Values))) }

// mostDimension is the lesser of two relaxations: Σeᵢ = T without eᵢ ≤ η, and the
// other way round.
func (a At) mostDimension() float64 {
	eta, s2, unseen := a.bound.Shrinkage, a.eigen.Values, a.unseen()
	// Raising the level to s2[i] takes s2[i] − level for each one below it.
	level, below, left := 0.0, unseen, a.bound.Tail
	for i := len(s2); i > 0 && (s2[i-1]-level)*below <= left; i-- {
		left -= (s2[i-1] - level) * below
		level, below = s2[i-1], below+1
	}
	if below > 0 {
		level += left / below
	}
	filled, capped := unseen*ratio(level, a.Gamma), unseen*ratio(eta, a.Gamma)
	for _, v := range s2 {
		filled += ratio(math.Max(v, level), a.Gamma)
		capped += ratio(v+eta, a.Gamma)
	}
	return math.Min(filled, capped)
}

// ratio is λ/(λ+γ).
func ratio(lambda, gamma float64) float64 { return lambda / (lambda + gamma) }
