package purego

import "github.com/fdridge/fdridge/internal/shape"

// Gemm computes C = alpha·op(A)·op(B) + beta·C.
func (b *Backend) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, bm []float64, ldb int, beta float64, c []float64, ldc int) {
	shape.Op(transA, m, k, lda, len(a))
	shape.Op(transB, k, n, ldb, len(bm))
	shape.Matrix(m, n, ldc, len(c))
	p := product{
		be: b, transA: transA, transB: transB, m: m, n: n, k: k,
		alpha: alpha, a: a, lda: lda, b: bm, ldb: ldb, beta: beta, c: c, ldc: ldc,
	}
	if m < fewRows && !transA {
		multiplyThin(p)
	} else {
		multiply(p)
	}
}

// Syrk computes the lower triangle of C = alpha·A·Aᵀ + beta·C, or of
// alpha·Aᵀ·A + beta·C.
func (b *Backend) Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	b.Gemmt(trans, !trans, n, k, alpha, a, lda, a, lda, beta, c, ldc)
}

// Gram computes rows first to n of the lower triangle of C = A·Aᵀ.
func (b *Backend) Gram(first, n, k int, a []float64, lda int, c []float64, ldc int) {
	shape.Leading(first, n)
	shape.Matrix(n, k, lda, len(a))
	shape.Matrix(n, n, ldc, len(c))
	multiply(product{
		be: b, lower: true, first: first, transB: true, m: n, n: n, k: k,
		alpha: 1, a: a, lda: lda, b: a, ldb: lda, c: c, ldc: ldc,
	})
}

// scaleRow overwrites x with beta·x, only writing where beta is 0.
func scaleRow(beta float64, x []float64) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		for i := range x {
			x[i] *= beta
		}
	}
}
