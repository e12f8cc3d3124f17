//go:build openblas && cgo

package cblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/fdridge/fdridge/engine/internal/eigen"
	"github.com/fdridge/fdridge/internal/shape"
)

// SymEig computes all eigenvalues, descending, and the k leading eigenvectors as
// rows, by package eigen on OpenBLAS's products. LAPACKE's dsytrd, dstedc and dormtr
// on the same OpenBLAS take 1.1 to 1.3 times as long at the orders of a shrink, and
// dsyevd more.
func (b *Backend) SymEig(n, k int, a []float64, lda int, w []float64, v []float64, ldv int, work []float64) (ok bool) {
	shape.Matrix(n, n, lda, len(a))
	shape.Leading(k, n)
	shape.Vector(n, len(w))
	shape.Matrix(k, n, ldv, len(v))
	shape.Work(b.SymEigWork(n, k), len(work))
	fits(n, lda, ldv)
	b.enter(b.threadsFor(n))
	defer b.leave()
	return eigen.Sym((*inside)(b), n, k, a, lda, w, v, ldv, work)
}

// SymEigWork is the workspace of SymEig.
func (b *Backend) SymEigWork(n, k int) int { return eigen.Work(n, k) }

// inside has the calls of OpenBLAS for whoever has a place inside it: Backend's own
// products, and package eigen while SymEig has it. Outputs are scaled here: not every
// OpenBLAS leaves out a NaN times beta = 0.
type inside Backend

func (i *inside) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, bm []float64, ldb int, beta float64, c []float64, ldc int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		scaleRows(m, n, beta, c, ldc)
		return
	}
	i.blas.Dgemm(op(transA), op(transB), m, n, k, alpha, a, lda, bm, ldb, beta, c, ldc)
}

// bandRows is the height of the block rows of a triangle; what of them lies right
// of the diagonal is computed in vain.
const bandRows = 64

func (i *inside) Gemmt(transA, transB bool, n, k int, alpha float64, a []float64, lda int, bm []float64, ldb int, beta float64, c []float64, ldc int) {
	step := lda // to the next row of op(A)
	if transA {
		step = 1
	}
	for r := 0; r < n; r += bandRows {
		rows := min(bandRows, n-r)
		i.Gemm(transA, transB, rows, r+rows, k, alpha, a[r*step:], lda, bm, ldb, beta, c[r*ldc:], ldc)
	}
}

func (i *inside) Gemv(trans bool, m, n int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64) {
	ny := m
	if trans {
		ny = n
	}
	scaleRows(1, ny, beta, y, max(1, ny))
	if m > 0 && n > 0 && alpha != 0 {
		i.blas.Dgemv(op(trans), m, n, alpha, a, lda, x, 1, 1, y, 1)
	}
}

func (i *inside) Symv(n int, a []float64, lda int, x, y []float64) {
	clear(y[:n])
	if n > 0 {
		i.blas.Dsymv(blas.Lower, n, 1, a, lda, x, 1, 1, y, 1)
	}
}
