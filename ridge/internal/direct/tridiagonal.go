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
	e    *normalEquations
	a    []float64 // the reflections of Q
	tau  []float64
	t    *certify.Tridiagonal
	ldl  []float64 // pivots of T + γI, and the factors beside the diagonal
	work []float64
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
	r := &Reduction{e: e, a: make([]float64, d*d), tau: make([]float64, d), ldl: make([]float64, 2*d)}
	for i := range d {
		copy(r.a[i*d:i*d+i+1], e.sum[i*q:])
	}
	diagonal, beside := make([]float64, d), make([]float64, d-1)
	if !e.be.Tridiagonal(engine.View(d, d, r.a), diagonal, beside, r.tau, make([]float64, e.be.TridiagonalWork(d))) {
		return nil
	}
	size := vec.Norm(e.col[:d])
	streamed := roundoff.Unit*roundoff.GramSum(e.chain)*size*size + float64(d)*roundoff.LostSquares
	r.t = certify.NewTridiagonal(diagonal, beside, e.col[:d], streamed, roundoff.Eps*roundoff.Tridiagonal(float64(d))*size*size)
	return r
}

// turn multiplies the rows of x by Q, or Qᵀ.
func (r *Reduction) turn(trans bool, x []float64) {
	d := r.e.d
	k := len(x) / d
	r.work = vec.Grow(r.work, r.e.be.TurnWork(d, k))
	r.e.be.Turn(trans, engine.View(d, d, r.a), r.tau, engine.View(k, d, x), r.work)
}

// factor makes T + γI = LDLᵀ; false where that is not positive definite.
func (r *Reduction) factor(gamma float64) bool {
	d := r.e.d
	p, l := r.ldl[:d], r.ldl[d:]
	for i, a := range r.t.Diagonal {
		p[i] = a + gamma
		if i > 0 {
			e := r.t.Beside[i-1]
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
func (r *Reduction) solve(z []float64) {
	d := r.e.d
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
	r.turn(true, h)
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
	r.turn(false, x)
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
			out[i].T = r.t
		}
	}
	return out
}

// At is what the reduction tells of H at γ, without weights.
func (r *Reduction) At(gamma float64) *certify.Factored {
	return &certify.Factored{Gamma: gamma, Data: make([]float64, len(r.e.col)), T: r.t}
}

// Correct solves (K + γI)·step = g for each γ and the g that stands in its place, with what that
// leaves of g as computed. Both are len(gammas)×d. At these γ T + γI is positive definite.
func (r *Reduction) Correct(gammas, g []float64) (step, left []float64) {
	d := r.e.d
	step, left = slices.Clone(g), slices.Clone(g)
	r.turn(true, step)
	for i, gamma := range gammas {
		r.factor(gamma)
		r.solve(step[i*d : (i+1)*d])
	}
	r.turn(false, step)
	for i, gamma := range gammas {
		vec.Axpy(-gamma, step[i*d:(i+1)*d], left[i*d:(i+1)*d])
	}
	r.e.residuals(step, left)
	return step, left
}
