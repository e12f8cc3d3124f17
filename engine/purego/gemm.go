package purego

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Gemm computes C = alpha·op(A)·op(B) + beta·C.
func (b *Backend) Gemm(
	transA, transB bool,
	alpha float64,
	a, bm matrix.Matrix,
	beta float64,
	c matrix.Matrix,
) {
	p := b.newProduct(transA, transB, alpha, a, bm, beta, c)
	if p.m < fewRows && !transA {
		multiplyThin(&p)
	} else {
		multiply(&p)
	}
}

// newProduct checks the shapes of C = alpha·op(A)·op(B) + beta·C, and returns this product.
func (b *Backend) newProduct(
	transA, transB bool,
	alpha float64,
	a, bm matrix.Matrix,
	beta float64,
	c matrix.Matrix,
) product {
	m, n, k := matrix.CheckProduct(transA, transB, &a, &bm, &c)
	return product{
		be:    b,
		m:     m,
		n:     n,
		k:     k,
		a:     operand{a, transA},
		b:     operand{bm, transB},
		c:     c,
		alpha: alpha,
		beta:  beta,
	}
}

// Syrk computes the lower triangle of the matrix C = alpha·A·Aᵀ + beta·C. If trans is true, it computes the lower
// triangle of C = alpha·Aᵀ·A + beta·C.
func (b *Backend) Syrk(
	trans bool,
	alpha float64,
	a matrix.Matrix,
	beta float64,
	c matrix.Matrix,
) {
	b.Gemmt(trans, !trans, alpha, a, a, beta, c)
}

// Gemmt computes the lower triangle of the n×n matrix C = alpha·op(A)·op(B) + beta·C. Here op(A) is Aᵀ if
// transA is true, otherwise A, and op(B) is Bᵀ if transB is true, otherwise B. The elements of C above the diagonal
// are neither read nor written.
func (b *Backend) Gemmt(
	transA, transB bool,
	alpha float64,
	a, bm matrix.Matrix,
	beta float64,
	c matrix.Matrix,
) {
	p := b.newProduct(transA, transB, alpha, a, bm, beta, c)
	matrix.CheckSquare(&c)
	p.triangle = triangle{lower: true}
	multiply(&p)
}

// Gram computes the lower triangle of C = A·Aᵀ in rows firstRow to n−1, where n is the number of rows of A.
func (b *Backend) Gram(firstRow int, a, c matrix.Matrix) {
	p := b.newProduct(false, true, 1, a, a, 0, c)
	matrix.CheckCount(firstRow, p.m)
	p.triangle = triangle{lower: true, firstRow: firstRow}
	multiply(&p)
}

// scaleRow multiplies x by beta in place. If beta is 0, it sets x to zero without reading it.
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
