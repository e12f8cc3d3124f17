package randsketch

import (
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/resolvent"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Spectrum is a sketch as it is used: K̂ = Vᵀ·diag(Lambda)·V with orthonormal rows
// of V stands for K = AᵀA, and
//
//	Ĥ(γ) = K̂ + γI + Floor·(I − VᵀV)
//
// for H(γ) = K + γI. What is known for certain is
//
//	−Under·I ⪯ K − K̂ ⪯ Over·I,
//
// which for a random S is little: K̂ may miss K by ‖A‖²_F and exceed it by λ₁.
//
// It is independent of the sketch it came from. One goroutine may call Solve at a
// time.
type Spectrum struct {
	Dim         int
	Lambda      []float64 // λᵢ, descending, all positive, r of them
	V           []float64 // r×Dim, row-major, orthonormal to round-off
	Floor       float64   // what stands for K across V: λ_m of a Nyström approximation, else 0
	Over, Under float64

	be    engine.Backend
	eigen resolvent.Eigen
	m     *resolvent.Resolvent
	along []float64 // coefficients along V, q×r
}

// Range bounds the spectrum of Ĥ(γ)⁻¹H(γ). lo <= 0 says that nothing is known
// below.
func (s *Spectrum) Range(gamma float64) (lo, hi float64) {
	return (gamma - s.Under) / (gamma + s.Floor) * (1 - 4*eps), (1 + s.Over/gamma) * (1 + 4*eps)
}

// Solve overwrites row i of dst with Ĥ(γᵢ)⁻¹gᵢ for each of the q rows of g (q×d,
// contiguous; dst may be g),
//
//	Vᵀ(Vg/(λ + γ)) + (g − VᵀVg)/(γ + Floor).
//
// The complement is projected as often as it takes for round-off along V not to be blown
// up by the division.
func (s *Spectrum) Solve(q int, gamma []float64, g, dst []float64) {
	if s.m == nil {
		s.m = resolvent.New(&s.eigen, s.be)
	}
	s.eigen = resolvent.Eigen{Dim: s.Dim, Values: s.Lambda, V: s.V, Rest: s.Floor}
	s.along = vec.Grow(s.along, q*len(s.Lambda))
	s.m.Project(q, g, s.along, dst)
	s.m.Invert(gamma[:q], s.along, dst)
}

// Spectrum reads the sketch of A as K̂ = (SA)ᵀSA, by a singular value decomposition
// of SA. The sketch is unchanged and the stream may go on.
func (s *Sketch) Spectrum() (*Spectrum, error) {
	m, d := s.cfg.Rows, s.cfg.Dim
	p, err := spectrumOf(s.cfg.Backend, m, d, s.Matrix().RawMatrix().Data)
	if err != nil {
		return nil, err
	}
	// Both bounds are reached, by a K of rank one that S almost misses. So they are widened
	// by what round-off may do: to the sum, and to the orthonormality of V.
	p.Over = s.frob.Value()*(1+16*eps) + s.underflow()
	if len(p.Lambda) > 0 {
		p.Under = p.Lambda[0] * (1 + 64*float64(d)*eps)
	}
	return p, nil
}

// spectrumOf returns the spectrum of BᵀB for B k×d, which is overwritten.
func spectrumOf(be engine.Backend, k, d int, b []float64) (*Spectrum, error) {
	r := min(k, d)
	sigma, v := make([]float64, r), make([]float64, r*d)
	if !be.SVD(engine.View(k, d, b), sigma, engine.View(r, d, v), make([]float64, be.SVDWork(k, d))) {
		return nil, errNoConvergence
	}
	p := &Spectrum{Dim: d, be: be}
	for _, s := range sigma {
		if s*s > 0 {
			p.Lambda = append(p.Lambda, s*s)
		}
	}
	p.V = v[:len(p.Lambda)*d]
	return p, nil
}

// eps is the distance from 1 to the next float64.
const eps = 0x1p-52
