package batch

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/background"
)

// A Counter is a source that counts its nonzero features in the first pass that comes to its
// end. With [Job.Count] a pass that goes on from a checkpoint goes on counting.
type Counter struct {
	dataset.Source
	// Progress, if not nil, is called with the number of rows read so far, until they are counted.
	Progress func(rows int64)

	rows    *Counter // that counts for these columns; nil: the source has rows
	earlier nonzeros // of the rows before those that a pass goes on with
	keep    bool     // marks are wanted

	mu    sync.Mutex // a pass reads ahead of the sketch
	all   nonzeros   // once they are known
	marks []nonzeros // between the blocks that were yielded, since the last one asked for
}

// nonzeros is the number of nonzeros of all rows, or of those before the first row of a block.
type nonzeros struct {
	All   bool  `json:"all"`
	Row   int64 `json:"row"`
	Count int64 `json:"count"`
}

// Nonzeros returns the number of nonzero features, 0 before a pass has come to its end.
func (c *Counter) Nonzeros() int64 { return c.known().Count }

func (c *Counter) known() nonzeros {
	if c.rows != nil {
		return c.rows.known()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// done ends the counting.
func (c *Counter) done(count int64) {
	if c.rows != nil {
		c.rows.done(count)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all, c.marks = nonzeros{All: true, Count: count}, nil
}

// resume takes the count of another run, and keeps marks for a later one.
func (c *Counter) resume(from nonzeros) {
	if from.All {
		c.all = from
	} else {
		c.earlier, c.keep = from, true
	}
}

// before returns the nonzeros before the block that holds a row, or all of them.
func (c *Counter) before(row int64) nonzeros {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all.All {
		return c.all
	}
	for len(c.marks) > 1 && c.marks[1].Row <= row {
		c.marks = c.marks[1:]
	}
	if len(c.marks) == 0 {
		return c.earlier
	}
	return c.marks[0]
}

func (c *Counter) mark(m nonzeros) {
	if c.keep {
		c.mu.Lock()
		c.marks = append(c.marks, m)
		c.mu.Unlock()
	}
}

// Blocks reads all rows.
func (c *Counter) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return c.BlocksFrom(ctx, 0)
}

// BlocksFrom reads the rows from the block of row first on.
func (c *Counter) BlocksFrom(ctx context.Context, first int64) iter.Seq2[dataset.Block, error] {
	ctx = background.IfNil(ctx)
	if c.known().All {
		return dataset.From(ctx, c.Source, first)
	}
	return func(yield func(dataset.Block, error) bool) {
		var at nonzeros
		if first > 0 {
			at = c.earlier
		}
		c.mark(at)
		for b, err := range dataset.From(ctx, c.Source, first) {
			if err == nil && b.First != at.Row {
				yield(dataset.Block{}, fmt.Errorf("the block of row %d begins with row %d, it began with row %d", first+1, b.First+1, at.Row+1))
				return
			}
			at.Count += nonzerosOf(b)
			at.Row += int64(b.N)
			c.mark(at)
			if c.Progress != nil {
				c.Progress(at.Row)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		c.done(at.Count)
	}
}

// Once is [dataset.Once] of the source.
func (c *Counter) Once() bool { return dataset.Once(c.Source) }

func nonzerosOf(b dataset.Block) (n int64) {
	if b.Sparse != nil {
		n = int64(b.Sparse.NNZ())
	}
	for _, v := range b.X {
		if v != 0 {
			n++
		}
	}
	return n
}

// ByColumns is that of [dataset.Columnar]. Columns are counted like rows.
func (c *Counter) ByColumns() dataset.Columns {
	features, ok := dataset.ByColumns(c.Source)
	if !ok {
		return dataset.Columns{}
	}
	return dataset.Columns{Features: &Counter{Source: features, rows: c}}
}

// Samples is that of [dataset.Columnar].
func (c *Counter) Samples(ctx context.Context) (y, w []float64, err error) {
	return dataset.Samples(ctx, c.Source)
}
