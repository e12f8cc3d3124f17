package batch

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/fdridge/fdridge/dataset"
)

// A Counter reads a source and counts the nonzero entries of the features in the first complete pass. [Job.Count]
// stores the count in the checkpoint. Therefore a resumed job can continue the count.
type Counter struct {
	dataset.Source
	// Progress, if not nil, is called with the number of rows read so far, as long as the nonzero entries are
	// counted. After the first complete pass it is not called.
	Progress func(rows int64)

	rows    *Counter // stores the count if this Counter reads columns; nil if it reads rows
	earlier nonzeros // the count before the row at which a resumed pass starts
	keep    bool     // whether to record marks, for checkpoints

	mu    sync.Mutex // guards all and marks: blocks are read while earlier ones are sketched
	all   nonzeros   // the complete count, once it is known
	marks []nonzeros // counts at the block boundaries since the last call of countBefore
}

// nonzeros is a count of nonzero entries of the features. If All is true, the count is for all rows, otherwise for
// the rows before the index Row.
type nonzeros struct {
	All   bool  `json:"all"`
	Row   int64 `json:"row"`
	Count int64 `json:"count"`
}

// Nonzeros returns the number of nonzero entries of the features, or 0 before a pass has been completed.
func (c *Counter) Nonzeros() int64 { return c.known().Count }

func (c *Counter) known() nonzeros {
	if c.rows != nil {
		return c.rows.known()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

// finish stores the complete count.
func (c *Counter) finish(count int64) {
	if c.rows != nil {
		c.rows.finish(count)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = nonzeros{All: true, Count: count}
	c.marks = nil
}

// resume sets the count at which a resumed pass starts, and makes c record the counts at block boundaries.
func (c *Counter) resume(from nonzeros) {
	if from.All {
		c.all = from
	} else {
		c.earlier, c.keep = from, true
	}
}

// countBefore returns the number of nonzero entries before the block that contains the row. If the count for all
// rows is known, it returns this count.
func (c *Counter) countBefore(row int64) nonzeros {
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

// BlocksFrom reads the rows from index firstRow on. firstRow must be the index of the first row of a block.
func (c *Counter) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[dataset.Block, error] {
	if c.known().All {
		return dataset.From(ctx, c.Source, firstRow)
	}
	return func(yield func(dataset.Block, error) bool) {
		var at nonzeros
		if firstRow > 0 {
			at = c.earlier
		}
		c.mark(at)
		for b, err := range dataset.From(ctx, c.Source, firstRow) {
			if err == nil && b.First != at.Row {
				yield(
					dataset.Block{},
					fmt.Errorf(
						"the block of row %d begins with row %d, before it began with row %d",
						firstRow+1,
						b.First+1,
						at.Row+1,
					),
				)
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
		c.finish(at.Count)
	}
}

// Once reports whether the source can be read only once, see [dataset.Once].
func (c *Counter) Once() bool { return dataset.Once(c.Source) }

func nonzerosOf(b dataset.Block) (n int64) {
	if b.Sparse != nil {
		n = int64(b.Sparse.NNZ())
	}
	x := b.X
	for ; len(x) >= 4; x = x[4:] {
		if math.Abs(x[0]*x[1]*x[2]*x[3]) > 0 { // one comparison instead of four; the product may underflow or be NaN
			n += 4
		} else {
			n += nonzerosIn(x[:4])
		}
	}
	return n + nonzerosIn(x)
}

func nonzerosIn(x []float64) (n int64) {
	for _, v := range x {
		if v != 0 {
			n++
		}
	}
	return n
}

// ByColumns implements [dataset.Columnar]. A complete pass by columns counts nonzero entries, like a pass by rows.
func (c *Counter) ByColumns() dataset.Columns {
	features, ok := dataset.ByColumns(c.Source)
	if !ok {
		return dataset.Columns{}
	}
	return dataset.Columns{Features: &Counter{Source: features, rows: c}}
}

// Samples implements [dataset.Columnar].
func (c *Counter) Samples(ctx context.Context) (y, w []float64, err error) {
	return dataset.Samples(ctx, c.Source)
}
