//go:build openblas && cgo

package cblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/fdridge/fdridge/engine/internal/eigen"
	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// SymEig computes all eigenvalues in descending order, and the eigenvectors of the k largest ones as rows of v. It
// uses package eigen with OpenBLAS products, because LAPACK is slower for the eigenproblems of a sketch. The
// LAPACKE routines dsytrd, dstedc and dormtr of the same OpenBLAS take 1.1 to 1.3 times as long. dsyevd takes
// longer still.
func (b *Backend) SymEig(
	a matrix.Matrix,
	w []float64,
	v matrix.Matrix,
	work []float64,
) (ok bool) {
	n, k := matrix.CheckSymEig(&a, w, &v)
	matrix.CheckWork(b.SymEigWork(n, k), len(work))
	checkInt32(a, v)
	b.enter(b.threadsFor(n))
	defer b.leave()
	return eigen.Sym((*inside)(b), b.fallback.RowLoops(), a, w, v, work)
}

// SymEigWork returns the length of the workspace of SymEig.
func (b *Backend) SymEigWork(n, k int) int { return eigen.Work(n, k) }

// inside provides matrix products for callers that have called enter and have not yet called leave. The methods of
// Backend and package eigen use these products. They multiply the output by beta in Go, because some versions of
// OpenBLAS compute NaN·0 for beta = 0.
type inside Backend

func (i *inside) Gemm(
	transA, transB bool,
	alpha float64,
	a, b matrix.Matrix,
	beta float64,
	c matrix.Matrix,
) {
	m, k := matrix.Shape(transA, &a)
	if m == 0 || c.Cols == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		for r := range m {
			scaleRow(beta, c.Row(r))
		}
		return
	}
	i.blas.Dgemm(
		op(transA),
		op(transB),
		m,
		c.Cols,
		k,
		alpha,
		a.Data,
		a.Stride,
		b.Data,
		b.Stride,
		beta,
		c.Data,
		c.Stride,
	)
}

// bandRows is the number of rows that Gemmt computes by one product. Gemmt computes a lower triangle. The product
// also gives entries right of the diagonal, which are not used.
const bandRows = 64

func (i *inside) Gemmt(
	transA, transB bool,
	alpha float64,
	a, b matrix.Matrix,
	beta float64,
	c matrix.Matrix,
) {
	for r := 0; r < c.Rows; r += bandRows {
		end := min(r+bandRows, c.Rows)
		i.Gemm(
			transA,
			transB,
			alpha,
			matrix.Span(transA, a, r, end),
			matrix.Span(!transB, b, 0, end),
			beta,
			c.Slice(r, end, 0, end),
		)
	}
}

func (i *inside) Gemv(
	trans bool,
	alpha float64,
	a matrix.Matrix,
	x []float64,
	beta float64,
	y []float64,
) {
	ny, nx := matrix.Shape(trans, &a)
	scaleRow(beta, y[:ny])
	if nx > 0 && ny > 0 && alpha != 0 {
		i.blas.Dgemv(op(trans), a.Rows, a.Cols, alpha, a.Data, a.Stride, x, 1, 1, y, 1)
	}
}

func (i *inside) Symv(a matrix.Matrix, x, y []float64) {
	n := a.Rows
	clear(y[:n])
	if n > 0 {
		i.blas.Dsymv(blas.Lower, n, 1, a.Data, a.Stride, x, 1, 1, y, 1)
	}
}

// Tridiagonal reduces the symmetric matrix A to tridiagonal form with package eigen and OpenBLAS products.
func (b *Backend) Tridiagonal(a matrix.Matrix, d, e, tau, work []float64) (ok bool) {
	n := matrix.CheckTridiagonal(&a, d, e, tau)
	matrix.CheckWork(b.TridiagonalWork(n), len(work))
	checkInt32(a)
	b.enter(b.threadsFor(n))
	defer b.leave()
	return eigen.Reduce((*inside)(b), a, d, e, tau, work)
}

// TridiagonalWork returns the length of the workspace of Tridiagonal.
func (*Backend) TridiagonalWork(n int) int { return eigen.ReduceWork(n) }

// ApplyQ multiplies the rows of x by the orthogonal matrix that Tridiagonal stored as reflections. It applies
// blocks of reflections at a time (compact WY form).
func (b *Backend) ApplyQ(
	trans bool,
	a matrix.Matrix,
	tau []float64,
	x matrix.Matrix,
	work []float64,
) {
	n, k := matrix.CheckApplyQ(&a, tau, &x)
	matrix.CheckWork(b.ApplyQWork(n, k), len(work))
	checkInt32(a, x)
	b.enter(b.threadsFor(n))
	defer b.leave()
	eigen.ApplyQ((*inside)(b), trans, a, tau, x, work)
}

// ApplyQWork returns the length of the workspace of ApplyQ.
func (*Backend) ApplyQWork(n, k int) int { return eigen.ApplyQWork(n, k) }
