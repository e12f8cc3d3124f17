package matrix

import "math/bits"

// The functions in this file take pointers to matrices, because copying a Matrix takes as long as a small product.

// Check panics if Rows or Cols is negative, or if Data is too short for the entries. A matrix with entries must
// have Stride >= Cols and at least (Rows−1)·Stride + Cols elements in Data.
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
	if hi != 0 ||
		len(m.Data) < m.Cols ||
		lo > uint64(len(m.Data)-m.Cols) {
		panic("engine: matrix longer than its slice")
	}
}

// CheckShape panics unless m is a rows×cols matrix.
func CheckShape(m *Matrix, rows, cols int) {
	Check(m)
	if m.Rows != rows || m.Cols != cols {
		panic("engine: shapes of matrices do not fit together")
	}
}

// CheckProduct panics unless the shapes fit the product C = alpha·op(A)·op(B) + beta·C. Here op(A) is Aᵀ if transA
// is true, otherwise A, and op(B) is Bᵀ if transB is true, otherwise B. It returns the shape m×n of C and the
// number k of products in each element.
func CheckProduct(transA, transB bool, a, b, c *Matrix) (m, n, k int) {
	Check(a)
	m, k = Shape(transA, a)
	_, n = Shape(transB, b)
	if transB {
		CheckShape(b, n, k)
	} else {
		CheckShape(b, k, n)
	}
	CheckShape(c, m, n)
	return m, n, k
}

// CheckMatVec panics unless the shapes fit the product y = alpha·A·x + beta·y, or y = alpha·Aᵀ·x + beta·y if
// trans is true. It returns the length of y.
func CheckMatVec(trans bool, a *Matrix, x, y []float64) (ny int) {
	Check(a)
	ny, nx := Shape(trans, a)
	CheckLength(nx, len(x))
	CheckLength(ny, len(y))
	return ny
}

// CheckGradient panics unless the shapes fit R = A·Xᵀ − B and G = G + Rᵀ·A. A matrix b without Data is valid.
func CheckGradient(a, x, b, g, r *Matrix) {
	Check(a)
	CheckShape(x, x.Rows, a.Cols)
	CheckShape(g, x.Rows, a.Cols)
	CheckShape(r, a.Rows, x.Rows)
	if b.Data != nil {
		CheckShape(b, a.Rows, x.Rows)
	}
}

// CheckSquare panics unless m is square. It returns the number of rows of m.
func CheckSquare(m *Matrix) int {
	CheckShape(m, m.Rows, m.Rows)
	return m.Rows
}

// CheckLength panics unless length >= n.
func CheckLength(n, length int) {
	if length < n {
		panic("engine: vector longer than its slice")
	}
}

// CheckWork panics if a workspace of the given length is shorter than need.
func CheckWork(need, length int) {
	if length < need {
		panic("engine: workspace too short")
	}
}

// CheckCount panics unless 0 <= k <= n.
func CheckCount(k, n int) {
	if k < 0 || k > n {
		panic("engine: number of vectors not between 0 and n")
	}
}

// CheckLeftMul panics unless the shapes fit a call of LeftMul, which overwrites the first rows of B with W·B. It
// returns the shape m×k of W and the number n of columns of B.
func CheckLeftMul(w, b *Matrix) (m, n, k int) {
	Check(w)
	CheckShape(b, w.Cols, b.Cols)
	CheckCount(w.Rows, w.Cols)
	return w.Rows, b.Cols, w.Cols
}

// CheckSVD panics unless the shapes fit a singular value decomposition of a. It returns the number of singular
// values.
func CheckSVD(a *Matrix, s []float64, vt *Matrix) int {
	Check(a)
	q := min(a.Rows, a.Cols)
	CheckLength(q, len(s))
	CheckShape(vt, q, a.Cols)
	return q
}

// CheckSymEig panics unless the shapes fit an eigendecomposition of the symmetric matrix a. It returns the order n
// of a and the number k of eigenvectors.
func CheckSymEig(a *Matrix, w []float64, v *Matrix) (n, k int) {
	n = CheckSquare(a)
	Check(v)
	k = v.Rows
	if k > 0 {
		CheckShape(v, k, n)
	}
	CheckCount(k, n)
	CheckLength(n, len(w))
	return n, k
}

// CheckTridiagonal panics unless the shapes fit a reduction of a to tridiagonal form. It returns the order of a.
func CheckTridiagonal(a *Matrix, d, e, tau []float64) (n int) {
	n = CheckSquare(a)
	CheckLength(n, len(d))
	CheckLength(max(n-1, 0), len(e))
	CheckLength(n, len(tau))
	return n
}

// CheckApplyQ panics unless the shapes fit a product of the rows of x with the reflections stored in a and tau. It
// returns the order n of a and the number k of rows of x.
func CheckApplyQ(a *Matrix, tau []float64, x *Matrix) (n, k int) {
	n = CheckSquare(a)
	CheckLength(n, len(tau))
	CheckShape(x, x.Rows, n)
	return n, x.Rows
}
