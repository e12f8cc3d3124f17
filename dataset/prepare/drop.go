package prepare

import (
	"context"
	"iter"
	"math"
	"sync/atomic"

	"github.com/fdridge/fdridge/dataset"
)

// A dropper leaves out rows with missing values. nil keeps all.
type dropper struct {
	all     bool  // leave out a row if any of its values is missing
	columns []int // leave out a row if one of these features is missing
	target  bool  // leave out a row if a target or the weight is missing
}

// dropper returns nil if all rows are kept.
func (e *Encoding) dropper() *dropper {
	d := &dropper{all: e.Missing == MissingDrop, target: e.Targets == MissingDrop}
	if e.Columns != nil {
		for j, c := range e.read() {
			if c.Missing == MissingDrop && c.Use != UseOmit {
				d.columns = append(d.columns, j)
			}
		}
	}
	if !d.all && !d.target && d.columns == nil {
		return nil
	}
	return d
}

// drops reports whether row i of a dense block is left out.
// If checkTarget is false, missing targets and weights are ignored.
func (r *dropper) drops(b dataset.Block, i, d int, checkTarget bool) bool {
	switch {
	case r == nil:
		return false
	case r.all:
		return !isComplete(b, i, d)
	case r.target && checkTarget && !hasTarget(b, i):
		return true
	}
	for _, j := range r.columns {
		if x := b.X[i*d+j]; x != x && !isForeign(x) { // in rows for Look, texts and dates are NaN as well
			return true
		}
	}
	return false
}

// hasTarget reports whether row i has all targets and a weight.
func hasTarget(b dataset.Block, i int) bool {
	t := len(b.Y) / max(b.N, 1)
	return !hasNaN(b.Y[i*t:(i+1)*t]) && (b.W == nil || !math.IsNaN(b.W[i]))
}

// isComplete reports whether row i has no missing value.
func isComplete(b dataset.Block, i, d int) bool { return !hasNaN(b.X[i*d:(i+1)*d]) && hasTarget(b, i) }

func hasNaN(row []float64) bool {
	for _, x := range row {
		if x != x {
			return true
		}
	}
	return false
}

// completeRows is a source without the rows that drops leaves out.
type completeRows struct {
	src   dataset.Source
	drops *dropper
	tally *Tally
	n     atomic.Int64 // number of rows plus one; 0: not counted yet
}

func (s *completeRows) Dims() (n int64, d, t int) {
	_, d, t = s.src.Dims()
	return s.n.Load() - 1, d, t
}

func (s *completeRows) Once() bool { return dataset.Once(s.src) }

func (s *completeRows) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		_, d, t := s.src.Dims()
		var out dataset.Buffer
		var given, dropped int64
		for b, err := range s.src.Blocks(ctx) {
			if err != nil {
				yield(dataset.Block{}, err)
				return
			}
			if b.Sparse != nil {
				yield(dataset.Block{}, newSourceError("sparse rows have no missing values"))
				return
			}
			out.Reset()
			for i := range b.N {
				if !s.drops.drops(b, i, d, true) {
					out.AppendRow(b, i, d, t)
				}
			}
			dropped += int64(b.N - out.N)
			switch out.N {
			case 0:
				continue
			case b.N:
				b.First = given
			default:
				b = out.Block(given, d)
			}
			given += int64(b.N)
			if !yield(b, nil) {
				return
			}
		}
		if s.n.Swap(given+1) == 0 {
			s.tally.Dropped.Add(dropped)
		}
	}
}
