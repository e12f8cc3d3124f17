package engine

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Products of sparse rows S (n×d) with few dense ones, and with each other, are made in strips of
// columns: all rows are gone through for the entries that they have in a strip, while what the
// strip has of the dense rows, k×w, lies in the cache, transposed: what an entry is multiplied
// with, or added to, is then one vector of k numbers. So dense rows come from memory once,
// however the entries are scattered.

const (
	// sparseStrip is how many columns a strip of S·Sᵀ has, where nothing is transposed.
	sparseStrip = 2048
	// tileBytes is what a transposed strip takes, which stays in the second-level cache, and
	// fewestColumns how many columns it has for all that.
	tileBytes, fewestColumns = 256 << 10, 32
	// tileRows is how many rows are transposed together: a line of the cache of each column.
	tileRows = 8
)

// SparseWork is the memory of products of sparse rows. Its zero value is ready; it grows to what
// a product needs and serves one at a time.
type SparseWork struct {
	tile  []float64   // a strip of dense rows, transposed: column by column
	other []float64   // AddLeftMul: W, transposed
	next  []int       // the first entry of each row that has not been in a strip
	runs  []sparseRun // the rows that have entries in the strip at hand
	first []int32     // Gram: 1 + the last of shared in each column of the strip, 0 where there is none
	share []sharing   // Gram: the entries of the strip that have been gone through
}

// A sparseRun is the entries lo to hi of a row, those in a strip.
type sparseRun struct{ row, lo, hi int }

// A sharing is an entry, and 1 + the one before it in the same column, or 0.
type sharing struct {
	row, before int32
	value       float64
}

// begin goes back to the first strip of s.
func (w *SparseWork) begin(s *CSR) {
	w.next = append(w.next[:0], s.RowPtr[:s.Rows]...)
}

// strip finds the entries in columns below end that have not been in a strip.
func (w *SparseWork) strip(s *CSR, end int) {
	w.runs = w.runs[:0]
	for i, lo := range w.next {
		hi, last := lo, s.RowPtr[i+1]
		for hi < last && int(s.ColIdx[hi]) < end {
			hi++
		}
		if hi > lo {
			w.runs = append(w.runs, sparseRun{i, lo, hi})
			w.next[i] = hi
		}
	}
}

// columns is how many columns of k dense rows a strip has, for which it makes room.
func (w *SparseWork) columns(k int) int {
	n := max(tileBytes/word/max(k, 1), fewestColumns)
	w.tile = grown(w.tile, n*k)
	return n
}

// grown returns n numbers of any value, in the memory of x where that is enough.
func grown(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// transpose overwrites t with columns lo to hi of B, one after the other.
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

// addTransposed adds to columns lo to hi of B those of t, one after the other.
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

// TimesDense computes C = S·Bᵀ, S n×d, B k×d and C n×k.
//
// An element of C is added up in the order of the entries: with z of them in the row, no way of a
// product into the sum has more than z roundings, its own included.
func (s *CSR) TimesDense(b, c Matrix, work *SparseWork) {
	k := b.Rows
	matrix.Is(&b, k, s.Cols)
	matrix.Is(&c, s.Rows, k)
	for i := range s.Rows {
		clear(c.Row(i))
	}
	loops, width := rowLoops(), work.columns(k)
	work.begin(s)
	for lo := 0; lo < s.Cols; lo += width {
		hi := min(lo+width, s.Cols)
		if work.strip(s, hi); len(work.runs) == 0 || k == 0 {
			continue
		}
		transpose(b, lo, hi, work.tile)
		for _, r := range work.runs {
			to := c.Row(r.row)
			for e := r.lo; e < r.hi; e++ {
				at := (int(s.ColIdx[e]) - lo) * k
				loops.Axpy(s.Val[e], work.tile[at:at+k], to)
			}
		}
	}
}

// AddLeftMul computes B = B + W·S with S n×d, W k×n and B k×d. Of an element of W·S the products, one
// for each entry in its column, are added up in the order of the rows before it is added to B.
func (s *CSR) AddLeftMul(w, b Matrix, work *SparseWork) {
	k := b.Rows
	matrix.Is(&b, k, s.Cols)
	matrix.Is(&w, k, s.Rows)
	work.other = grown(work.other, k*s.Rows)
	transpose(w, 0, s.Rows, work.other)
	loops, width := rowLoops(), work.columns(k)
	work.begin(s)
	for lo := 0; lo < s.Cols; lo += width {
		hi := min(lo+width, s.Cols)
		if work.strip(s, hi); len(work.runs) == 0 || k == 0 {
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

// Gram computes the lower triangle of C = S·Sᵀ, C n×n; the rest of C is neither read nor
// written. It takes one product for each two entries that share a column, and each goes into its
// sum by itself.
func (s *CSR) Gram(c Matrix, work *SparseWork) {
	matrix.Is(&c, s.Rows, s.Rows)
	for i := range s.Rows {
		clear(c.Row(i)[:i+1])
	}
	if len(work.first) < sparseStrip {
		work.first = make([]int32, sparseStrip)
	}
	work.begin(s)
	for lo := 0; lo < s.Cols; lo += sparseStrip {
		work.strip(s, min(lo+sparseStrip, s.Cols))
		clear(work.first)
		work.share = work.share[:0]
		for _, r := range work.runs {
			row := c.Row(r.row)
			for e := r.lo; e < r.hi; e++ {
				v, first := s.Val[e], &work.first[int(s.ColIdx[e])-lo]
				for at := *first; at > 0; {
					o := &work.share[at-1]
					row[o.row] += float64(v * o.value)
					at = o.before
				}
				row[r.row] += float64(v * v)
				work.share = append(work.share, sharing{int32(r.row), *first, v})
				*first = int32(len(work.share))
			}
		}
	}
}
