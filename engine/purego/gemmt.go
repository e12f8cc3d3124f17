package purego

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Gemmt computes the lower triangle of C = alpha·op(A)·op(B) + beta·C, where op(A) is n×k, op(B) is k×n and C
// is n×n. The strict upper triangle of C is neither read nor written.
func (b *Backend) Gemmt(transA, transB bool, alpha float64, a, bm matrix.Matrix, beta float64, c matrix.Matrix) {
	n, _, k := matrix.CheckProduct(transA, transB, &a, &bm, &c)
	matrix.CheckSquare(&c)
	multiply(&product{
		be: b, m: n, n: n, k: k, a: operand{a, transA}, b: operand{bm, transB}, c: c, alpha: alpha, beta: beta,
		triangle: triangle{lower: true},
	})
}
