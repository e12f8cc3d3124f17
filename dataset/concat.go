package dataset

import (
	"context"
	"fmt"
	"iter"
)

// Concat returns the rows of several sources, one source after the other. Their
// features and targets must agree in number ([ErrShape]).
func Concat(sources ...Source) (Source, error) {
	if len(sources) == 0 {
		return nil, fmt.Errorf("%w: no sources", ErrShape)
	}
	_, d, t := sources[0].Dims()
	for i, s := range sources {
		if _, di, ti := s.Dims(); di != d || ti != t {
			return nil, fmt.Errorf("%w: the first source has %d features and %d targets, number %d has %d and %d", ErrShape, d, t, i+1, di, ti)
		}
	}
	if len(sources) == 1 {
		return sources[0], nil
	}
	return concat(sources), nil
}

type concat []Source

func (c concat) Dims() (n int64, d, t int) {
	for _, s := range c {
		ni, di, ti := s.Dims()
		d, t = di, ti
		if ni < 0 {
			return -1, d, t
		}
		n += ni
	}
	return n, d, t
}

func (c concat) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var first int64
		for _, s := range c {
			for b, err := range s.Blocks(ctx) {
				if err == nil {
					b.First = first
					first += int64(b.N)
				}
				if !yield(b, err) || err != nil {
					return
				}
			}
		}
	}
}
