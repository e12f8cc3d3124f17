package job

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/fdridge/fdridge/dataset"
)

// A Counter counts the nonzero features of a source, in the first pass that comes to its end.
// A pass may go on from where another run was, with what that had counted.
type Counter struct {
	dataset.Source
	// Progress, if not nil, is told the rows read so far, where they are counted.
	Progress func(rows int64)

	earlier nonzeros // of the rows before those that a pass goes on with
	keep    bool     // marks are wanted

	mu    sync.Mutex // a pass counts ahead of whoever asks for its rows
	all   nonzeros   // once they are known
	marks []nonzeros // between the blocks that were yielded, since the last one asked for
}

// nonzeros are those of all rows, or of the rows before one that a block begins with.
type nonzeros struct {
	All   bool  `json:"all"`
	Row   int64 `json:"row"`
	Count int64 `json:"count"`
}

// Nonzeros is what was counted, 0 before a pass has come to its end.
func (c *Counter) Nonzeros() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.Count
}

// goOn takes what another run has counted, and keeps what this one can go on from.
func (c *Counter) goOn(from nonzeros) {
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
		return nonzeros{All: true, Count: c.all.Count}
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

// Blocks is that of [dataset.Source].
func (c *Counter) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return c.BlocksFrom(ctx, 0)
}

// BlocksFrom makes a pass from the block of a row on.
func (c *Counter) BlocksFrom(ctx context.Context, first int64) iter.Seq2[dataset.Block, error] {
	if c.known() {
		return dataset.From(ctx, c.Source, first)
	}
	return func(yield func(dataset.Block, error) bool) {
		var count, rows int64
		if first > 0 {
			count, rows = c.earlier.Count, c.earlier.Row
		}
		c.mark(nonzeros{Row: rows, Count: count})
		for b, err := range dataset.From(ctx, c.Source, first) {
			if err == nil && b.First != rows {
				yield(dataset.Block{}, fmt.Errorf("the block of row %d begins with row %d, it began with row %d", first+1, b.First+1, rows+1))
				return
			}
			count += nonzerosOf(b)
			rows += int64(b.N)
			c.mark(nonzeros{Row: rows, Count: count})
			if c.Progress != nil {
				c.Progress(rows)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		c.mu.Lock()
		c.all, c.marks = nonzeros{All: true, Count: count}, nil
		c.mu.Unlock()
	}
}

// Once is that of [dataset.Once].
func (c *Counter) Once() bool { return dataset.Once(c.Source) }

func (c *Counter) known() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.All
}

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
