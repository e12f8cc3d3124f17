package main

import (
	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"

	"github.com/fdridge/fdridge/engine"
)

// gonum is the backend that a program has which uses gonum alone. Its SVD is the
// embedded backend's.
type gonum struct {
	engine.Backend
	blas   blasgonum.Implementation
	lapack lapackgonum.Implementation
}

func (gonum) Name() string { return "gonum" }

func op(trans bool) blas.Transpose {
	if trans {
		return blas.Trans
	}
	return blas.NoTrans
}

func (g gonum) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	g.blas.Dgemm(op(transA), op(transB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (g gonum) Syrk(trans bool, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	g.blas.Dsyrk(blas.Lower, op(trans), n, k, alpha, a, lda, beta, c, ldc)
}

func (g gonum) Gram(first, n, k int, a []float64, lda int, c []float64, ldc int) {
	g.Gemm(false, true, n-first, first, k, 1, a[first*lda:], lda, a, lda, 0, c[first*ldc:], ldc)
	g.Syrk(false, n-first, k, 1, a[first*lda:], lda, 0, c[first*ldc+first:], ldc)
}

func (g gonum) LeftMul(m, n, k int, w []float64, ldw int, b []float64, ldb int, work []float64) {
	g.Gemm(false, false, m, n, k, 1, w, ldw, b, ldb, 0, work, n)
	for i := range m {
		copy(b[i*ldb:i*ldb+n], work[i*n:])
	}
}

func (g gonum) LeftMulWork(m, n, k int) int { return m * n }

func (g gonum) Gemv(trans bool, m, n int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64) {
	g.blas.Dgemv(op(trans), m, n, alpha, a, lda, x, 1, beta, y, 1)
}

func (g gonum) Gradient(n, d, t int, a []float64, lda int, x []float64, ldx int, b []float64, ldb int, gr []float64, ldg int, r []float64, ldr int) {
	beta := 0.0
	if b != nil {
		beta = -1
		for i := range n {
			copy(r[i*ldr:i*ldr+t], b[i*ldb:])
		}
	}
	g.Gemm(false, true, n, t, d, 1, a, lda, x, ldx, beta, r, ldr)
	g.Gemm(true, false, t, d, n, 1, r, ldr, a, lda, 1, gr, ldg)
}

func (g gonum) SymEig(n, k int, a []float64, lda int, w []float64, v []float64, ldv int, work []float64) bool {
	if !g.lapack.Dsyev(lapack.EVCompute, blas.Lower, n, a, lda, w, work, len(work)) {
		return false
	}
	for i := range n / 2 {
		w[i], w[n-1-i] = w[n-1-i], w[i]
	}
	for i := range k {
		for j := range n {
			v[i*ldv+j] = a[j*lda+n-1-i]
		}
	}
	return true
}

func (g gonum) SymEigWork(n, k int) int { return 66 * n }

func (g gonum) Cholesky(n int, a []float64, lda int) bool {
	return g.lapack.Dpotrf(blas.Lower, n, a, lda)
}

func (g gonum) QR(m, n int, a []float64, lda int, work []float64) {
	q := min(m, n)
	g.lapack.Dgeqrf(m, n, a, lda, work[:q], work[q:], len(work)-q)
}

func (g gonum) QRWork(m, n int) int { return min(m, n) + 64*n }
