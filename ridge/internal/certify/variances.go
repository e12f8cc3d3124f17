package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// unitVectors is the number of unit vectors that Variances projects together.
const unitVectors = 64

// inverseAbove returns the largest eigenvalue of the upper bound on H⁻¹.
func (a At) inverseAbove() float64 {
	out := a.above(a.eigen.Rest)
	for _, s2 := range a.eigen.Values {
		out = math.Max(out, a.above(s2))
	}
	return out
}

// Variances returns brackets of the diagonals of two matrices, with H = K + γI:
//
//	sampling: H⁻¹KH⁻¹,   posterior: H⁻¹.
//
// Multiplied by the variance of the noise, sampling is the variance of each coefficient over repeated samples, and
// posterior is its variance given the sample, under a normal prior.
//
// The sketch gives matrices L ⪯ H⁻¹ ⪯ U, see [At]. Let M = (L + U)/2. For the unit vector e of a column, let
// [lo, hi] be the bracket of eᵀH⁻¹e that follows from L and U. Then eᵀH⁻¹KH⁻¹e is between lo −
// γ‖Me‖² and hi − γ‖Me‖². docs/math.md §21 has the proof.
func (k *Known) Variances(gamma float64) (sampling, posterior []interval.Interval) {
	a, d, r := k.At(gamma), k.eigen.Dim, len(k.eigen.Values)
	m := spectral.NewResolvent(&k.eigen, k.Backend)
	// The proof requires that the bounds on H⁻¹ are at most 1/γ. The upper bound may be larger by round-off.
	beyond := math.Max(0, gamma*a.inverseAbove()-1) + few*eps
	for first := 0; first < d; first += unitVectors {
		q := min(unitVectors, d-first)
		g := spectral.Gradients{G: make([]float64, q*d), Along: make([]float64, q*r), Off: make([]float64, q*d)}
		for i := range q {
			g.G[i*d+first+i] = 1
		}
		m.ProjectAll(q, &g)
		for i := range q {
			p := g.Of(i, &k.eigen)
			inverse := a.quads(&p, 0)
			largest := math.Max(a.inverse(), a.above(k.eigen.Rest))
			slack := k.factor.onto*eps*largest + k.lostNorm()
			size := k.eigen.Norm(&p, a.middle)
			round := 2 * k.factor.along * eps
			least := math.Max(0, size*(1-round)-slack*(1+few*eps))
			most := size*(1+round) + slack*(1+few*eps)
			off := few*eps*inverse.Hi + beyond*(inverse.Hi-inverse.Lo)
			v := interval.Interval{
				Lo: math.Max(0, inverse.Lo-gamma*most*most*(1+few*eps)-off),
				Hi: math.Max(0, inverse.Hi-gamma*least*least*(1-few*eps)+off),
			}
			if !(v.Hi <= inverse.Hi) { // also if v.Hi is NaN
				v.Hi = inverse.Hi
			}
			// √λ/(λ + γ) is at most 1/(2√γ).
			if most := 1 / (4 * gamma) * (1 + few*eps); v.Hi > most {
				v.Hi = most
			}
			sampling, posterior = append(sampling, v), append(posterior, inverse)
		}
	}
	return sampling, posterior
}
