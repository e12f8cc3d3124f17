package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A Matrix is a view of a matrix whose rows are stored one after the other:
//
//	type Matrix struct {
//		Rows, Cols int
//		Data       []float64
//		Stride     int
//	}
//
// Element (i, j) is Data[i*Stride+j]. If a matrix has entries, Stride must be at least Cols, and Data must have at
// least (Rows−1)·Stride + Cols elements. The zero value is a matrix without entries. The fields are the same as in
// gonum's blas64.General, so that the types can be converted to each other.
//
// The method Row(i) returns row i without copying. The method Slice(i, k, j, l) returns a view of rows i to k and
// columns j to l. Row k and column l are excluded.
type Matrix = matrix.Matrix

// View returns a rows×cols matrix that shares the memory of data. Each row directly follows the row before it.
func View(rows, cols int, data []float64) Matrix {
	return matrix.View(rows, cols, data)
}

// Strided returns a rows×cols matrix that shares the memory of data. Row i begins at data[i*stride].
func Strided(rows, cols int, data []float64, stride int) Matrix {
	return matrix.Strided(rows, cols, data, stride)
}
