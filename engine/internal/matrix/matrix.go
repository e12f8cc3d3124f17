// Package matrix has the value in which the engine and its backends pass a dense
// matrix: engine.Matrix is its alias. What a programmer got wrong about shapes panics
// here, in the words of one place, so that backends agree on what is wrong.
package matrix

// Matrix is a view of a row-major Rows×Cols matrix: element (i, j) is
// Data[i*Stride+j]. See engine.Matrix.
type Matrix struct {
	Rows, Cols int
	Data       []float64
	Stride     int
}

// View is the rows×cols matrix whose rows lie one behind the other in data.
func View(rows, cols int, data []float64) Matrix {
	return Matrix{Rows: rows, Cols: cols, Data: data, Stride: max(1, cols)}
}

// Strided is the rows×cols matrix whose rows begin stride elements apart in data.
func Strided(rows, cols int, data []float64, stride int) Matrix {
	return Matrix{Rows: rows, Cols: cols, Data: data, Stride: stride}
}

// Row returns row i, without copying.
func (m Matrix) Row(i int) []float64 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

// Slice returns rows i to k and columns j to l, k and l excluded, sharing memory with
// m: the order of arguments is that of gonum's mat.Dense.
func (m Matrix) Slice(i, k, j, l int) Matrix {
	if i < 0 || k < i || k > m.Rows || j < 0 || l < j || l > m.Cols {
		panic("engine: slice out of the matrix")
	}
	s := Matrix{Rows: k - i, Cols: l - j, Stride: m.Stride}
	if s.Rows > 0 && s.Cols > 0 {
		s.Data = m.Data[i*m.Stride+j : (k-1)*m.Stride+l]
	}
	return s
}

// Shape returns that of op(m), which is mᵀ where trans is set.
func Shape(trans bool, m *Matrix) (rows, cols int) {
	if trans {
		return m.Cols, m.Rows
	}
	return m.Rows, m.Cols
}

// Span returns rows i to k of op(m), as they lie in m: where trans is set, columns of it.
func Span(trans bool, m Matrix, i, k int) Matrix {
	if trans {
		return m.Slice(0, m.Rows, i, k)
	}
	return m.Slice(i, k, 0, m.Cols)
}
