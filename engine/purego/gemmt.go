package purego

import "github.com/fdridge/fdridge/internal/shape"

// Gemmt computes the lower triangle of C = alpha·op(A)·op(B) + beta·C with op(A)
// n×k, op(B) k×n and C n×n, whose strict upper triangle is neither read nor
// written.
func (b *Backend) Gemmt(transA, transB bool, n, k int, alpha float64, a []float64, lda int, bm []float64, ldb int, beta float64, c []float64, ldc int) {
	shape.Op(transA, n, k, lda, len(a))
	shape.Op(transB, k, n, ldb, len(bm))
	shape.Matrix(n, n, ldc, len(c))
	multiply(product{
		be: b, lower: true, transA: transA, transB: transB, m: n, n: n, k: k,
		alpha: alpha, a: a, lda: lda, b: bm, ldb: ldb, beta: beta, c: c, ldc: ldc,
	})
}
