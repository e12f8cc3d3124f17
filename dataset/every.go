package dataset

import (
	"context"
	"iter"
)

// Every returns rows 0, k, 2k, … of a source: a sample that has rows from all parts of a
// file, whatever its order. A pass reads all rows. k must be positive ([ErrShape]).
func Every(src Source, k int64) (Source, error) {
	switch {
	case k < 1:
		return nil, unfit("every %d-th row cannot be taken", k)
	case k == 1:
		return src, nil
	}
	return &every{src, k}, nil
}

type every struct {
	src Source
	k   int64
}

func (e *every) Dims() (n int64, d, t int) {
	n, d, t = e.src.Dims()
	if n >= 0 {
		n = (n + e.k - 1) / e.k
	}
	return n, d, t
}

func (e *every) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, t := e.src.Dims()
		var out Buffer
		var seen, given int64
		for b, err := range e.src.Blocks(ctx) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			out.Reset()
			out.Sparse = b.Sparse != nil
			for i := range b.N {
				if seen++; (seen-1)%e.k == 0 {
					out.AppendRow(b, i, d, t)
				}
			}
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
