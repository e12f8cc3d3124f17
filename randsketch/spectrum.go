package randsketch

import (
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Spectrum approximates K = AᵀA by K̂ = Vᵀ·diag(Lambda)·V, where V has orthonormal rows. It approximates
// H(γ) = K + γI by
//
//	Ĥ(γ) = K̂ + γI + Floor·(I − VᵀV).
//
// The proved bounds on the error are
//
//	−Under·I ⪯ K − K̂ ⪯ Over·I.
//
// They are weak for a random S: K̂ may be too small by ‖A‖²_F and too large by its own largest eigenvalue.
//
// A Spectrum does not share memory with its sketch. Only one goroutine may call Solve at a time.
type Spectrum struct {
	Dim    int
	Lambda []float64 // λᵢ > 0, in descending order; r of them
	V      []float64 // r×Dim, row-major; rows orthonormal up to round-off
	// Floor approximates K in directions orthogonal to V. It is λ_m for a Nyström approximation of rank m, otherwise
	// 0.
	Floor       float64
	Over, Under float64

	be    engine.Backend
	eigen spectral.Eigen
	m     *spectral.Resolvent
	along []float64 // Vg for q vectors g, q×r
}

// Range returns bounds on the spectrum of Ĥ(γ)⁻¹H(γ), for H and Ĥ of [Spectrum]. A lo that is not positive
// means that there is no lower bound.
func (s *Spectrum) Range(gamma float64) (lo, hi float64) {
	least := (gamma - s.Under) / (gamma + s.Floor)
	most := 1 + s.Over/gamma
	return least * (1 - 4*eps), most * (1 + 4*eps)
}

// Solve overwrites row i of dst with Ĥ(γᵢ)⁻¹gᵢ, where gᵢ is row i of g. Both have q contiguous rows of
// length Dim, and dst may be g. With the eigenvalues λ = Lambda, the result for a row g of γ = γᵢ is
//
//	Vᵀ(Vg/(λ + γ)) + (g − VᵀVg)/(γ + Floor).
//
// The projection g − VᵀVg is repeated if the division would otherwise amplify its round-off.
func (s *Spectrum) Solve(q int, gamma []float64, g, dst []float64) {
	if s.m == nil {
		s.m = spectral.NewResolvent(&s.eigen, s.be)
	}
	s.eigen = spectral.Eigen{
		Dim:    s.Dim,
		Values: s.Lambda,
		V:      s.V,
		Rest:   s.Floor,
	}
	s.along = vec.Grow(s.along, q*len(s.Lambda))
	s.m.Project(q, g, s.along, dst)
	s.m.Invert(gamma[:q], s.along, dst)
}

// Spectrum returns the spectrum of K̂ = (SA)ᵀSA, by a singular value decomposition of SA. More rows may be
// appended to the sketch afterwards.
func (s *Sketch) Spectrum() (*Spectrum, error) {
	m, d := s.cfg.Rows, s.cfg.Dim
	p, err := spectrumOf(s.cfg.Backend, m, d, s.Matrix().RawMatrix().Data)
	if err != nil {
		return nil, err
	}
	// There are A and S that attain these bounds, or nearly: for example p.Over, if AᵀA has rank one and SA is almost
	// zero. Therefore the bounds are widened by the round-off of the sum and of V.
	p.Over = s.frob.Value()*(1+16*eps) + s.underflow()
	if len(p.Lambda) > 0 {
		p.Under = p.Lambda[0] * (1 + 64*float64(d)*eps)
	}
	return p, nil
}

// spectrumOf returns the spectrum of BᵀB for a k×d matrix B. It overwrites B.
func spectrumOf(be engine.Backend, k, d int, b []float64) (*Spectrum, error) {
	r := min(k, d)
	sigma := make([]float64, r)
	v := make([]float64, r*d)
	work := make([]float64, be.SVDWork(k, d))
	if !be.SVD(engine.View(k, d, b), sigma, engine.View(r, d, v), work) {
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
