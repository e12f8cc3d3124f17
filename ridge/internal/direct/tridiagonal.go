package direct

import (
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// manyRows is how many rows are folded at a time where K is summed for many γ: what a fold adds
// to a chain of additions is little beside d, and K is read and written half as often.
const manyRows = 2 * roundoff.StageRows

// reduced is the normal equations with room for a reduction of K beside what Cholesky takes.
type reduced struct{ *normalEquations }

// NewTridiagonal streams K and c like [NewCholesky], for a [Reduction].
func NewTridiagonal(be engine.Backend, d, t int) Factorization {
	return reduced{newNormalEquations(be, d, t, manyRows)}
}

// A Reduction is K = QTQᵀ, Q orthogonal and T tridiagonal, which serves every γ:
//
//	(K + γI)⁻¹c = Q·(T + γI)⁻¹·Qᵀc
//
// takes O(d) beside the products with Q, which are made for all γ together (L. Eldén,
// "Algorithms for the regularization of ill-conditioned least squares problems", BIT 17, 1977).
type Reduction struct {
	e *normalEquations
	*Turned
}

// A Turned is a symmetric matrix, QTQᵀ, of which T + γI is solved with.
type Turned struct {
	T    *certify.Tridiagonal
	be   engine.Backend
	d    int
	a    []float64 // the reflections of Q
	tau  []float64
	ldl  []float64 // pivots of T + γI, and the factors beside the diagonal
	work []float64
}

// NewTurned reduces the matrix k (d×d, lower triangle) in a, of d² elements. columns are the norms
// of the columns of A, whose Gram matrix k is but for streamed in norm. It is nil if T is beyond
// range.
func NewTurned(be engine.Backend, k engine.Matrix, a, columns []float64, streamed float64) *Turned {
	d := k.Rows
	for i := range d {
		copy(a[i*d:i*d+i+1], k.Row(i))
	}
	r := &Turned{be: be, d: d, a: a, tau: make([]float64, d), ldl: make([]float64, 2*d)}
	diagonal, beside := make([]float64, d), make([]float64, d-1)
	if !be.Tridiagonal(engine.View(d, d, a), diagonal, beside, r.tau, make([]float64, be.TridiagonalWork(d))) {
		return nil
	}
	r.T = certify.NewTridiagonal(diagonal, beside, columns, streamed)
	off := r.defect(k)
	r.T.Reduced, r.T.Skew = off.reduced, off.skew
	return r
}

// Factor makes T + γI = LDLᵀ and returns the pivots, and the factors beside the diagonal of L, of
// which the first is not used; ok is false where that is not positive definite.
func (r *Turned) Factor(gamma float64) (pivots, factors []float64, ok bool) {
	ok = r.factor(gamma)
	return r.ldl[:r.d], r.ldl[r.d:], ok
}

// SolveEach overwrites each row of x (len(gammas)×d) with (QTQᵀ + γI)⁻¹ of it, at its γ. ok is
// false where one of these is not positive definite.
func (r *Turned) SolveEach(gammas, x []float64) (ok bool) {
	r.Turn(true, x)
	ok = true
	for i, gamma := range gammas {
		if !r.factor(gamma) {
			ok = false
			continue
		}
		r.solve(x[i*r.d : (i+1)*r.d])
	}
	r.Turn(false, x)
	return ok
}

// Reduce makes the reduction of K; it is nil for another factorization than NewTridiagonal's,
// and where T is beyond range.
func (s *System) Reduce() *Reduction {
	f, ok := s.f.(reduced)
	if !ok {
		return nil
	}
	e, d := f.normalEquations, f.d
	q := d + e.t
	size := vec.Norm(e.col[:d])
	streamed := roundoff.Unit*roundoff.GramSum(e.chain)*size*size + float64(d)*roundoff.LostSquares
	turned := NewTurned(e.be, engine.Strided(d, d, e.sum, q), make([]float64, d*d), e.col[:d], streamed)
	if turned == nil {
		return nil
	}
	return &Reduction{e, turned}
}

// Turn multiplies the rows of x by Q, or Qᵀ where trans is set.
func (r *Turned) Turn(trans bool, x []float64) {
	d := r.d
	k := len(x) / d
	r.work = vec.Grow(r.work, r.be.TurnWork(d, k))
	r.be.Turn(trans, engine.View(d, d, r.a), r.tau, engine.View(k, d, x), r.work)
}

// factor makes T + γI = LDLᵀ; false where that is not positive definite.
func (r *Turned) factor(gamma float64) bool {
	d := r.d
	p, l := r.ldl[:d], r.ldl[d:]
	for i, a := range r.T.Diagonal {
		p[i] = a + gamma
		if i > 0 {
			e := r.T.Beside[i-1]
			l[i] = e / p[i-1]
			p[i] -= float64(l[i] * e)
		}
		if !(p[i] > 0) {
			return false
		}
	}
	return true
}

// solve overwrites z with (T + γI)⁻¹z, once factor has been called.
func (r *Turned) solve(z []float64) {
	d := r.d
	p, l := r.ldl[:d], r.ldl[d:]
	for i := 1; i < d; i++ {
		z[i] -= float64(l[i] * z[i-1])
	}
	z[d-1] /= p[d-1]
	for i := d - 2; i >= 0; i-- {
		z[i] = z[i]/p[i] - float64(l[i+1]*z[i+1])
	}
}

// Batch is how many γ are to be solved for together: their vectors take no more than d² numbers.
func (r *Reduction) Batch() int { return max(1, r.e.d/(4*r.e.t)) }

// Solve returns the solutions at all γ together, nil for those at which T + γI is not
// positive definite.
func (r *Reduction) Solve(gammas []float64) []*certify.Factored {
	e, d := r.e, r.e.d
	rows := e.t * d
	c := make([]float64, rows)
	e.crossProducts(c)
	h := slices.Clone(c)
	r.Turn(true, h)
	x, definite := make([]float64, len(gammas)*rows), make([]bool, len(gammas))
	for i, gamma := range gammas {
		if definite[i] = r.factor(gamma); !definite[i] {
			continue
		}
		z := x[i*rows : (i+1)*rows]
		copy(z, h)
		for j := range e.t {
			r.solve(z[j*d : (j+1)*d])
		}
	}
	r.Turn(false, x)
	left := make([]float64, len(x))
	for i, gamma := range gammas {
		copy(left[i*rows:], c)
		vec.Axpy(-gamma, x[i*rows:(i+1)*rows], left[i*rows:(i+1)*rows])
	}
	e.residuals(x, left)
	out := make([]*certify.Factored, len(gammas))
	for i, gamma := range gammas {
		if definite[i] {
			out[i] = e.found(gamma, x[i*rows:(i+1)*rows:(i+1)*rows], left[i*rows:(i+1)*rows])
			out[i].T = r.T
		}
	}
	return out
}

// At is what the reduction tells of H at γ, without weights.
func (r *Reduction) At(gamma float64) *certify.Factored {
	return &certify.Factored{Gamma: gamma, Data: make([]float64, len(r.e.col)), T: r.T}
}

// Correct solves (K + γI)·step = g for each γ and the g that stands in its place, with what that
// leaves of g as computed. Both are len(gammas)×d. At these γ T + γI is positive definite.
func (r *Reduction) Correct(gammas, g []float64) (step, left []float64) {
	d := r.e.d
	step, left = slices.Clone(g), slices.Clone(g)
	r.Turn(true, step)
	for i, gamma := range gammas {
		r.factor(gamma)
		r.solve(step[i*d : (i+1)*d])
	}
	r.Turn(false, step)
	for i, gamma := range gammas {
		vec.Axpy(-gamma, step[i*d:(i+1)*d], left[i*d:(i+1)*d])
	}
	r.e.residuals(step, left)
	return step, left
}
