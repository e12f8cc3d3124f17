//go:build openblas && cgo

package cblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

func op(trans bool) blas.Transpose {
	if trans {
		return blas.Trans
	}
	return blas.NoTrans
}

// Gemm computes C = alpha·op(A)·op(B) + beta·C.
func (b *Backend) Gemm(
	transA, transB bool,
	alpha float64,
	a, bm matrix.Matrix,
	beta float64,
	c matrix.Matrix,
) {
	matrix.CheckProduct(transA, transB, &a, &bm, &c)
	checkInt32(a, bm, c)
	b.enter(b.threads)
	defer b.leave()
	(*inside)(b).Gemm(transA, transB, alpha, a, bm, beta, c)
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
	n, _, k := matrix.CheckProduct(trans, !trans, &a, &a, &c)
	checkInt32(a, c)
	if k == 0 || alpha == 0 {
		for i := range n {
			scaleRow(beta, c.Row(i)[:i+1])
		}
		return
	}
	if n == 0 {
		return
	}
	b.enter(b.threads)
	defer b.leave()
	b.blas.Dsyrk(
		blas.Lower,
		op(trans),
		n,
		k,
		alpha,
		a.Data,
		a.Stride,
		beta,
		c.Data,
		c.Stride,
	)
}

// Gemv computes the vector y = alpha·A·x + beta·y for the matrix A. If trans is true, it computes
// y = alpha·Aᵀ·x + beta·y.
func (b *Backend) Gemv(
	trans bool,
	alpha float64,
	a matrix.Matrix,
	x []float64,
	beta float64,
	y []float64,
) {
	matrix.CheckMatVec(trans, &a, x, y)
	checkInt32(a)
	b.enter(b.threads)
	defer b.leave()
	(*inside)(b).Gemv(trans, alpha, a, x, beta, y)
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
