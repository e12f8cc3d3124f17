package dataset

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/fdridge/fdridge/internal/parallel"
)

// Filter returns row i of each block b of src if keep(b, i) is true. An error of keep ends the pass. After the first
// whole pass, Filter calls whole, unless it is nil, with the number of rows that were left out.
func Filter(src Source, keep func(b Block, i int) (bool, error), whole func(leftOut int64)) Source {
	return &subset{src: src, keep: keep, whole: whole}
}

// subset is a source of the rows selected by keep.
type subset struct {
	src      Source
	keep     func(b Block, i int) (bool, error)
	whole    func(leftOut int64)
	byNumber bool         // keep needs only the number of the row, and whole is nil
	n        atomic.Int64 // number of rows plus one; 0: not counted yet
}

// newSubset returns the rows for whose number keep returns true.
func newSubset(src Source, keep func(row int64) bool) *subset {
	return &subset{src: src, byNumber: true, keep: func(b Block, i int) (bool, error) { return keep(b.First + int64(i)), nil }}
}

func (s *subset) Dims() (n int64, d, t int) {
	all, d, t := s.src.Dims()
	if n = s.n.Load(); n > 0 || all < 0 || !s.byNumber {
		return n - 1, d, t
	}
	for i := range all {
		if kept, _ := s.keep(Block{First: i}, 0); kept {
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
		copyFeatures := func(part int) error {
			for k := len(rows) * part / 64; k < len(rows)*(part+1)/64; k++ {
				copy(out.X[k*d:(k+1)*d], in.X[rows[k]*d:])
			}
			return nil
		}
		for b, err := range s.src.Blocks(ctx) {
			in, rows = b, rows[:0]
			in.First = seen
			for i := 0; i < b.N && err == nil; i++ {
				var kept bool
				if kept, err = s.keep(in, i); kept {
					rows = append(rows, i)
				}
			}
			if err != nil {
				yield(Block{}, err)
				return
			}
			if seen += int64(b.N); len(rows) == 0 {
				continue
			}
			if len(rows) < b.N {
				out.Reset()
				width := d
				if out.Sparse = b.Sparse != nil; !out.Sparse {
					out.X, width = slices.Grow(out.X, len(rows)*d)[:len(rows)*d], 0
					_ = parallel.Do(64, len(out.X), copyFeatures)
				}
				for _, i := range rows { // if width is 0, AppendRow copies no features
					out.AppendRow(b, i, width, t)
				}
				b = out.Block(given, d)
			}
			b.First = given
			if given += int64(b.N); !yield(b, nil) {
				return
			}
		}
		if s.n.Swap(given+1) == 0 && s.whole != nil {
			s.whole(seen - given)
		}
	}
}
