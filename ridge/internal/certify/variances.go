package certify

import (
	"math"

	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// unitVectors is the number of unit vectors that Variances projects together onto the right singular vectors of the
// sketch.
const unitVectors = 64

// inverseAbove returns the largest eigenvalue of the sketch's upper bound on (AᵀA + γI)⁻¹.
func (a At) inverseAbove() float64 {
	out := a.above(a.eigen.Rest)
	for _, s2 := range a.eigen.Values {
		out = math.Max(out, a.above(s2))
	}
	return out
}

// An upperBound is a matrix U ⪰ (AᵀA + γI)⁻¹ whose eigenvectors are the right singular vectors of the sketch B.
type upperBound struct {
	of      func(s2 float64) float64 // eigenvalue of U for an eigenvalue of BᵀB
	largest float64
	beyond  float64 // bounds max(0, γ·largest − 1), with its round-off
}

// upperBounds returns the known upper bounds on (AᵀA + γI)⁻¹. One of them is a multiple of I. The other one is
// the bound by the sketch, if this bound is valid. The elementwise minimum of two upper bounds is not an upper
// bound.
func (a At) upperBounds() []upperBound {
	plain := a.inverse()
	out := []upperBound{{func(float64) float64 { return plain }, plain, few * eps}}
	if a.definite {
		largest := a.inverseAbove()
		out = append(out, upperBound{
			of:      a.above,
			largest: largest,
			beyond:  math.Max(0, a.Gamma*largest-1) + few*eps,
		})
	}
	return out
}

// Variances returns brackets of the diagonals of two matrices, where K = AᵀA and H = K + γI:
//
//	sampling: H⁻¹KH⁻¹,   posterior: H⁻¹.
//
// Multiplied by the variance of the noise, sampling is the variance of each coefficient over repeated samples. With
// the same factor, posterior is the variance of each coefficient given the sample, under a normal prior.
//
// The sketch gives matrices L and U with L ⪯ H⁻¹ ⪯ U, see [At]. Let M = (L + U)/2. The unit vector e of a column
// satisfies
//
//	eᵀLe − γ‖Me‖² ≤ eᵀH⁻¹KH⁻¹e ≤ eᵀUe − γ‖Me‖².
//
// docs/math.md §21 has the proof. It needs the same U in M and in eᵀUe. Therefore each known U gives its own
// bracket, and the result is the intersection of these brackets.
func (k *Known) Variances(gamma float64) (sampling, posterior []interval.Interval) {
	a := k.At(gamma)
	d := k.eigen.Dim
	r := len(k.eigen.Values)
	m := spectral.NewResolvent(&k.eigen, k.Backend)
	uppers := a.upperBounds()
	for first := 0; first < d; first += unitVectors {
		q := min(unitVectors, d-first)
		g := spectral.Gradients{
			G:     make([]float64, q*d),
			Along: make([]float64, q*r),
			Off:   make([]float64, q*d),
		}
		for i := range q {
			g.G[i*d+first+i] = 1
		}
		m.ProjectAll(q, &g)
		for i := range q {
			p := g.Of(i, &k.eigen)
			inverse := a.quads(&p, 0)
			// √λ/(λ + γ) is at most 1/(2√γ).
			v := interval.Interval{Hi: math.Min(inverse.Hi, 1/(4*gamma)*upward)}
			for _, u := range uppers {
				w := a.variance(&p, u, inverse.Lo)
				if w.Hi < v.Hi { // false for a NaN
					v.Hi = w.Hi
				}
				if w.Lo > v.Lo {
					v.Lo = w.Lo
				}
			}
			sampling = append(sampling, v)
			posterior = append(posterior, inverse)
		}
	}
	return sampling, posterior
}

// variance returns a bracket of eᵀH⁻¹KH⁻¹e from the upper bound u, in the notation of [Known.Variances]. The
// argument p is the projection of the unit vector e onto the sketch, and lo must be at most eᵀLe.
func (a At) variance(p *spectral.Projection, u upperBound, lo float64) interval.Interval {
	round := 2 * a.factor.along * eps
	root := a.eigen.Norm(p, func(s2 float64) float64 {
		return math.Sqrt(u.of(s2))
	})*(1+round) +
		a.factor.onto*eps*math.Sqrt(u.largest) +
		a.lostNorm()
	hi := root * root * upward
	size := a.eigen.Norm(p, func(s2 float64) float64 {
		return (a.below(s2) + u.of(s2)) / 2
	})
	slack := (a.factor.onto*eps*u.largest + a.lostNorm()) * upward
	least := math.Max(0, size*(1-round)-slack)
	most := size*(1+round) + slack
	off := few*eps*hi + u.beyond*(hi-lo) + few*roundoff.Underflow
	return interval.Interval{
		Lo: lo - a.Gamma*most*most*upward - off,
		Hi: math.Max(0, hi-a.Gamma*least*least*downward+off),
	}
}
