package certify

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// MostTrials is the largest number of vectors that a [Trial] may have of its own, beside the shared vectors.
const MostTrials = 4

// A TrialSpace describes m vectors v₁ … v_m that all trial spaces for a matrix A have in common. For a penalty
// γ, let M(γ) be the matrix with the elements (Avᵢ)ᵀ(Avⱼ) + γ·vᵢᵀvⱼ. The vectors are chosen so that
// M(γ) is nearly the diagonal matrix D = diag(Values) + γI.
type TrialSpace struct {
	Values []float64 // m, nonnegative
	Defect float64   // bounds ‖D^{-½}(M(γ) − D)D^{-½}‖ for every γ
	Round  float64   // bounds the round-off of a product with A, relative to Size and the norm of the vector
	Size   float64   // bounds ‖A‖_F
}

// A Trial describes the trial space of one quadratic form fᵀ(AᵀA + γI)⁻¹f. The space is spanned by the m
// shared vectors of the [TrialSpace] and k ≤ [MostTrials] vectors of its own. For a form fᵀ(AAᵀ + γI)⁻¹f,
// the matrix A in all comments here stands for Aᵀ.
type Trial struct {
	Shared []float64 // products of f with the shared vectors, m
	Own    []float64 // products of f with the own vectors, k
	// CrossP holds (Au)ᵀ(Av), and CrossV holds uᵀv, for each own vector u and each shared vector v. Both are k×m.
	CrossP, CrossV []float64
	// P holds (Au)ᵀ(Au′), and V holds uᵀu′, for each pair of own vectors u and u′. Both are k×k.
	P, V []float64
	// Before holds the norm of x for each own vector that was computed as a product Aᵀx. It is nil if the own vectors
	// were computed in another way.
	Before []float64
}

// A TrialWork is a workspace of [TrialSpace.Below] for one penalty gamma.
type TrialWork struct {
	gamma                   float64
	diagonal, inverse, root []float64 // D, 1/D and √D
}

// NewTrialWork returns a workspace for γ.
func (s *TrialSpace) NewTrialWork(gamma float64) *TrialWork {
	w := &TrialWork{gamma: gamma}
	for _, v := range s.Values {
		w.diagonal = append(w.diagonal, v+gamma)
		w.inverse = append(w.inverse, 1/(v+gamma))
		w.root = append(w.root, math.Sqrt(v+gamma))
	}
	return w
}

// Below returns a lower bound on scale²·fᵀM⁻¹f for the form that t describes, where M = AᵀA + γI. It
// returns 0 if it finds no positive bound. Every vector z of the trial space satisfies
//
//	fᵀM⁻¹f ≥ 2fᵀz − zᵀMz.
//
// Below chooses a good z in plain arithmetic and bounds the round-off of the right side. docs/math.md, Theorem
// 10.8, has the proof.
func (s *TrialSpace) Below(w *TrialWork, scale float64, t *Trial) float64 {
	var own [MostTrials]float64
	m := len(s.Values)
	k := len(t.Own)
	tau := own[:len(t.Own)]
	t.solve(w, scale, tau)
	var along, products, squares, sizes, terms, sum float64
	for l, f := range t.Shared {
		y := 0.0
		for a, v := range tau {
			y += (t.CrossP[a*m+l] + w.gamma*t.CrossV[a*m+l]) * v
		}
		f *= scale
		c := (f - y) * w.inverse[l]
		along += f * c
		products += c * y
		squares += c * c * w.diagonal[l]
		sizes += math.Abs(c) * w.root[l]
		terms += math.Abs(f * c)
		sum += math.Abs(c)
	}
	quad := squares + 2*products
	norms := math.Sqrt2 * (1 + s.Defect) * sizes
	for a, v := range tau {
		along += scale * t.Own[a] * v
		terms += math.Abs(scale * t.Own[a] * v)
		sum += math.Abs(v)
		for b, o := range tau {
			quad += (t.P[a*k+b] + w.gamma*t.V[a*k+b]) * v * o
		}
		norm := math.Sqrt(t.P[a*k+a]) + math.Sqrt(w.gamma*t.V[a*k+a])
		if t.Before != nil {
			norm += w.gamma * t.Before[a]
		}
		norms += math.Abs(v) * norm
	}
	far := 1 + s.Size/math.Sqrt(w.gamma)
	off := 8*s.Round*far*far*(norms*norms+norms) + s.Defect*squares
	off += 8 * (float64(m+k) + few) * roundoff.Unit * (norms*norms + terms)
	off += (sum + sum*sum) * underflowing
	bound := 2*along - quad - off*inflate
	if !(bound > 0) || math.IsInf(bound, 0) {
		return 0
	}
	return bound
}

// underflowing bounds the underflow error of the products that [TrialSpace.Below] adds. It requires that γ and
// Size² are between 2⁻¹⁰⁰ and 2¹⁰⁰ (docs/math.md, Theorem 10.8).
const underflowing = 0x1p-900

// solve overwrites tau with the coefficients of the trial's own vectors that maximise the bound of
// [TrialSpace.Below]. It eliminates the shared vectors first, and then solves for the own vectors by Cholesky. An
// own vector gets the coefficient 0 if it nearly depends on the other vectors or is mostly round-off.
func (t *Trial) solve(w *TrialWork, scale float64, tau []float64) {
	k, m := len(tau), len(w.inverse)
	var s [MostTrials][MostTrials]float64
	var f [MostTrials]float64
	for a := range k {
		f[a] = scale * t.Own[a]
		for b := range a + 1 {
			s[a][b] = t.P[a*k+b] + w.gamma*t.V[a*k+b]
		}
	}
	for l, inverse := range w.inverse {
		var cross [MostTrials]float64
		for a := range k {
			cross[a] = t.CrossP[a*m+l] + w.gamma*t.CrossV[a*m+l]
		}
		for a := range k {
			v := cross[a] * inverse
			f[a] -= v * scale * t.Shared[l]
			for b := range a + 1 {
				s[a][b] -= v * cross[b]
			}
		}
	}
	const dependent, noise = 1e-10, 1e-6
	for a := range k {
		whole := t.P[a*k+a] + w.gamma*t.V[a*k+a]
		rounded := t.Before != nil &&
			math.Sqrt(whole) < noise*w.gamma*t.Before[a]
		for b := range a {
			for c := range b {
				s[a][b] -= s[a][c] * s[b][c]
			}
			s[a][b] /= s[b][b]
			s[a][a] -= s[a][b] * s[a][b]
		}
		if !(s[a][a] > dependent*whole) || !(whole > 0) || rounded { // this row does not take part
			s[a][a] = math.Inf(1)
			for b := range a {
				s[a][b] = 0
			}
			f[a] = 0
			continue
		}
		s[a][a] = math.Sqrt(s[a][a])
	}
	for a := range k {
		for b := range a {
			f[a] -= s[a][b] * f[b]
		}
		f[a] /= s[a][a]
	}
	for a := k - 1; a >= 0; a-- {
		for b := a + 1; b < k; b++ {
			f[a] -= s[b][a] * f[b]
		}
		f[a] /= s[a][a]
		tau[a] = f[a]
	}
}
