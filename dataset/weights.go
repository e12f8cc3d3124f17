package dataset

import (
	"context"
	"fmt"
	"iter"
)

// Weigh takes the rows of x and, as their weights, the one feature of w, which must
// be dense and have as many rows ([ErrShape]). A row of weight w >= 0 counts w
// times in every sum; the number of rows, as in GCV, stays what it is. A negative weight
// is an *[InputError] that names "weights" as its file and, as its line, the row.
func Weigh(x, w Source) (Source, error) {
	nx, _, _ := x.Dims()
	nw, d, _ := w.Dims()
	switch {
	case d != 1:
		return nil, mismatched("the weights have %d columns, must be one", d)
	case nx >= 0 && nw >= 0 && nx != nw:
		return nil, unequal(nx, nw, "weights")
	}
	return &zip{x, w, true}, nil
}

// checkWeights refuses negative weights. w[0] is that of row first, counted from 0.
func checkWeights(w []float64, first int64) error {
	for i, v := range w {
		if v < 0 {
			row := int(first) + i + 1
			return &InputError{File: "weights", Line: row, Msg: fmt.Sprintf("row %d has the weight %v; a weight must not be negative", row, v)}
		}
	}
	return nil
}

// TargetAsWeight returns src with its last target as the weights of the rows. A
// negative weight is an *[InputError].
func TargetAsWeight(src Source) (Source, error) {
	if _, _, t := src.Dims(); t < 1 {
		return nil, unfit("no target to take for weights")
	}
	return &lastTarget{src}, nil
}

type lastTarget struct{ src Source }

func (s *lastTarget) Dims() (n int64, d, t int) {
	n, d, t = s.src.Dims()
	return n, d, t - 1
}

func (s *lastTarget) BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, _, t := s.Dims()
		var y, w []float64
		for b, err := range From(ctx, s.src, first) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			y, w = y[:0], w[:0]
			for i := range b.N {
				row := b.Y[i*(t+1) : (i+1)*(t+1)]
				y, w = append(y, row[:t]...), append(w, row[t])
			}
			if err := checkWeights(w, b.First); err != nil {
				yield(Block{}, err)
				return
			}
			b.Y, b.W = y, w
			if !yield(b, nil) {
				return
			}
		}
	}
}
