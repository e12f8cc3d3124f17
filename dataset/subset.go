package dataset

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/fdridge/fdridge/internal/parallel"
)

// Filter returns a source of some rows of src, which must be dense. keep(b, i) decides whether row i of a block b
// is one of them. After the first whole pass, Filter calls whole, unless it is nil, with the number of rows left
// out. If src has sparse rows, a pass ends with [ErrShape].
func Filter(src Source, keep func(b *Block, i int) bool, whole func(leftOut int64)) Source {
	return &subset{src: src, keep: keep, whole: whole}
}

// subset is a source of some rows of src. If keepRow is not nil, it selects the rows by their number, otherwise
// keep selects them by their contents.
type subset struct {
	src     Source
	keepRow func(row int64) bool
	keep    func(b *Block, i int) bool
	whole   func(leftOut int64)
	n       atomic.Int64 // number of rows plus one; 0: not counted yet
}

func (s *subset) Dims() (n int64, d, t int) {
	all, d, t := s.src.Dims()
	n = s.n.Load()
	if n > 0 || all < 0 || s.keepRow == nil {
		return n - 1, d, t
	}
	for i := range all {
		if s.keepRow(i) {
			n++
		}
	}
	s.n.Store(n + 1)
	return n, d, t
}

func (s *subset) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, t := s.src.Dims()
		var in Block
		var out Buffer
		var rows []int // indices of the rows of in to keep
		var seen, given int64
		copyRows := parallel.New(nil, 64, func(part int) error { // copies dense rows
			for k := len(rows) * part / 64; k < len(rows)*(part+1)/64; k++ {
				i := rows[k]
				copy(out.X[k*d:(k+1)*d], in.X[i*d:])
				for j := range t {
					out.Y[k*t+j] = in.Y[i*t+j]
				}
				if in.W != nil {
					out.W[k] = in.W[i]
				}
			}
			return nil
		})
		for b, err := range s.src.Blocks(ctx) {
			if s.keepRow == nil && b.Sparse != nil {
				err = newSourceError("the rows to filter are sparse; they must be dense")
			}
			if err != nil {
				yield(Block{}, err)
				return
			}
			in = b
			rows = rows[:0]
			for i := range b.N {
				if s.keepRow != nil && s.keepRow(seen+int64(i)) ||
					s.keep != nil && s.keep(&in, i) {
					rows = append(rows, i)
				}
			}
			seen += int64(b.N)
			if len(rows) == 0 {
				continue
			}
			if len(rows) < b.N {
				out.Reset()
				out.Sparse = b.Sparse != nil
				if out.Sparse {
					for _, i := range rows {
						out.AppendRow(b, i, d, t)
					}
				} else {
					out.N = len(rows)
					out.X = slices.Grow(out.X, out.N*d)[:out.N*d]
					out.Y = slices.Grow(out.Y, out.N*t)[:out.N*t]
					out.W = append(out.W, b.W[:min(out.N, len(b.W))]...)
					copyRows.RunFor(len(out.X))
				}
				b = out.Block(given, d)
			}
			b.First = given
			given += int64(b.N)
			if !yield(b, nil) {
				return
			}
		}
		if s.n.Swap(given+1) == 0 && s.whole != nil {
			s.whole(seen - given)
		}
	}
}
