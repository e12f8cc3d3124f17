package direct

import (
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// manyRows is the number of rows in a group if AᵀA will be reduced to tridiagonal form. It is twice StageRows, so
// that the sum AᵀA is read and written half as often.
const manyRows = 2 * roundoff.StageRows

// reduced accumulates AᵀA for a reduction to tridiagonal form.
type reduced struct{ *normalEquations }

// NewTridiagonal returns a factorization as [NewCholesky] does. It is for systems whose matrix [System.Reduce] will
// reduce to tridiagonal form.
func NewTridiagonal(be engine.Backend, d, t int, gram bool) Factorization {
	return reduced{newNormalEquations(be, d, t, manyRows, gram)}
}

// A Reduction is the reduction AᵀA = QTQᵀ with an orthogonal matrix Q and a tridiagonal matrix T. The ridge
// solution for targets Y at the penalty γ is
//
//	(AᵀA + γI)⁻¹AᵀY = Q·(T + γI)⁻¹·QᵀAᵀY.
//
// The solution for one target takes two products with Q and O(d) more operations for d features. The products for
// all penalties are computed together (L. Eldén, "Algorithms for the regularization of ill-conditioned least
// squares problems", BIT 17, 1977).
type Reduction struct {
	e *normalEquations
	*TridiagonalForm
}

// A TridiagonalForm is a symmetric matrix QTQᵀ with an orthogonal Q and a tridiagonal T. It solves systems with the
// matrix QTQᵀ + γI.
type TridiagonalForm struct {
	T    *certify.Tridiagonal
	be   engine.Backend
	d    int
	a    []float64 // the reflections of Q
	tau  []float64
	ldl  []float64 // pivots of T + γI = LDLᵀ, then the subdiagonal of L
	work []float64
}

// NewTridiagonalForm reduces k, a computed AᵀA, to the form QTQᵀ with Q orthogonal and T tridiagonal. It reads
// the lower triangle of the d×d matrix k, and stores the reflections of Q in the slice a of length d². The result
// columns holds the columns of Q, one after the other. The argument streamed bounds the norm of the error of k, and
// norms holds the norms of the columns of A. If T overflows, r is nil.
func NewTridiagonalForm(
	be engine.Backend,
	k engine.Matrix,
	a, norms []float64,
	streamed float64,
) (r *TridiagonalForm, columns []float64) {
	d := k.Rows
	for i := range d {
		copy(a[i*d:i*d+i+1], k.Row(i))
	}
	r = &TridiagonalForm{
		be:  be,
		d:   d,
		a:   a,
		tau: make([]float64, d),
		ldl: make([]float64, 2*d),
	}
	diagonal := make([]float64, d)
	beside := make([]float64, d-1)
	work := make([]float64, be.TridiagonalWork(d))
	if !be.Tridiagonal(engine.View(d, d, a), diagonal, beside, r.tau, work) {
		return nil, nil
	}
	r.T = certify.NewTridiagonal(diagonal, beside, norms, streamed)
	columns = make([]float64, d*d)
	off := r.defect(k, columns)
	r.T.Reduced = off.reduced
	r.T.Skew = off.skew
	return r, columns
}

// Factor computes T + γI = LDLᵀ, where L is lower triangular with a unit diagonal, and D is diagonal. It returns
// the diagonal of D in pivots, and the subdiagonal of L in factors[1:]. If T + γI is not positive definite, ok is
// false.
func (r *TridiagonalForm) Factor(gamma float64) (pivots, factors []float64, ok bool) {
	ok = r.factor(gamma)
	return r.ldl[:r.d], r.ldl[r.d:], ok
}

// SolveEach multiplies row i of x by the inverse of QTQᵀ + gammas[i]·I. If one of these matrices is not positive
// definite, ok is false.
func (r *TridiagonalForm) SolveEach(gammas, x []float64) (ok bool) {
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

// Reduce reduces AᵀA to tridiagonal form. It returns nil if s does not come from [NewTridiagonal], or if the
// tridiagonal matrix overflows.
func (s *System) Reduce() *Reduction {
	f, ok := s.f.(reduced)
	if !ok {
		return nil
	}
	e, d := f.normalEquations, f.d
	q := d + e.t
	size := vec.Norm(e.col[:d])
	streamed := roundoff.Unit*roundoff.GramSum(e.chain)*size*size + float64(d)*roundoff.LostSquares
	reduction, _ := NewTridiagonalForm(
		e.be,
		engine.Strided(d, d, e.sum, q),
		make([]float64, d*d),
		e.col[:d],
		streamed,
	)
	if reduction == nil {
		return nil
	}
	return &Reduction{e, reduction}
}

// Turn multiplies each row of x by the orthogonal matrix Q, or by Qᵀ if trans is true.
func (r *TridiagonalForm) Turn(trans bool, x []float64) {
	d := r.d
	k := len(x) / d
	r.work = vec.Grow(r.work, r.be.ApplyQWork(d, k))
	reflectors := engine.View(d, d, r.a)
	r.be.ApplyQ(trans, reflectors, r.tau, engine.View(k, d, x), r.work)
}

// factor factors T + γI = LDLᵀ into r.ldl. It returns false if T + γI is not positive definite.
func (r *TridiagonalForm) factor(gamma float64) bool {
	d := r.d
	p := r.ldl[:d]
	l := r.ldl[d:]
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

// solve overwrites z with (T + γI)⁻¹z, for the penalty γ of the last call of factor.
func (r *TridiagonalForm) solve(z []float64) {
	d := r.d
	p := r.ldl[:d]
	l := r.ldl[d:]
	for i := 1; i < d; i++ {
		z[i] -= float64(l[i] * z[i-1])
	}
	z[d-1] /= p[d-1]
	for i := d - 2; i >= 0; i-- {
		z[i] = z[i]/p[i] - float64(l[i+1]*z[i+1])
	}
}

// Batch returns the number of penalties to solve for together, at least 1. Their vectors take about d² numbers of
// memory for d features.
func (r *Reduction) Batch() int {
	return max(1, r.e.d/(4*r.e.t))
}

// Solve returns the solution at each penalty in gammas. If the tridiagonal matrix T + γI of a penalty γ is not
// positive definite, the solution at γ is nil.
func (r *Reduction) Solve(gammas []float64) []*certify.Factored {
	e, d := r.e, r.e.d
	rows := e.t * d
	c := make([]float64, rows)
	e.crossProducts(c)
	h := slices.Clone(c)
	r.Turn(true, h)

	x := make([]float64, len(gammas)*rows)
	definite := make([]bool, len(gammas))
	for i, gamma := range gammas {
		definite[i] = r.factor(gamma)
		if !definite[i] {
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
		from, to := i*rows, (i+1)*rows
		copy(left[from:], c)
		vec.Axpy(-gamma, x[from:to], left[from:to])
	}
	e.residuals(x, left)

	out := make([]*certify.Factored, len(gammas))
	for i, gamma := range gammas {
		if definite[i] {
			from, to := i*rows, (i+1)*rows
			out[i] = e.found(gamma, x[from:to:to], left[from:to])
			out[i].T = r.T
		}
	}
	return out
}

// At returns what error bounds by the reduction need at the penalty gamma. The result has no coefficients.
func (r *Reduction) At(gamma float64) *certify.Factored {
	return &certify.Factored{
		Gamma: gamma,
		Data:  make([]float64, len(r.e.col)),
		T:     r.T,
	}
}

// Correct solves (AᵀA + γI)·step = g for each penalty γ in gammas, where row i of g belongs to gammas[i]. left is
// the computed g − (AᵀA + γI)·step. Both results have len(gammas) rows of d features. T + γI must be positive
// definite for each penalty.
func (r *Reduction) Correct(gammas, g []float64) (step, left []float64) {
	d := r.e.d
	step = slices.Clone(g)
	left = slices.Clone(g)
	r.Turn(true, step)
	for i, gamma := range gammas {
		r.factor(gamma)
		r.solve(step[i*d : (i+1)*d])
	}
	r.Turn(false, step)
	for i, gamma := range gammas {
		from, to := i*d, (i+1)*d
		vec.Axpy(-gamma, step[from:to], left[from:to])
	}
	r.e.residuals(step, left)
	return step, left
}
