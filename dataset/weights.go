package dataset

import (
	"context"
	"fmt"
	"iter"
)

// Weigh returns the rows of x with sample weights. w is a source of one feature, the weights. It must be dense and
// have as many rows as x, otherwise the error is [ErrShape]. A row of weight w ≥ 0 counts w times in every sum. In
// the number of rows, which generalised cross-validation (GCV) uses, it counts once. A negative weight ends the
// pass over the rows with an *[InputError], whose File is "weights" and whose Line is the row.
func Weigh(x, w Source) (Source, error) { return WeighNamed(x, w, "", "") }

// WeighNamed is [Weigh] for sources with names, such as the names of their files. If the sources have different
// numbers of rows, the error contains the names.
func WeighNamed(x, w Source, xName, wName string) (Source, error) {
	if err := checkSources(x, w); err != nil {
		return nil, err
	}
	nx, _, _ := x.Dims()
	nw, d, _ := w.Dims()
	z := &zip{
		x:       x,
		y:       w,
		xName:   xName,
		yName:   wName,
		weights: true,
	}
	switch {
	case d != 1:
		return nil, newDimensionError("the weights have %d columns instead of one", d)
	case nx >= 0 && nw >= 0 && nx != nw:
		return nil, z.rowCountError(nx, nw)
	}
	return z, nil
}

// checkWeights returns an error if a weight is negative. w[0] is the weight of the row with number firstRow, and
// w[1] of the next row.
func checkWeights(w []float64, firstRow int64) error {
	for i, v := range w {
		if v < 0 {
			row := int(firstRow) + i + 1
			return &InputError{
				File: "weights",
				Line: row,
				Msg:  fmt.Sprintf("row %d has the weight %v; a weight must not be negative", row, v),
			}
		}
	}
	return nil
}

// TargetAsWeight returns src without its last target, which becomes the sample weights. A negative weight ends the
// pass over the rows with an *[InputError].
func TargetAsWeight(src Source) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	if _, _, t := src.Dims(); t < 1 {
		return nil, newSourceError("there is no target to use as weights")
	}
	return &lastTarget{src}, nil
}

type lastTarget struct{ src Source }

func (s *lastTarget) Dims() (n int64, d, t int) {
	n, d, t = s.src.Dims()
	return n, d, t - 1
}

func (s *lastTarget) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	_, _, t := s.Dims()
	var y, w []float64
	return mapBlocks(From(ctx, s.src, firstRow), func(b *Block) error {
		y, w = y[:0], w[:0]
		for i := range b.N {
			row := b.Y[i*(t+1) : (i+1)*(t+1)]
			y = append(y, row[:t]...)
			w = append(w, row[t])
		}
		b.Y, b.W = y, w
		return checkWeights(w, b.First)
	})
}
