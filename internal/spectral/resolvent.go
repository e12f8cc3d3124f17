// Package spectral computes with eigenvectors V of a matrix BᵀB. [Loss] bounds how far V is from orthonormal. A
// [Resolvent] applies functions of BᵀB to vectors.
package spectral

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// An Eigen is an eigendecomposition of BᵀB, which is Dim×Dim.
type Eigen struct {
	Dim    int
	Values []float64 // the r eigenvalues λ that belong to V, in descending order
	V      []float64 // r×Dim, row-major; the rows are orthonormal up to round-off
	Rest   float64   // λ_rest, the eigenvalue of all vectors orthogonal to the rows of V
}

// Gradients holds q vectors g of length d, and their projections on the span of the r rows of V and on its
// complement.
type Gradients struct {
	G     []float64 // the vectors g, q×d
	Along []float64 // Vg for each g, q×r
	Off   []float64 // g − VᵀVg for each g, q×d
}

// Move copies vector i and its projections to position j.
func (g *Gradients) Move(i, j int, e *Eigen) {
	if i == j {
		return
	}
	d, r := e.Dim, len(e.Values)
	copy(g.G[j*d:(j+1)*d], g.G[i*d:(i+1)*d])
	copy(g.Along[j*r:(j+1)*r], g.Along[i*r:(i+1)*r])
	copy(g.Off[j*d:(j+1)*d], g.Off[i*d:(i+1)*d])
}

// Reserve makes room for q vectors, whose values are unspecified.
func (g *Gradients) Reserve(q int, e *Eigen) {
	d, r := e.Dim, len(e.Values)
	g.G, g.Along, g.Off = vec.Grow(g.G, q*d), vec.Grow(g.Along, q*r), vec.Grow(g.Off, q*d)
}

// A Resolvent applies (BᵀB + sI)⁻¹ to vectors g, for many values of s, and computes norms ‖φ(BᵀB)g‖ for
// functions φ. Let λ be the nonzero eigenvalues of BᵀB, V their eigenvectors as rows, and λ_rest the value of all
// other eigenvalues. Then
//
//	(BᵀB + sI)⁻¹g = Vᵀ(Vg/(λ + s)) + (g − VᵀVg)/(λ_rest + s).
//
// Its workspace allows only one goroutine at a time.
type Resolvent struct {
	*Eigen
	be   engine.Backend
	more []float64 // Vg in the second projection
}

// NewResolvent returns the Resolvent of e. It keeps e.
func NewResolvent(e *Eigen, be engine.Backend) *Resolvent { return &Resolvent{Eigen: e, be: be} }

// Project computes two results for each of the q rows of g: Vg, written to along (q×r), and g − VᵀVg, written to
// off (q×d). off may be the same slice as g.
//
// Because of round-off, g − VᵀVg still has a component of about eps·‖g‖ in the span of V. Division by s
// would amplify this component. If it is not small compared with g − VᵀVg, Project projects a second time. Twice
// is enough (B. Parlett, The Symmetric Eigenvalue Problem, 1980, §6.9).
func (m *Resolvent) Project(q int, g, along, off []float64) {
	d, r := m.Dim, len(m.Values)
	ld := max(r, 1)
	copy(off[:q*d], g[:q*d])
	m.be.Gemm(false, true, 1, engine.View(q, d, off), engine.View(r, d, m.V), 0, engine.Strided(q, r, along, ld))
	m.be.Gemm(false, false, -1, engine.Strided(q, r, along, ld), engine.View(r, d, m.V), 1, engine.View(q, d, off))
	if !m.cancelled(q, along, off) {
		return
	}
	m.more = vec.Grow(m.more, q*r)
	m.be.Gemm(false, true, 1, engine.View(q, d, off), engine.View(r, d, m.V), 0, engine.Strided(q, r, m.more, ld))
	m.be.Gemm(false, false, -1, engine.Strided(q, r, m.more, ld), engine.View(r, d, m.V), 1, engine.View(q, d, off))
	vec.Axpy(1, m.more, along[:q*r])
}

// cancelled reports whether, for any of the q vectors g, ‖g − VᵀVg‖ is less than a tenth of ‖Vg‖.
func (m *Resolvent) cancelled(q int, along, off []float64) bool {
	d, r := m.Dim, len(m.Values)
	for i := range q {
		if !(vec.Norm(off[i*d:(i+1)*d]) >= 0.1*vec.Norm(along[i*r:(i+1)*r])) {
			return true
		}
	}
	return false
}

// ProjectAll computes the projections Vg (g.Along) and g − VᵀVg (g.Off) of the first q vectors of g.
func (m *Resolvent) ProjectAll(q int, g *Gradients) { m.Project(q, g.G, g.Along, g.Off) }

// Invert overwrites row i of off with (BᵀB + sᵢI)⁻¹gᵢ, for each value sᵢ in s. On entry, along and off
// must hold the results of Project for the vectors gᵢ. Invert also overwrites along.
func (m *Resolvent) Invert(s, along, off []float64) {
	d, r, q := m.Dim, len(m.Values), len(s)
	for i, s := range s {
		h := along[i*r : (i+1)*r]
		vec.Scale(1/(m.Rest+s), off[i*d:(i+1)*d])
		for j, v := range m.Values {
			h[j] /= v + s
		}
	}
	m.be.Gemm(false, false, 1, engine.View(q, r, along), engine.View(r, d, m.V), 1, engine.View(q, d, off))
}

// A Projection holds the norms and products that Norm needs to compute ‖φ(BᵀB)g‖ for a vector g.
type Projection struct {
	Along []float64 // Vg
	Off   float64   // ‖g − VᵀVg‖
	Norm  float64   // ‖g‖
}

// Of returns the Projection of vector i. It shares memory with g.
func (g *Gradients) Of(i int, e *Eigen) Projection {
	d, r := e.Dim, len(e.Values)
	return Projection{
		Along: g.Along[i*r : (i+1)*r],
		Off:   vec.Norm(g.Off[i*d : (i+1)*d]),
		Norm:  vec.Norm(g.G[i*d : (i+1)*d]),
	}
}

// Norm returns ‖φ(BᵀB)·g‖. phi computes φ(λ) for an eigenvalue λ of BᵀB. The relative error is at most
// (r+8)·2⁻⁵², unless a product of φ(λ) and a component of g underflows. Squares do not underflow, because all
// terms are divided by the largest one.
func (e *Eigen) Norm(p *Projection, phi func(lambda float64) float64) float64 {
	largest, sum := math.Abs(p.Off*phi(e.Rest)), 1.0
	for i, h := range p.Along {
		v := math.Abs(h * phi(e.Values[i]))
		if v > largest {
			sum = 1 + sum*(largest/v)*(largest/v)
			largest = v
		} else if v != 0 { // true also for a NaN
			sum += v / largest * (v / largest)
		}
	}
	return largest * math.Sqrt(sum)
}

// Largest returns the largest eigenvalue, or 0 if Values is empty.
func (e *Eigen) Largest() float64 {
	if len(e.Values) == 0 {
		return 0
	}
	return e.Values[0]
}
