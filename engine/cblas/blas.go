//go:build openblas && cgo

package cblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/fdridge/fdridge/internal/shape"
)

func op(trans bool) blas.Transpose {
	if trans {
		return blas.Trans
	}
	return blas.NoTrans
}

// Gemm computes C = alpha·op(A)·op(B) + beta·C.
func (b *Backend) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, bm []float64, ldb int, beta float64, c []float64, ldc int) {
	shape.Op(transA, m, k, lda, len(a))
	shape.Op(transB, k, n, ldb, len(bm))
	shape.Matrix(m, n, ldc, len(c))
	fits(m, n, k, lda, ldb, ldc)
	b.enter(b.threads)
	defer b.leave()
	(*inside)(b).Gemm(transA, transB, m, n, k, alpha, a, lda, bm, ldb, beta, c, ldc)
}

// Syrk computes the lower triangle of C = alpha·A·Aᵀ + beta·C, or of
// alpha·Aᵀ·A + beta·C.
func (b *Backend) Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	shape.Op(trans, n, k, lda, len(a))
	shape.Matrix(n, n, ldc, len(c))
	fits(n, k, lda, ldc)
	if k == 0 || alpha == 0 {
		for i := range n {
			scaleRows(1, i+1, beta, c[i*ldc:], ldc)
		}
		return
	}
	if n == 0 {
		return
	}
	b.enter(b.threads)
	defer b.leave()
	b.blas.Dsyrk(blas.Lower, op(trans), n, k, alpha, a, lda, beta, c, ldc)
}

// Gemv computes y = alpha·A·x + beta·y, or alpha·Aᵀ·x + beta·y.
func (b *Backend) Gemv(trans bool, m, n int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64) {
	shape.Matrix(m, n, lda, len(a))
	nx, ny := n, m
	if trans {
		nx, ny = m, n
	}
	shape.Vector(nx, len(x))
	shape.Vector(ny, len(y))
	fits(m, n, lda)
	b.enter(b.threads)
	defer b.leave()
	(*inside)(b).Gemv(trans, m, n, alpha, a, lda, x, beta, y)
}

// scaleRows overwrites C with beta·C, writing only where beta is 0.
func scaleRows(m, n int, beta float64, c []float64, ldc int) {
	if n == 0 || beta == 1 {
		return
	}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}
