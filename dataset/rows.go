package dataset

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/engine"
)

// Rows returns a source of the rows lo to hi−1 of src, counted from 0. It returns [ErrShape] if the range is empty,
// or if src is known to have fewer than hi rows. If the number of rows is unknown and turns out to be less than hi,
// a pass over the rows ends with [ErrShape].
func Rows(src Source, lo, hi int64) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	n, _, _ := src.Dims()
	switch {
	case lo < 0 || hi <= lo:
		return nil, newSourceError("rows %d to %d are not a valid range", lo+1, hi)
	case n >= 0 && hi > n:
		return nil, newTooFewError(lo, hi, n)
	}
	return &rows{src, lo, hi}, nil
}

func newTooFewError(lo, hi, n int64) error {
	return newSourceError("rows %d to %d were requested, but there are only %d", lo+1, hi, n)
}

type rows struct {
	src    Source
	lo, hi int64
}

func (r *rows) Dims() (n int64, d, t int) {
	_, d, t = r.src.Dims()
	return r.hi - r.lo, d, t
}

func (r *rows) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		n, d, t := r.src.Dims()
		var view engine.CSR
		at := r.lo + firstRow
		for b, err := range From(ctx, r.src, at) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			from := max(r.lo-b.First, 0)
			to := min(r.hi-b.First, int64(b.N))
			if from < to && b.First+to > r.lo+firstRow {
				out := b.Cut(int(from), int(to), d, t, &view)
				out.First = b.First + from - r.lo
				if !yield(out, nil) {
					return
				}
			}
			// If src has exactly hi rows, read on to its end, because src may still report an error. An example is
			// an error about targets without features.
			at = b.First + int64(b.N)
			if at >= r.hi && at != n {
				return
			}
		}
		if n >= 0 {
			at = n
		}
		if at < r.hi {
			yield(Block{}, newTooFewError(r.lo, r.hi, at))
		}
	}
}

// Cut returns the rows lo to hi−1 of a block with d features and t targets per row. The result shares the memory of
// the block. For sparse rows, the result also uses view, which Cut overwrites. Cut panics if the block has fewer
// than hi rows.
func (b Block) Cut(lo, hi, d, t int, view *engine.CSR) Block {
	out := Block{
		First: b.First + int64(lo),
		N:     hi - lo,
		Y:     b.Y[lo*t : hi*t],
	}
	if b.W != nil {
		out.W = b.W[lo:hi]
	}
	if b.Sparse != nil {
		*view = b.Sparse.Slice(lo, hi)
		out.Sparse = view
	} else {
		out.X = b.X[lo*d : hi*d]
	}
	return out
}
