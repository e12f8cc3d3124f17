package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// unitVectors is the number of unit vectors that Variances projects together.
const unitVectors = 64

// Variances returns brackets of the diagonals of two matrices, with H = K + γI:
//
//	sampling: H⁻¹KH⁻¹,   posterior: H⁻¹.
//
// Times the variance of the noise, they are the variances of the coefficients over repeated samples, and given the
// sample under a normal prior. For the unit vector e of a column, eᵀH⁻¹KH⁻¹e = eᵀH⁻¹e −
// γ‖H⁻¹e‖². With the mean M and the difference D of the two bounds on H⁻¹,
//
//	|‖H⁻¹e‖ − ‖Me‖| ≤ ½√(‖D‖·eᵀDe).
//
// docs/math.md §21 has the proof.
func (k *Known) Variances(gamma float64) (sampling, posterior []interval.Interval) {
	a, d, r := k.At(gamma), k.eigen.Dim, len(k.eigen.Values)
	m := resolvent.New(&k.eigen, k.Backend)
	widest := math.Sqrt(a.widestGap())
	for first := 0; first < d; first += unitVectors {
		q := min(unitVectors, d-first)
		g := resolvent.Gradients{G: make([]float64, q*d), Along: make([]float64, q*r), Off: make([]float64, q*d)}
		for i := range q {
			g.G[i*d+first+i] = 1
		}
		m.ProjectAll(q, &g)
		for i := range q {
			p := g.Of(i, &k.eigen)
			inverse := a.quads(&p, 0)
			largest := math.Max(a.inverse(), a.above(k.eigen.Rest))
			slack := widest*k.normAbove(&p, a.rootGap)/2 + k.factor.onto*eps*largest + k.lostNorm()
			size := k.eigen.Norm(&p, a.middle)
			round := 2 * k.factor.along * eps
			least := math.Max(0, size*(1-round)-slack*(1+few*eps))
			most := size*(1+round) + slack*(1+few*eps)
			off := few * eps * inverse.Hi
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
