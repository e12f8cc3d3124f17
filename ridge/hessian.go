package ridge

import (
	"context"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// A Hessian stands for H(γ) = AᵀA + γI: an Ĥ(γ) that is cheap to invert, and how
// far it is from H. The solvers know nothing else about it.
type Hessian interface {
	// Solve overwrites row i of dst with Ĥ(γᵢ)⁻¹gᵢ for each of the q rows of g
	// (q×d, contiguous).
	Solve(q int, gamma []float64, g, dst []float64)
	// Range bounds the spectrum of Ĥ(γ)⁻¹H(γ). lo <= 0 says that nothing is
	// known below.
	Range(gamma float64) (lo, hi float64)
}

// A Refresher is a Hessian that every step makes anew from the data, as the
// Iterative Hessian Sketch does (M. Pilanci, M. Wainwright, JMLR 17, 2016). A
// solver calls Refresh before each Solve, the first included. Only Newton takes
// one: the other methods need the same Ĥ throughout.
type Refresher interface {
	Hessian
	Refresh(ctx context.Context) error
}

// Identity is the Hessian of methods that go without one: Ĥ = γI. With it CG is
// plain conjugate gradients and Newton is gradient descent with step 1/γ.
type Identity struct {
	// Largest bounds ‖A‖²₂, for Range; ‖A‖²_F does.
	Largest float64
}

func (h Identity) Solve(q int, gamma []float64, g, dst []float64) {
	d := len(g) / max(q, 1)
	for i := range q {
		row := dst[i*d : (i+1)*d]
		copy(row, g[i*d:(i+1)*d])
		scale(1/gamma[i], row)
	}
}

// Range is [1, 1 + Largest/γ].
func (h Identity) Range(gamma float64) (lo, hi float64) { return 1, 1 + h.Largest/gamma }

// contraction bounds ‖I − Ĥ⁻¹H‖ in the norm of Ĥ, the factor by which a Newton step
// shrinks the error.
func contraction(h Hessian, gamma float64) float64 {
	lo, hi := h.Range(gamma)
	return max(1-lo, hi-1) + eps
}

// sketched is the Hessian of a Frequent Directions sketch: Ĥ = BᵀB + (γ + shift)I
// with shift = ρ for RFD and 0 for FD.
type sketched struct {
	spec  *fd.Spectrum
	shift float64
	be    engine.Backend

	h, h2 []float64 // coefficients along V, q×r
	s     []float64 // shifts of the rows
}

func newSketched(spec *fd.Spectrum, robust bool, be engine.Backend) *sketched {
	m := &sketched{spec: spec, be: be}
	if robust {
		m.shift = spec.Bound.Shift()
	}
	return m
}

// Range follows from −pad ⪯ K − BᵀB ⪯ η + pad. For FD the spectrum of Ĥ⁻¹H lies
// in [1, 1 + η/γ]; for RFD in [γ/(γ+ρ), 1 + ρ/(γ+ρ)]. The paper uses the
// spectral radius of I − Ĥ⁻¹H for its norm (Lemmas on contraction); these
// bounds need neither.
func (m *sketched) Range(gamma float64) (lo, hi float64) {
	b, s := m.spec.Bound, gamma+m.shift
	return (gamma - b.RoundOff) / s, 1 + (b.FD()-m.shift)/s
}

func (m *sketched) Solve(q int, gamma []float64, g, dst []float64) {
	m.s = grow(m.s, q)
	for i := range q {
		m.s[i] = gamma[i] + m.shift
	}
	m.resolvent(q, m.s, g, dst)
}

// resolvent overwrites row i of dst with (BᵀB + sᵢI)⁻¹gᵢ.
func (m *sketched) resolvent(q int, s, g, dst []float64) {
	m.project(q, g, dst)
	m.invert(q, s, dst)
}

// invert is the second half of resolvent, for the h = Vg that project left in m.h
// and the complement that it left in rest, which the result overwrites:
//
//	Vᵀ(h/(σ² + s)) + (g − Vᵀh)/s,
//
// or, where V spans all, what round-off has left of the complement by σ_d² + s.
func (m *sketched) invert(q int, s, rest []float64) {
	d, r, floor := m.spec.Dim, len(m.spec.Sigma2), floor(m.spec)
	for i := range q {
		h := m.h[i*r : (i+1)*r]
		scale(1/(floor+s[i]), rest[i*d:(i+1)*d])
		for j, s2 := range m.spec.Sigma2 {
			h[j] /= s2 + s[i]
		}
	}
	m.be.Gemm(false, false, 1, engine.View(q, r, m.h), engine.View(r, d, m.spec.V), 1, engine.View(q, d, rest))
}

// project writes Vg to m.h (q×r) and the complement g − VᵀVg to dst (q×d).
//
// Round-off leaves eps·‖g‖ of g along V in the complement. Where that is not small
// beside the complement itself, which invert divides by s alone, it is projected
// once more (B. Parlett, The Symmetric Eigenvalue Problem, 1980, §6.9: twice is
// enough).
func (m *sketched) project(q int, g, dst []float64) {
	d, r := m.spec.Dim, len(m.spec.Sigma2)
	m.h, m.h2 = grow(m.h, q*r), grow(m.h2, q*r)
	copy(dst[:q*d], g[:q*d])
	m.be.Gemm(false, true, 1, engine.View(q, d, dst), engine.View(r, d, m.spec.V), 0, engine.View(q, r, m.h))
	m.be.Gemm(false, false, -1, engine.View(q, r, m.h), engine.View(r, d, m.spec.V), 1, engine.View(q, d, dst))
	if !m.cancelled(q, dst) {
		return
	}
	m.be.Gemm(false, true, 1, engine.View(q, d, dst), engine.View(r, d, m.spec.V), 0, engine.View(q, r, m.h2))
	m.be.Gemm(false, false, -1, engine.View(q, r, m.h2), engine.View(r, d, m.spec.V), 1, engine.View(q, d, dst))
	axpy(1, m.h2, m.h)
}

// cancelled reports whether any of the q complements is less than a tenth of the
// part along V that was taken off it.
func (m *sketched) cancelled(q int, rest []float64) bool {
	d, r := m.spec.Dim, len(m.spec.Sigma2)
	for i := range q {
		if !(norm(rest[i*d:(i+1)*d]) >= 0.1*norm(m.h[i*r:(i+1)*r])) {
			return true
		}
	}
	return false
}
