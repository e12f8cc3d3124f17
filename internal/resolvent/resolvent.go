// Package resolvent applies (BᵀB + sI)⁻¹ for many s, given the eigenvalues of BᵀB and
// the eigenvectors of those that are not zero:
//
//	(BᵀB + sI)⁻¹g = Vᵀ(Vg/(λ + s)) + (g − VᵀVg)/(λ_rest + s),
//
// and evaluates what quadratic forms take of a g that has been projected onto V.
package resolvent

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
)

// Eigen is a decomposition of BᵀB, of order Dim.
type Eigen struct {
	Dim    int
	Values []float64 // λ, descending, r of them
	V      []float64 // r×Dim, row-major, orthonormal to round-off
	Rest   float64   // the eigenvalue that is taken for all vectors orthogonal to V
}

// Gradients are q vectors g with what a projection onto V has found of them. It belongs
// to whoever made it.
type Gradients struct {
	G     []float64 // q×d
	Along []float64 // Vg, q×r
	Off   []float64 // g − VᵀVg, q×d
}

// Move puts what belongs to vector i in the place of vector j.
func (g *Gradients) Move(i, j int, e *Eigen) {
	if i == j {
		return
	}
	d, r := e.Dim, len(e.Values)
	copy(g.G[j*d:(j+1)*d], g.G[i*d:(i+1)*d])
	copy(g.Along[j*r:(j+1)*r], g.Along[i*r:(i+1)*r])
	copy(g.Off[j*d:(j+1)*d], g.Off[i*d:(i+1)*d])
}

// Reserve takes the memory of q vectors, whose values may be any.
func (g *Gradients) Reserve(q int, e *Eigen) {
	d, r := e.Dim, len(e.Values)
	g.G, g.Along, g.Off = vec.Grow(g.G, q*d), vec.Grow(g.Along, q*r), vec.Grow(g.Off, q*d)
}

// A Resolvent keeps the workspace: one goroutine at a time may use it.
type Resolvent struct {
	*Eigen
	be   engine.Backend
	more []float64 // Vg of the second projection
}

// New makes the resolvent of e, which it keeps.
func New(e *Eigen, be engine.Backend) *Resolvent { return &Resolvent{Eigen: e, be: be} }

// Project overwrites along with Vg (q×r) and off with g − VᵀVg (q×d), for q rows of g,
// which may be off.
//
// Round-off leaves eps·‖g‖ of g along V in the complement. Where that is not small
// beside the complement itself, which is divided by s alone, it is projected
// once more (B. Parlett, The Symmetric Eigenvalue Problem, 1980, §6.9: twice is
// enough).
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

// cancelled reports whether any of the q complements is less than a tenth of the
// part along V that was taken off it.
func (m *Resolvent) cancelled(q int, along, off []float64) bool {
	d, r := m.Dim, len(m.Values)
	for i := range q {
		if !(vec.Norm(off[i*d:(i+1)*d]) >= 0.1*vec.Norm(along[i*r:(i+1)*r])) {
			return true
		}
	}
	return false
}

// ProjectAll projects the first q vectors of g: it overwrites g.Along and g.Off.
func (m *Resolvent) ProjectAll(q int, g *Gradients) { m.Project(q, g.G, g.Along, g.Off) }

// Invert overwrites the q rows of off, which Project left there, with
// (BᵀB + sᵢI)⁻¹gᵢ. along serves as workspace and is overwritten.
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

// A Projection is what quadratic forms of functions of BᵀB take of one vector g.
type Projection struct {
	Along []float64 // Vg
	Off   float64   // ‖g − VᵀVg‖
	Norm  float64   // ‖g‖
}

// Of is the projection of vector i, in the memory of g.
func (g *Gradients) Of(i int, e *Eigen) Projection {
	d, r := e.Dim, len(e.Values)
	return Projection{Along: g.Along[i*r : (i+1)*r], Off: vec.Norm(g.Off[i*d : (i+1)*d]), Norm: vec.Norm(g.G[i*d : (i+1)*d])}
}

// Norm is ‖φ(BᵀB)g‖ for a function φ of the eigenvalues. Products of r + 1 numbers with φ may
// underflow. Squares of these products do not: they are summed relative to the largest so far. The
// result is off by no more than (r+8)·2⁻⁵² of itself besides.
func (e *Eigen) Norm(p *Projection, phi func(lambda float64) float64) float64 {
	largest, sum := math.Abs(p.Off*phi(e.Rest)), 1.0
	for i, h := range p.Along {
		v := math.Abs(h * phi(e.Values[i]))
		if v > largest {
			sum = 1 + sum*(largest/v)*(largest/v)
			largest = v
		} else if v != 0 { // NaN, too
			sum += v / largest * (v / largest)
		}
	}
	return largest * math.Sqrt(sum)
}

// Largest is the largest eigenvalue, 0 where there is none.
func (e *Eigen) Largest() float64 {
	if len(e.Values) == 0 {
		return 0
	}
	return e.Values[0]
}
