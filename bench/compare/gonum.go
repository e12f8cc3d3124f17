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

func (g gonum) Gemm(transA, transB bool, alpha float64, a, b engine.Matrix, beta float64, c engine.Matrix) {
	k := a.Cols
	if transA {
		k = a.Rows
	}
	g.blas.Dgemm(op(transA), op(transB), c.Rows, c.Cols, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data, c.Stride)
}

func (g gonum) Syrk(trans bool, alpha float64, a engine.Matrix, beta float64, c engine.Matrix) {
	k := a.Cols
	if trans {
		k = a.Rows
	}
	g.blas.Dsyrk(blas.Lower, op(trans), c.Rows, k, alpha, a.Data, a.Stride, beta, c.Data, c.Stride)
}

func (g gonum) Gram(first int, a, c engine.Matrix) {
	n, k := a.Rows, a.Cols
	rows := a.Slice(first, n, 0, k)
	g.Gemm(false, true, 1, rows, a.Slice(0, first, 0, k), 0, c.Slice(first, n, 0, first))
	g.Syrk(false, 1, rows, 0, c.Slice(first, n, first, n))
}

func (g gonum) LeftMul(w, b engine.Matrix, work []float64) {
	wb := engine.View(w.Rows, b.Cols, work)
	g.Gemm(false, false, 1, w, b, 0, wb)
	for i := range wb.Rows {
		copy(b.Row(i), wb.Row(i))
	}
}

func (g gonum) LeftMulWork(m, n, k int) int { return m * n }

func (g gonum) Gemv(trans bool, alpha float64, a engine.Matrix, x []float64, beta float64, y []float64) {
	g.blas.Dgemv(op(trans), a.Rows, a.Cols, alpha, a.Data, a.Stride, x, 1, beta, y, 1)
}

func (g gonum) Gradient(a, x, b, gr, r engine.Matrix) {
	beta := 0.0
	if b.Data != nil {
		beta = -1
		for i := range r.Rows {
			copy(r.Row(i), b.Row(i))
		}
	}
	g.Gemm(false, true, 1, a, x, beta, r)
	g.Gemm(true, false, 1, r, a, 1, gr)
}

func (g gonum) SymEig(a engine.Matrix, w []float64, v engine.Matrix, work []float64) bool {
	n := a.Rows
	if !g.lapack.Dsyev(lapack.EVCompute, blas.Lower, n, a.Data, a.Stride, w, work, len(work)) {
		return false
	}
	for i := range n / 2 {
		w[i], w[n-1-i] = w[n-1-i], w[i]
	}
	for i := range v.Rows {
		for j := range v.Row(i) {
			v.Row(i)[j] = a.Row(j)[n-1-i]
		}
	}
	return true
}

func (g gonum) SymEigWork(n, k int) int { return 66 * n }

// Cholesky knows no pivot.
func (g gonum) Cholesky(a engine.Matrix) (pivot int, ok bool) {
	return -1, g.lapack.Dpotrf(blas.Lower, a.Rows, a.Data, a.Stride)
}

func (g gonum) QR(a engine.Matrix, work []float64) {
	q := min(a.Rows, a.Cols)
	g.lapack.Dgeqrf(a.Rows, a.Cols, a.Data, a.Stride, work[:q], work[q:], len(work)-q)
}

func (g gonum) QRWork(m, n int) int { return min(m, n) + 64*n }
