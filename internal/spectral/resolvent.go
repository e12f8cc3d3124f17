// Package spectral computes with the eigenvectors of a matrix BᵀB, which are the rows of a matrix V. [Loss] bounds
// how far these rows are from orthonormal. A [Resolvent] applies functions of BᵀB to vectors.
package spectral

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// An Eigen is an eigendecomposition of a symmetric matrix BᵀB with Dim rows and columns.
type Eigen struct {
	Dim    int
	Values []float64 // the r eigenvalues λ that belong to V, in descending order
	V      []float64 // r×Dim, row-major; the rows are orthonormal up to round-off
	Rest   float64   // λ_rest, the eigenvalue of all vectors orthogonal to the rows of V
}

// Gradients holds q vectors g of length d and their projections. The rows of a matrix V are r eigenvectors. Each
// vector is projected on the span of these eigenvectors, and on the orthogonal complement of the span.
type Gradients struct {
	G     []float64 // the vectors g, q×d
	Along []float64 // Vg for each g, q×r
	Off   []float64 // g − VᵀVg for each g, q×d
}

// Move copies the vector with the index i, and its projections, to the index j.
func (g *Gradients) Move(i, j int, e *Eigen) {
	if i == j {
		return
	}
	d := e.Dim
	r := len(e.Values)
	copy(g.G[j*d:(j+1)*d], g.G[i*d:(i+1)*d])
	copy(g.Along[j*r:(j+1)*r], g.Along[i*r:(i+1)*r])
	copy(g.Off[j*d:(j+1)*d], g.Off[i*d:(i+1)*d])
}

// Reserve makes room for q vectors and their projections. The values are unspecified.
func (g *Gradients) Reserve(q int, e *Eigen) {
	d := e.Dim
	r := len(e.Values)
	g.G = vec.Grow(g.G, q*d)
	g.Along = vec.Grow(g.Along, q*r)
	g.Off = vec.Grow(g.Off, q*d)
}

// A Resolvent multiplies vectors g by (BᵀB + sI)⁻¹, for many values of s. It also computes norms
// ‖φ(BᵀB)g‖ for functions φ. Let λ be the known eigenvalues of BᵀB, and let the rows of V be their
// eigenvectors. Let all other eigenvalues be equal to λ_rest. Then
//
//	(BᵀB + sI)⁻¹g = Vᵀ(Vg/(λ + s)) + (g − VᵀVg)/(λ_rest + s).
//
// Only one goroutine at a time may use a Resolvent, because of its workspace.
type Resolvent struct {
	*Eigen
	be   engine.Backend
	more []float64 // Vg in the second projection
}

// NewResolvent returns the Resolvent of e. It keeps e.
func NewResolvent(e *Eigen, be engine.Backend) *Resolvent {
	return &Resolvent{Eigen: e, be: be}
}

// Project projects the q rows of g, each of length d, on the span of the r eigenvectors V and on its complement. It
// writes Vg to along (q×r), and g − VᵀVg to off (q×d). off may be the same slice as g.
//
// Because of round-off, g − VᵀVg still has a component of about eps·‖g‖ in the span of V. A later division
// by a small s would amplify this component. If the component is not small compared with g − VᵀVg, Project
// projects a second time. Two projections are enough (B. Parlett, The Symmetric Eigenvalue Problem, 1980, §6.9).
func (m *Resolvent) Project(q int, g, along, off []float64) {
	d := m.Dim
	r := len(m.Values)
	ld := max(r, 1)
	copy(off[:q*d], g[:q*d])
	m.be.Gemm(
		false,
		true,
		1,
		engine.View(q, d, off),
		engine.View(r, d, m.V),
		0,
		engine.Strided(q, r, along, ld),
	)
	m.be.Gemm(
		false,
		false,
		-1,
		engine.Strided(q, r, along, ld),
		engine.View(r, d, m.V),
		1,
		engine.View(q, d, off),
	)
	if !m.cancelled(q, along, off) {
		return
	}
	m.more = vec.Grow(m.more, q*r)
	m.be.Gemm(
		false,
		true,
		1,
		engine.View(q, d, off),
		engine.View(r, d, m.V),
		0,
		engine.Strided(q, r, m.more, ld),
	)
	m.be.Gemm(
		false,
		false,
		-1,
		engine.Strided(q, r, m.more, ld),
		engine.View(r, d, m.V),
		1,
		engine.View(q, d, off),
	)
	vec.Axpy(1, m.more, along[:q*r])
}

// cancelled reports whether a projection lost digits. This is so if, for any of the q vectors g, ‖g − VᵀVg‖
// is less than a tenth of ‖Vg‖. along holds the vectors Vg, and off holds the vectors g − VᵀVg.
func (m *Resolvent) cancelled(q int, along, off []float64) bool {
	d := m.Dim
	r := len(m.Values)
	for i := range q {
		if !(vec.Norm(off[i*d:(i+1)*d]) >= 0.1*vec.Norm(along[i*r:(i+1)*r])) {
			return true
		}
	}
	return false
}

// ProjectAll computes two projections of each of the first q vectors g in the argument g. With the eigenvectors V
// as rows, it writes Vg to g.Along and g − VᵀVg to g.Off.
func (m *Resolvent) ProjectAll(q int, g *Gradients) {
	m.Project(q, g.G, g.Along, g.Off)
}

// Invert multiplies each vector gᵢ by (BᵀB + sᵢI)⁻¹, and writes the result to row i of off. s holds the
// values sᵢ. Before the call, along and off must hold the results of [Resolvent.Project] for the vectors gᵢ.
// Invert also overwrites along.
func (m *Resolvent) Invert(s, along, off []float64) {
	d := m.Dim
	r := len(m.Values)
	q := len(s)
	for i, s := range s {
		h := along[i*r : (i+1)*r]
		vec.Scale(1/(m.Rest+s), off[i*d:(i+1)*d])
		for j, v := range m.Values {
			h[j] /= v + s
		}
	}
	m.be.Gemm(
		false,
		false,
		1,
		engine.View(q, r, along),
		engine.View(r, d, m.V),
		1,
		engine.View(q, d, off),
	)
}

// A Projection describes a vector g by the products and norms that [Eigen.Norm] needs. The rows of V are the
// eigenvectors.
type Projection struct {
	Along []float64 // Vg
	Off   float64   // ‖g − VᵀVg‖
	Norm  float64   // ‖g‖
}

// Of returns the Projection of the vector with the index i. The result shares memory with g.
func (g *Gradients) Of(i int, e *Eigen) Projection {
	d := e.Dim
	r := len(e.Values)
	return Projection{
		Along: g.Along[i*r : (i+1)*r],
		Off:   vec.Norm(g.Off[i*d : (i+1)*d]),
		Norm:  vec.Norm(g.G[i*d : (i+1)*d]),
	}
}

// Norm returns ‖φ(BᵀB)g‖ for the vector g that p describes. phi returns φ(λ) for an eigenvalue λ of BᵀB.
// For r eigenvectors, the relative error is at most (r+8)·2⁻⁵², unless a product of φ(λ) and a component of g
// underflows. The squares of these products do not underflow, because each is first divided by the largest.
func (e *Eigen) Norm(p *Projection, phi func(lambda float64) float64) float64 {
	largest := math.Abs(p.Off * phi(e.Rest))
	sum := 1.0
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

// Largest returns the largest eigenvalue in Values, or 0 if Values is empty.
func (e *Eigen) Largest() float64 {
	if len(e.Values) == 0 {
		return 0
	}
	return e.Values[0]
}
