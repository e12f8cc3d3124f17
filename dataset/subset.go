package dataset

import (
	"context"
	"iter"
	"sync/atomic"
)

// subset is a source of the rows selected by keep.
type subset struct {
	src  Source
	keep func(row int64) bool
	n    atomic.Int64 // number of rows plus one; 0: not counted yet
}

func (s *subset) Dims() (n int64, d, t int) {
	all, d, t := s.src.Dims()
	if n = s.n.Load(); n > 0 || all < 0 {
		return n - 1, d, t
	}
	for i := range all {
		if s.keep(i) {
			n++
		}
	}
	s.n.Store(n + 1)
	return n, d, t
}

func (s *subset) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, t := s.src.Dims()
		var out Buffer
		var seen, given int64
		for b, err := range s.src.Blocks(ctx) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			out.Reset()
			out.Sparse = b.Sparse != nil
			for i := range b.N {
				if s.keep(seen + int64(i)) {
					out.AppendRow(b, i, d, t)
				}
			}
			seen += int64(b.N)
			if out.N == 0 {
				continue
			}
			if !yield(out.Block(given, d), nil) {
				return
			}
			given += int64(out.N)
		}
	}
}
