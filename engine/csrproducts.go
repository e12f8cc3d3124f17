package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// This file computes the products of a matrix S of sparse rows (n×d) with k dense rows, and the product S·Sᵀ. It
// divides the columns of S into strips and processes one strip after the other. The part of the dense rows in a
// strip is copied and transposed, so that the k numbers of a column are contiguous. This copy stays in the cache
// while all entries of S in the strip are processed. So the dense rows are read from memory once, whatever the
// pattern of the entries. The method Times uses no strips, because its dense matrix is d×k and needs no
// transposition.

const (
	// sparseStrip is the number of columns in a strip for the product of sparse rows by each other, S·Sᵀ.
	sparseStrip = 2048
	// tileBytes is the size in bytes of a transposed strip of dense rows, which stays in the second-level cache.
	// fewestColumns is the smallest number of columns in a strip.
	tileBytes, fewestColumns = 256 << 10, 32
	// tileRows is the number of dense rows that are transposed together. Their 8 numbers of one column fill a cache
	// line.
	tileRows = 8
)

// SparseWork is a workspace for products of sparse rows. The zero value is ready to use, and the workspace grows as
// needed. Only one product at a time may use a SparseWork.
type SparseWork struct {
	tile  []float64     // a strip of dense rows, transposed
	other []float64     // AddLeftMul: W, transposed
	next  []int         // for each row, the first entry after the strips processed so far
	runs  []sparseRun   // the entries of each row in the current strip
	first []int32       // Gram: for each column of the strip, 1 + the index in share of its last entry, or 0
	share []columnEntry // Gram: the entries of the strip that were processed
}

// A sparseRun holds the stored entries lo to hi−1 of a row. They lie in one strip of columns.
type sparseRun struct{ row, lo, hi int }

// A columnEntry is a stored entry of a column in a linked list. The field before is the position of the previous
// entry in SparseWork.share plus 1, or 0 for the first entry.
type columnEntry struct {
	row, before int32
	value       float64
}

// reset prepares w for the first strip of s.
func (w *SparseWork) reset(s *CSR) {
	w.next = append(w.next[:0], s.RowPtr[:s.Rows]...)
}

// nextStrip sets w.runs to the entries in the next strip of columns, which ends before column end.
func (w *SparseWork) nextStrip(s *CSR, end int) {
	w.runs = w.runs[:0]
	for i, lo := range w.next {
		hi := lo
		last := s.RowPtr[i+1]
		for hi < last && int(s.ColIdx[hi]) < end {
			hi++
		}
		if hi > lo {
			w.runs = append(w.runs, sparseRun{i, lo, hi})
			w.next[i] = hi
		}
	}
}

// stripColumns returns the number of columns in a strip for k dense rows. It also allocates the memory for a
// transposed strip.
func (w *SparseWork) stripColumns(k int) int {
	n := max(tileBytes/word/max(k, 1), fewestColumns)
	w.tile = grow(w.tile, n*k)
	return n
}

// grow returns a slice of n unspecified numbers. It reuses the memory of x if the capacity of x is at least n.
func grow(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// transpose writes columns lo to hi of b, hi excluded, to t, one column after the other.
func transpose(b Matrix, lo, hi int, t []float64) {
	k := b.Rows
	for first := 0; first < k; first += tileRows {
		last := min(first+tileRows, k)
		if last-first < tileRows {
			for i := first; i < last; i++ {
				for c, v := range b.Row(i)[lo:hi] {
					t[c*k+i] = v
				}
			}
			continue
		}
		var rows [tileRows][]float64
		for i := range rows {
			rows[i] = b.Row(first + i)[lo:hi]
		}
		for c := range hi - lo {
			to := t[c*k+first:][:tileRows]
			for i := range to {
				to[i] = rows[i][c]
			}
		}
	}
}

// addTransposed adds the columns that are stored one after the other in t to columns lo to hi of b, hi excluded.
func addTransposed(t []float64, b Matrix, lo, hi int) {
	k := b.Rows
	for first := 0; first < k; first += tileRows {
		last := min(first+tileRows, k)
		if last-first < tileRows {
			for i := first; i < last; i++ {
				for c, row := 0, b.Row(i)[lo:hi]; c < len(row); c++ {
					row[c] += t[c*k+i]
				}
			}
			continue
		}
		var rows [tileRows][]float64
		for i := range rows {
			rows[i] = b.Row(first + i)[lo:hi]
		}
		for c := range hi - lo {
			for i, v := range t[c*k+first:][:tileRows] {
				rows[i][c] += v
			}
		}
	}
}

// TimesDense computes C = S·Bᵀ, where the sparse matrix S is n×d, B is k×d and C is n×k.
//
// An element of C is a sum over the stored entries of a row of S, in their order. If the row has z stored entries,
// each term of the sum is rounded at most z times. This number includes the rounding of the product.
func (s *CSR) TimesDense(b, c Matrix, work *SparseWork) {
	k := b.Rows
	matrix.CheckShape(&b, k, s.Cols)
	matrix.CheckShape(&c, s.Rows, k)
	for i := range s.Rows {
		clear(c.Row(i))
	}
	loops := rowLoops()
	width := work.stripColumns(k)
	work.reset(s)
	for lo := 0; lo < s.Cols; lo += width {
		hi := min(lo+width, s.Cols)
		work.nextStrip(s, hi)
		if len(work.runs) == 0 || k == 0 {
			continue
		}
		transpose(b, lo, hi, work.tile)
		tile := View(hi-lo, k, work.tile)
		for _, r := range work.runs {
			loops.AxpyRows(
				s.Val[r.lo:r.hi],
				s.ColIdx[r.lo:r.hi],
				lo,
				tile,
				c.Row(r.row),
			)
		}
	}
}

// Times computes C = S·B, where the sparse matrix S is n×d, B is d×k and C is n×k. It is fast if a few dozen
// columns of B fit in the second-level cache.
//
// An element of C is a sum over the stored entries of a row of S, in their order. If the row has z stored entries,
// each term of the sum is rounded at most z times. This number includes the rounding of the product.
func (s *CSR) Times(b, c Matrix) {
	k := b.Cols
	matrix.CheckShape(&b, s.Cols, k)
	matrix.CheckShape(&c, s.Rows, k)
	loops := rowLoops()
	for i := range s.Rows {
		to := c.Row(i)
		clear(to)
		idx, val := s.Row(i)
		loops.AxpyRows(val, idx, 0, b, to)
	}
}

// AddLeftMul computes B = B + W·S, where the sparse matrix S is n×d, W is k×n and B is k×d. For each stored entry
// S_ij in column j, it multiplies column i of W by S_ij. It sums these products in the order of i, and adds the sum
// to column j of B.
func (s *CSR) AddLeftMul(w, b Matrix, work *SparseWork) {
	k := b.Rows
	matrix.CheckShape(&b, k, s.Cols)
	matrix.CheckShape(&w, k, s.Rows)
	work.other = grow(work.other, k*s.Rows)
	transpose(w, 0, s.Rows, work.other)
	loops := rowLoops()
	width := work.stripColumns(k)
	work.reset(s)
	for lo := 0; lo < s.Cols; lo += width {
		hi := min(lo+width, s.Cols)
		work.nextStrip(s, hi)
		if len(work.runs) == 0 || k == 0 {
			continue
		}
		clear(work.tile[:(hi-lo)*k])
		for _, r := range work.runs {
			from := work.other[r.row*k : (r.row+1)*k]
			for e := r.lo; e < r.hi; e++ {
				at := (int(s.ColIdx[e]) - lo) * k
				loops.Axpy(s.Val[e], from, work.tile[at:at+k])
			}
		}
		addTransposed(work.tile, b, lo, hi)
	}
}

// Gram computes the lower triangle of the n×n matrix C = S·Sᵀ for n sparse rows S. The elements above the diagonal
// are neither read nor written. Gram needs one multiplication for every pair of stored entries in the same column.
func (s *CSR) Gram(c Matrix, work *SparseWork) {
	matrix.CheckShape(&c, s.Rows, s.Rows)
	for i := range s.Rows {
		clear(c.Row(i)[:i+1])
	}
	if len(work.first) < sparseStrip {
		work.first = make([]int32, sparseStrip)
	}
	work.reset(s)
	for lo := 0; lo < s.Cols; lo += sparseStrip {
		work.nextStrip(s, min(lo+sparseStrip, s.Cols))
		clear(work.first)
		work.share = work.share[:0]
		for _, r := range work.runs {
			row := c.Row(r.row)
			for e := r.lo; e < r.hi; e++ {
				v := s.Val[e]
				first := &work.first[int(s.ColIdx[e])-lo]
				for at := *first; at > 0; {
					o := &work.share[at-1]
					row[o.row] += float64(v * o.value)
					at = o.before
				}
				row[r.row] += float64(v * v)
				work.share = append(work.share, columnEntry{int32(r.row), *first, v})
				*first = int32(len(work.share))
			}
		}
	}
}
