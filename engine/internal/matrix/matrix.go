// Package matrix defines the types that the engine and its backends share: dense matrices, and bounds on round-off. It
// also checks the shapes of operands, so that all backends panic with the same texts.
package matrix

// Matrix is a view of a matrix whose rows are stored one after the other. Element (i, j) is Data[i*Stride+j]. See
// engine.Matrix.
type Matrix struct {
	Rows, Cols int
	Data       []float64
	Stride     int
}

// View returns a rows×cols matrix that shares the memory of data. Each row directly follows the row before it.
func View(rows, cols int, data []float64) Matrix {
	return Matrix{
		Rows:   rows,
		Cols:   cols,
		Data:   data,
		Stride: max(1, cols),
	}
}

// Strided returns a rows×cols matrix that shares the memory of data. Row i begins at data[i*stride].
func Strided(rows, cols int, data []float64, stride int) Matrix {
	return Matrix{
		Rows:   rows,
		Cols:   cols,
		Data:   data,
		Stride: stride,
	}
}

// Row returns row i, without copying.
func (m Matrix) Row(i int) []float64 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

// Slice returns a view of rows i to k and columns j to l of m. Row k and column l are excluded. The arguments have
// the same order as in the method Slice of gonum's mat.Dense.
func (m Matrix) Slice(i, k, j, l int) Matrix {
	if i < 0 ||
		k < i ||
		k > m.Rows ||
		j < 0 ||
		l < j ||
		l > m.Cols {
		panic("engine: slice out of range of the matrix")
	}
	s := Matrix{Rows: k - i, Cols: l - j, Stride: m.Stride}
	if s.Rows > 0 && s.Cols > 0 {
		s.Data = m.Data[i*m.Stride+j : (k-1)*m.Stride+l]
	}
	return s
}

// Shape returns the numbers of rows and columns of m, or of mᵀ if trans is true.
func Shape(trans bool, m *Matrix) (rows, cols int) {
	if trans {
		return m.Cols, m.Rows
	}
	return m.Rows, m.Cols
}

// Span returns a view of rows i to k of m, k excluded. If trans is true, it returns columns i to k, which are the
// rows of mᵀ.
func Span(trans bool, m Matrix, i, k int) Matrix {
	if trans {
		return m.Slice(0, m.Rows, i, k)
	}
	return m.Slice(i, k, 0, m.Cols)
}
