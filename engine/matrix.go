package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// A Matrix is a view of a row-major matrix, as [Backend]'s operations take it:
//
//	type Matrix struct {
//		Rows, Cols int
//		Data       []float64
//		Stride     int
//	}
//
// Element (i, j) is Data[i*Stride+j]; where there are entries, Stride is Cols at least
// and Data has (Rows−1)·Stride + Cols elements or more. The zero value is a matrix
// without entries. The fields are those of gonum's blas64.General, so that either
// converts to the other.
//
// Its methods are Row(i), row i without copying, and Slice(i, k, j, l), the view of rows
// i to k and columns j to l, k and l excluded.
type Matrix = matrix.Matrix

// View is the rows×cols matrix whose rows lie one behind the other in data.
func View(rows, cols int, data []float64) Matrix { return matrix.View(rows, cols, data) }

// Strided is the rows×cols matrix whose rows begin stride elements apart in data.
func Strided(rows, cols int, data []float64, stride int) Matrix {
	return matrix.Strided(rows, cols, data, stride)
}
