package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// CSR is a block of sparse rows in compressed sparse row form. Row i has its
// nonzeros in ColIdx[RowPtr[i]:RowPtr[i+1]] and Val[RowPtr[i]:RowPtr[i+1]],
// with strictly increasing column indices. It is a view: rows of a block may
// be cut out by slicing RowPtr.
type CSR struct {
	Rows, Cols int
	RowPtr     []int     // length Rows+1, non-decreasing
	ColIdx     []int32   // 0-based
	Val        []float64 // as long as ColIdx
}

// Row returns the column indices and values of row i, without copying.
func (s *CSR) Row(i int) ([]int32, []float64) {
	lo, hi := s.RowPtr[i], s.RowPtr[i+1]
	return s.ColIdx[lo:hi], s.Val[lo:hi]
}

// NNZ is the number of stored entries.
func (s *CSR) NNZ() int {
	if s.Rows == 0 {
		return 0
	}
	return s.RowPtr[s.Rows] - s.RowPtr[0]
}

// Slice returns rows lo to hi, hi excluded, sharing memory with s.
func (s *CSR) Slice(lo, hi int) CSR {
	return CSR{Rows: hi - lo, Cols: s.Cols, RowPtr: s.RowPtr[lo : hi+1], ColIdx: s.ColIdx, Val: s.Val}
}

// Gradient is [Backend.Gradient] for sparse rows: R = S·Xᵀ − B (n×t, overwritten) and
// G += Rᵀ·S (t×d), in O(t·nnz). A b without Data stands for B = 0.
//
// It adds up in the order of the entries: of an element of R as many terms as the row
// has entries, and −b; to an element of G one after the other, as many as its column has
// entries.
func (s *CSR) Gradient(x, b, g, r Matrix) {
	t := x.Rows
	matrix.Is(&x, t, s.Cols)
	matrix.Is(&g, t, s.Cols)
	matrix.Is(&r, s.Rows, t)
	if b.Data != nil {
		matrix.Is(&b, s.Rows, t)
	}
	for i := range s.Rows {
		idx, val := s.Row(i)
		for q := range t {
			xq := x.Row(q)
			var sum float64
			for k, j := range idx {
				sum += val[k] * xq[j]
			}
			if b.Data != nil {
				sum -= b.Data[i*b.Stride+q]
			}
			r.Data[i*r.Stride+q] = sum
			gq := g.Row(q)
			for k, j := range idx {
				gq[j] += sum * val[k]
			}
		}
	}
}
