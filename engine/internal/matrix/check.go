package matrix

import "math/bits"

// These take pointers: a Matrix is of more words than the compiler keeps in registers,
// and copying one costs as much as a small product.

// Check panics unless Data holds the matrix: Rows, Cols >= 0 and, where there are
// entries, Stride >= Cols and len(Data) >= (Rows−1)·Stride + Cols.
func Check(m *Matrix) {
	if m.Rows < 0 {
		panic("engine: negative number of rows")
	}
	if m.Cols < 0 {
		panic("engine: negative number of columns")
	}
	if m.Rows == 0 || m.Cols == 0 {
		return
	}
	if m.Stride < m.Cols {
		panic("engine: stride less than the number of columns")
	}
	hi, lo := bits.Mul64(uint64(m.Rows-1), uint64(m.Stride))
	if hi != 0 || len(m.Data) < m.Cols || lo > uint64(len(m.Data)-m.Cols) {
		panic("engine: matrix longer than its slice")
	}
}

// Is panics unless m is a matrix of so many rows and columns.
func Is(m *Matrix, rows, cols int) {
	Check(m)
	if m.Rows != rows || m.Cols != cols {
		panic("engine: shapes of matrices do not fit together")
	}
}

// Product checks the operands of C = alpha·op(A)·op(B) + beta·C and returns the shape
// m×n of C and the number k of terms of each of its elements.
func Product(transA, transB bool, a, b, c *Matrix) (m, n, k int) {
	Check(a)
	m, k = Shape(transA, a)
	_, n = Shape(transB, b)
	if transB {
		Is(b, n, k)
	} else {
		Is(b, k, n)
	}
	Is(c, m, n)
	return m, n, k
}

// MatVec checks the operands of y = alpha·op(A)·x + beta·y and returns the length of y.
func MatVec(trans bool, a *Matrix, x, y []float64) (ny int) {
	Check(a)
	ny, nx := Shape(trans, a)
	Vector(nx, len(x))
	Vector(ny, len(y))
	return ny
}

// Gradient checks the operands of R = A·Xᵀ − B, G = G + Rᵀ·A; a B without Data is none.
func Gradient(a, x, b, g, r *Matrix) {
	Check(a)
	Is(x, x.Rows, a.Cols)
	Is(g, x.Rows, a.Cols)
	Is(r, a.Rows, x.Rows)
	if b.Data != nil {
		Is(b, a.Rows, x.Rows)
	}
}

// Square panics unless m is square, and returns its order.
func Square(m *Matrix) int {
	Is(m, m.Rows, m.Rows)
	return m.Rows
}

// Vector panics unless a slice of the given length holds n numbers.
func Vector(n, length int) {
	if length < n {
		panic("engine: vector longer than its slice")
	}
}

// Work panics unless a workspace of the given length has need elements.
func Work(need, length int) {
	if length < need {
		panic("engine: workspace too short")
	}
}

// Leading panics unless 0 <= k <= n.
func Leading(k, n int) {
	if k < 0 || k > n {
		panic("engine: number of vectors not between 0 and n")
	}
}

// LeftMul checks the operands of B ← W·B and returns the shape m×k of W and the number
// n of columns of B.
func LeftMul(w, b *Matrix) (m, n, k int) {
	Check(w)
	Is(b, w.Cols, b.Cols)
	Leading(w.Rows, w.Cols)
	return w.Rows, b.Cols, w.Cols
}

// SVD checks the operands of a singular value decomposition and returns the number of
// singular values.
func SVD(a *Matrix, s []float64, vt *Matrix) int {
	Check(a)
	q := min(a.Rows, a.Cols)
	Vector(q, len(s))
	Is(vt, q, a.Cols)
	return q
}

// SymEig checks the operands of an eigendecomposition and returns the order n of A and
// the number k of eigenvectors.
func SymEig(a *Matrix, w []float64, v *Matrix) (n, k int) {
	n = Square(a)
	Check(v)
	if k = v.Rows; k > 0 {
		Is(v, k, n)
	}
	Leading(k, n)
	Vector(n, len(w))
	return n, k
}

// Tridiagonal checks the operands of a reduction to tridiagonal form and returns the order
// of A.
func Tridiagonal(a *Matrix, d, e, tau []float64) (n int) {
	n = Square(a)
	Vector(n, len(d))
	Vector(max(n-1, 0), len(e))
	Vector(n, len(tau))
	return n
}

// Turn checks the operands of a product with the reflections in A, and returns the order n
// of A and the number k of rows of X.
func Turn(a *Matrix, tau []float64, x *Matrix) (n, k int) {
	n = Square(a)
	Vector(n, len(tau))
	Is(x, x.Rows, n)
	return n, x.Rows
}
