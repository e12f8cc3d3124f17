package purego

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// leaf is the largest order of a triangular matrix that is processed element by element. A larger matrix is split
// in half, again and again, so that matrix products do most of the work.
const leaf = 48

// leafRows is the largest number of right-hand sides in one call of solveLeaf.
const leafRows = 128

// Cholesky overwrites the lower triangle of A with L of A = L·Lᵀ. It splits A in half:
//
//	[A₁₁    ]   L₁₁ = chol(A₁₁),  L₂₁ = A₂₁·L₁₁⁻ᵀ,
//	[A₂₁ A₂₂]   L₂₂ = chol(A₂₂ − L₂₁·L₂₁ᵀ).
//
// It returns the number of leading positive pivots, and whether all pivots are positive.
func (b *Backend) Cholesky(a matrix.Matrix) (pivot int, ok bool) {
	n := matrix.CheckSquare(&a)
	if n <= leaf {
		return b.choleskyLeaf(a)
	}
	h := halfOrder(n)
	first, below, rest := a.Slice(0, h, 0, h), a.Slice(h, n, 0, h), a.Slice(h, n, h, n)
	pivot, ok = b.Cholesky(first)
	if !ok {
		return pivot, false
	}
	b.solve(true, first, below)
	b.Syrk(false, -1, below, 1, rest)
	pivot, ok = b.Cholesky(rest)
	return h + pivot, ok
}

// halfOrder returns about n/2, rounded up to whole vectors.
func halfOrder(n int) int { return roundUp(n/2, 16) }

func (b *Backend) choleskyLeaf(m matrix.Matrix) (pivot int, ok bool) {
	n, a, lda := m.Rows, m.Data, m.Stride
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
			return i, false
		}
		row[i] = math.Sqrt(pivot)
	}
	return n, true
}

// CholeskySolve overwrites each row x of B with the solution y of L·Lᵀ·y = x. The right-hand sides x are the rows
// of B, so B becomes B·L⁻ᵀ·L⁻¹.
func (b *Backend) CholeskySolve(l, rhs matrix.Matrix) {
	matrix.CheckShape(&rhs, rhs.Rows, matrix.CheckSquare(&l))
	b.solve(true, l, rhs)
	b.solve(false, l, rhs)
}

// solve overwrites the m×n matrix X with X·L⁻ᵀ if trans is true, and with X·L⁻¹ otherwise. L is lower
// triangular.
func (b *Backend) solve(trans bool, l, x matrix.Matrix) {
	m, n := x.Rows, x.Cols
	if m == 0 || n == 0 {
		return
	}
	if n <= leaf {
		b.solveLeaf(trans, m, n, l.Data, l.Stride, x.Data, x.Stride)
		return
	}
	h := halfOrder(n)
	first, below, rest := l.Slice(0, h, 0, h), l.Slice(h, n, 0, h), l.Slice(h, n, h, n)
	left, right := x.Slice(0, m, 0, h), x.Slice(0, m, h, n)
	if trans {
		b.solve(trans, first, left)
		b.Gemm(false, true, -1, left, below, 1, right)
		b.solve(trans, rest, right)
		return
	}
	b.solve(trans, rest, right)
	b.Gemm(false, false, -1, right, below, 1, left)
	b.solve(trans, first, left)
}

// solveLeaf overwrites the m×n matrix X with X·L⁻ᵀ if trans is true, and with X·L⁻¹ otherwise. L is lower
// triangular, of order n ≤ leaf. Unless X has few rows, solveLeaf transposes it, so that the inner loops process
// many rows at once.
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
		b.transpose(matrix.Strided(rows, n, x[i*ldx:], ldx), matrix.Strided(n, rows, in, leafRows))
		b.solveColumns(trans, rows, n, l, ldl, in, out, factors)
		b.transpose(matrix.Strided(n, rows, out, leafRows), matrix.Strided(rows, n, x[i*ldx:], ldx))
	}
	scratches.put(s)
}

// solveColumns solves L·Y = X if trans is true, and Lᵀ·Y = X otherwise, for a lower triangular L. X and Y have n
// rows of m numbers. The rows begin leafRows numbers apart in x and y. For the rows xⱼ of X, the rows yⱼ of Y and
// the elements lᵢⱼ of L,
//
//	yⱼ = xⱼ/lⱼⱼ − Σ (lⱼᵢ/lⱼⱼ)·yᵢ   over i < j, if trans is true,
//	yⱼ = xⱼ/lⱼⱼ − Σ (lᵢⱼ/lⱼⱼ)·yᵢ   over i > j, otherwise.
//
// The argument factors is a workspace of n numbers.
func (b *Backend) solveColumns(trans bool, m, n int, l []float64, ldl int, x, y, factors []float64) {
	for s := range n {
		j, lo, hi := s, 0, s // rows lo to hi of Y are computed
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
		b.Gemv(true, -1, matrix.Strided(hi-lo, m, y[min(lo, n-1)*leafRows:], leafRows), factors[lo:hi], 1, row)
	}
}

// solveRow overwrites the row x of n numbers with x·L⁻ᵀ if trans is true, and with x·L⁻¹ otherwise, for a
// lower triangular L.
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
