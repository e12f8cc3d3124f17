package dataset

import (
	"context"
	"iter"
)

// Targets returns src with only its targets lo to hi−1, counted from 0. If there are no such targets, the error is
// [ErrShape].
func Targets(src Source, lo, hi int) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	_, _, t := src.Dims()
	if lo < 0 || lo >= hi || hi > t {
		return nil, newDimensionError("targets %d to %d of %d", lo, hi, t)
	}
	return someTargets{src, lo, hi}, nil
}

type someTargets struct {
	src    Source
	lo, hi int
}

func (s someTargets) Dims() (n int64, d, t int) {
	n, d, _ = s.src.Dims()
	return n, d, s.hi - s.lo
}

func (s someTargets) Once() bool { return Once(s.src) }

func (s someTargets) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	var y []float64
	return mapBlocks(s.src.Blocks(ctx), func(b *Block) error {
		y = y[:0]
		for i, t := 0, len(b.Y)/max(b.N, 1); i < b.N; i++ {
			y = append(y, b.Y[i*t+s.lo:i*t+s.hi]...)
		}
		b.Y = y
		return nil
	})
}

// mapBlocks returns a pass over blocks that change has changed. If change returns an error, the pass ends with it.
func mapBlocks(blocks iter.Seq2[Block, error], change func(b *Block) error) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		for b, err := range blocks {
			if err == nil {
				err = change(&b)
			}
			if err != nil {
				yield(Block{}, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}
