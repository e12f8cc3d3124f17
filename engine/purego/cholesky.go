package purego

import (
	"gonum.org/v1/gonum/blas"

	"github.com/fdridge/fdridge/internal/shape"
)

// Cholesky overwrites the lower triangle of A with L, A = L·Lᵀ.
func (b *Backend) Cholesky(n int, a []float64, lda int) (ok bool) {
	shape.Matrix(n, n, lda, len(a))
	if n == 0 {
		return true
	}
	return b.lapack.Dpotrf(blas.Lower, n, a, lda)
}

// CholeskySolve overwrites each row x of B with the solution of L·Lᵀ·y = x: the
// rows are the right-hand sides, so B ← B·L⁻ᵀ·L⁻¹.
func (b *Backend) CholeskySolve(n, nrhs int, l []float64, ldl int, rhs []float64, ldb int) {
	shape.Matrix(n, n, ldl, len(l))
	shape.Matrix(nrhs, n, ldb, len(rhs))
	if n == 0 || nrhs == 0 {
		return
	}
	b.blas.Dtrsm(blas.Right, blas.Lower, blas.Trans, blas.NonUnit, nrhs, n, 1, l, ldl, rhs, ldb)
	b.blas.Dtrsm(blas.Right, blas.Lower, blas.NoTrans, blas.NonUnit, nrhs, n, 1, l, ldl, rhs, ldb)
}
