package purego

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Gemm computes C = alpha·op(A)·op(B) + beta·C.
func (b *Backend) Gemm(transA, transB bool, alpha float64, a, bm matrix.Matrix, beta float64, c matrix.Matrix) {
	m, n, k := matrix.CheckProduct(transA, transB, &a, &bm, &c)
	p := product{be: b, m: m, n: n, k: k, a: operand{a, transA}, b: operand{bm, transB}, c: c, alpha: alpha, beta: beta}
	if m < fewRows && !transA {
		multiplyThin(&p)
	} else {
		multiply(&p)
	}
}

// Syrk computes the lower triangle of C = alpha·A·Aᵀ + beta·C, or of C = alpha·Aᵀ·A + beta·C if trans is
// true.
func (b *Backend) Syrk(trans bool, alpha float64, a matrix.Matrix, beta float64, c matrix.Matrix) {
	b.Gemmt(trans, !trans, alpha, a, a, beta, c)
}

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

// Gram computes rows firstRow to n−1 of the lower triangle of C = A·Aᵀ, where n is the number of rows of A.
func (b *Backend) Gram(firstRow int, a, c matrix.Matrix) {
	n, _, k := matrix.CheckProduct(false, true, &a, &a, &c)
	matrix.CheckCount(firstRow, n)
	multiply(&product{
		be: b, m: n, n: n, k: k, a: operand{a, false}, b: operand{a, true}, c: c, alpha: 1,
		triangle: triangle{lower: true, firstRow: firstRow},
	})
}

// scaleRow overwrites x with beta·x. If beta is 0, x is not read.
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
