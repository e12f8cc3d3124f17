package purego

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Gemm computes C = alpha·op(A)·op(B) + beta·C.
func (b *Backend) Gemm(transA, transB bool, alpha float64, a, bm matrix.Matrix, beta float64, c matrix.Matrix) {
	m, n, k := matrix.Product(transA, transB, &a, &bm, &c)
	p := product{
		be: b, transA: transA, transB: transB, m: m, n: n, k: k,
		alpha: alpha, a: a, b: bm, beta: beta, c: c,
	}
	if m < fewRows && !transA {
		multiplyThin(&p)
	} else {
		multiply(&p)
	}
}

// Syrk computes the lower triangle of C = alpha·A·Aᵀ + beta·C, or of
// alpha·Aᵀ·A + beta·C.
func (b *Backend) Syrk(trans bool, alpha float64, a matrix.Matrix, beta float64, c matrix.Matrix) {
	b.Gemmt(trans, !trans, alpha, a, a, beta, c)
}

// Gram computes rows first to n of the lower triangle of C = A·Aᵀ.
func (b *Backend) Gram(first int, a, c matrix.Matrix) {
	n, _, k := matrix.Product(false, true, &a, &a, &c)
	matrix.Leading(first, n)
	multiply(&product{
		be: b, lower: true, first: first, transB: true, m: n, n: n, k: k,
		alpha: 1, a: a, b: a, c: c,
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
