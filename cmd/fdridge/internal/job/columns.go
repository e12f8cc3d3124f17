package job

import (
	"context"
	"iter"

	"github.com/fdridge/fdridge/dataset"
)

// ByColumns is that of [dataset.Columnar]: columns are counted as rows are.
func (c *Counter) ByColumns() dataset.Columns {
	features, ok := dataset.ByColumns(c.Source)
	if !ok {
		return dataset.Columns{}
	}
	return dataset.Columns{Features: columns{features, c}}
}

// Samples is that of [dataset.Columnar].
func (c *Counter) Samples(ctx context.Context) (y, w []float64, err error) {
	return dataset.Samples(ctx, c.Source)
}

// columns count the nonzero features that they are, in the first pass that comes to its end.
type columns struct {
	dataset.Source
	counter *Counter
}

func (s columns) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	if s.counter.known() {
		return s.Source.Blocks(ctx)
	}
	return func(yield func(dataset.Block, error) bool) {
		var count int64
		for b, err := range s.Source.Blocks(ctx) {
			count += nonzerosOf(b)
			if !yield(b, err) || err != nil {
				return
			}
		}
		s.counter.mu.Lock()
		s.counter.all, s.counter.marks = nonzeros{All: true, Count: count}, nil
		s.counter.mu.Unlock()
	}
}
