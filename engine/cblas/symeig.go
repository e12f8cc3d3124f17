//go:build openblas && cgo

package cblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/fdridge/fdridge/engine/internal/eigen"
	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// SymEig computes all eigenvalues, descending, and the k leading eigenvectors as
// rows, by package eigen on OpenBLAS's products. LAPACKE's dsytrd, dstedc and dormtr
// on the same OpenBLAS take 1.1 to 1.3 times as long at the orders of a shrink, and
// dsyevd more.
func (b *Backend) SymEig(a matrix.Matrix, w []float64, v matrix.Matrix, work []float64) (ok bool) {
	n, k := matrix.SymEig(&a, w, &v)
	matrix.Work(b.SymEigWork(n, k), len(work))
	fits(a, v)
	b.enter(b.threadsFor(n))
	defer b.leave()
	return eigen.Sym((*inside)(b), a, w, v, work)
}

// SymEigWork is the workspace of SymEig.
func (b *Backend) SymEigWork(n, k int) int { return eigen.Work(n, k) }

// inside has the calls of OpenBLAS for whoever has a place inside it: Backend's own
// products, and package eigen while SymEig has it. Outputs are scaled here: not every
// OpenBLAS leaves out a NaN times beta = 0.
type inside Backend

func (i *inside) Gemm(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix) {
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
	i.blas.Dgemm(op(transA), op(transB), m, c.Cols, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data, c.Stride)
}

// bandRows is the height of the block rows of a triangle; what of them lies right
// of the diagonal is computed in vain.
const bandRows = 64

func (i *inside) Gemmt(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix) {
	for r := 0; r < c.Rows; r += bandRows {
		end := min(r+bandRows, c.Rows)
		i.Gemm(transA, transB, alpha, matrix.Span(transA, a, r, end), matrix.Span(!transB, b, 0, end), beta, c.Slice(r, end, 0, end))
	}
}

func (i *inside) Gemv(trans bool, alpha float64, a matrix.Matrix, x []float64, beta float64, y []float64) {
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

// Tridiagonal reduces A to tridiagonal form by package eigen on OpenBLAS's products.
func (b *Backend) Tridiagonal(a matrix.Matrix, d, e, tau, work []float64) (ok bool) {
	n := matrix.Tridiagonal(&a, d, e, tau)
	matrix.Work(b.TridiagonalWork(n), len(work))
	fits(a)
	b.enter(b.threadsFor(n))
	defer b.leave()
	return eigen.Reduce((*inside)(b), a, d, e, tau, work)
}

// TridiagonalWork is the workspace of Tridiagonal.
func (*Backend) TridiagonalWork(n int) int { return eigen.ReduceWork(n) }

// Turn multiplies rows by the reflections of Tridiagonal, in compact WY form.
func (b *Backend) Turn(trans bool, a matrix.Matrix, tau []float64, x matrix.Matrix, work []float64) {
	n, k := matrix.Turn(&a, tau, &x)
	matrix.Work(b.TurnWork(n, k), len(work))
	fits(a, x)
	b.enter(b.threadsFor(n))
	defer b.leave()
	eigen.Turn((*inside)(b), trans, a, tau, x, work)
}

// TurnWork is the workspace of Turn.
func (*Backend) TurnWork(n, k int) int { return eigen.TurnWork(n, k) }
