package purego

import (
	"math"

	"github.com/fdridge/fdridge/internal/shape"
)

// leaf is the order up to which triangular matrices are dealt with number by
// number; larger ones are cut in half, and most of the work is products.
const leaf = 48

// leafRows is the number of right-hand sides that a leaf solves for at a time.
const leafRows = 128

// Cholesky overwrites the lower triangle of A with L, A = L·Lᵀ, by halves:
//
//	[A₁₁    ]   L₁₁ = chol(A₁₁),  L₂₁ = A₂₁·L₁₁⁻ᵀ,
//	[A₂₁ A₂₂]   L₂₂ = chol(A₂₂ − L₂₁·L₂₁ᵀ).
func (b *Backend) Cholesky(n int, a []float64, lda int) (ok bool) {
	shape.Matrix(n, n, lda, len(a))
	if n <= leaf {
		return b.choleskyLeaf(n, a, lda)
	}
	h := half(n)
	if !b.Cholesky(h, a, lda) {
		return false
	}
	below, rest := a[h*lda:], a[h*lda+h:]
	b.solve(true, n-h, h, a, lda, below, lda)
	b.Syrk(false, n-h, h, -1, below, lda, 1, rest, lda)
	return b.Cholesky(n-h, rest, lda)
}

// half is about n/2, in whole vectors.
func half(n int) int { return roundUp(n/2, 16) }

func (b *Backend) choleskyLeaf(n int, a []float64, lda int) (ok bool) {
	for i := range n {
		row := a[i*lda : i*lda+i+1]
		for j := range i {
			if j > 0 {
				row[j] -= b.kernel.Dot1(j, &row[0], &a[j*lda])
			}
			row[j] /= a[j*lda+j]
		}
		pivot := row[i]
		if i > 0 {
			pivot -= b.kernel.Dot1(i, &row[0], &row[0])
		}
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return false
		}
		row[i] = math.Sqrt(pivot)
	}
	return true
}

// CholeskySolve overwrites each row x of B with the solution of L·Lᵀ·y = x: the
// rows are the right-hand sides, so B ← B·L⁻ᵀ·L⁻¹.
func (b *Backend) CholeskySolve(n, nrhs int, l []float64, ldl int, rhs []float64, ldb int) {
	shape.Matrix(n, n, ldl, len(l))
	shape.Matrix(nrhs, n, ldb, len(rhs))
	b.solve(true, nrhs, n, l, ldl, rhs, ldb)
	b.solve(false, nrhs, n, l, ldl, rhs, ldb)
}

// solve overwrites X (m×n) with X·L⁻ᵀ where trans is set, with X·L⁻¹ otherwise.
func (b *Backend) solve(trans bool, m, n int, l []float64, ldl int, x []float64, ldx int) {
	if m == 0 || n == 0 {
		return
	}
	if n <= leaf {
		b.solveLeaf(trans, m, n, l, ldl, x, ldx)
		return
	}
	h := half(n)
	below, rest, right := l[h*ldl:], l[h*ldl+h:], x[h:]
	if trans {
		b.solve(trans, m, h, l, ldl, x, ldx)
		b.Gemm(false, true, m, n-h, h, -1, x, ldx, below, ldl, 1, right, ldx)
		b.solve(trans, m, n-h, rest, ldl, right, ldx)
		return
	}
	b.solve(trans, m, n-h, rest, ldl, right, ldx)
	b.Gemm(false, false, m, h, n-h, -1, right, ldx, below, ldl, 1, x, ldx)
	b.solve(trans, m, h, l, ldl, x, ldx)
}

// solveLeaf solves for small L. Rows of X, unless they are few, are transposed, so
// that the inner loops run along many of them at once.
func (b *Backend) solveLeaf(trans bool, m, n int, l []float64, ldl int, x []float64, ldx int) {
	if m < b.kernel.Unit {
		for i := range m {
			b.solveRow(trans, n, l, ldl, x[i*ldx:i*ldx+n])
		}
		return
	}
	s := scratches.get()
	size := n * leafRows
	work := grow(&s.a, 2*size+n)
	in, out, factors := work[:size], work[size:2*size], work[2*size:2*size+n]
	for i := 0; i < m; i += leafRows {
		rows := min(leafRows, m-i)
		b.transpose(rows, n, x[i*ldx:], ldx, in, leafRows)
		b.solveColumns(trans, rows, n, l, ldl, in, out, factors)
		b.transpose(n, rows, out, leafRows, x[i*ldx:], ldx)
	}
	scratches.put(s)
}

// solveColumns writes Y with L·Y = X, or Lᵀ·Y = X unless trans is set, for X and
// Y with n rows leafRows apart: row by row
//
//	yⱼ = xⱼ/lⱼⱼ − Σ (lⱼᵢ/lⱼⱼ)·yᵢ   over i < j, or (lᵢⱼ/lⱼⱼ) over i > j.
func (b *Backend) solveColumns(trans bool, m, n int, l []float64, ldl int, x, y, factors []float64) {
	for s := range n {
		j, lo, hi := s, 0, s // rows lo to hi are known
		if !trans {
			j = n - 1 - s
			lo, hi = j+1, n
		}
		for i := lo; i < hi; i++ {
			if trans {
				factors[i] = l[j*ldl+i] / l[j*ldl+j]
			} else {
				factors[i] = l[i*ldl+j] / l[j*ldl+j]
			}
		}
		row := y[j*leafRows : j*leafRows+m]
		clear(row)
		b.kernel.Axpy1(m, 1/l[j*ldl+j], &x[j*leafRows], &row[0])
		b.Gemv(true, hi-lo, m, -1, y[min(lo, n-1)*leafRows:], leafRows, factors[lo:hi], 1, row)
	}
}

// solveRow solves for one row of X.
func (b *Backend) solveRow(trans bool, n int, l []float64, ldl int, x []float64) {
	if trans {
		x[0] /= l[0]
		for j := 1; j < n; j++ {
			x[j] = (x[j] - b.kernel.Dot1(j, &x[0], &l[j*ldl])) / l[j*ldl+j]
		}
		return
	}
	for j := n - 1; j > 0; j-- {
		x[j] /= l[j*ldl+j]
		b.kernel.Axpy1(j, -x[j], &l[j*ldl], &x[0])
	}
	x[0] /= l[0]
}
