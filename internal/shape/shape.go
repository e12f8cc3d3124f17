// Package shape checks the arguments of dense kernels. What a programmer got
// wrong panics with a constant string, as in gonum/blas; the backends share these
// checks, so they agree on what is wrong.
package shape

import "math/bits"

// Matrix panics unless a slice of the given length holds a row-major rows×cols
// matrix with leading dimension ld: rows, cols >= 0, ld >= max(1, cols) and,
// where there are entries, length >= (rows−1)·ld + cols.
func Matrix(rows, cols, ld, length int) {
	if rows < 0 {
		panic("engine: negative number of rows")
	}
	if cols < 0 {
		panic("engine: negative number of columns")
	}
	if ld < max(1, cols) {
		panic("engine: leading dimension less than the number of columns")
	}
	if rows == 0 || cols == 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(rows-1), uint64(ld))
	if hi != 0 || length < cols || lo > uint64(length-cols) {
		panic("engine: matrix longer than its slice")
	}
}

// Op is Matrix for op(A) rows×cols, A transposed when trans is set.
func Op(trans bool, rows, cols, ld, length int) {
	if trans {
		rows, cols = cols, rows
	}
	Matrix(rows, cols, ld, length)
}

// Vector panics unless a slice of the given length holds n numbers.
func Vector(n, length int) {
	if n < 0 {
		panic("engine: negative length")
	}
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
