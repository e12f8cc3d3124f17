package dataset

import (
	"context"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/fdridge/fdridge/engine"
)

// A Buffer is the memory of one block of rows. A [Reader] or a transform appends rows to it. Dense features go to
// X, sparse features to CSR, targets to Y, and sample weights to W.
type Buffer struct {
	N      int
	X      []float64 // row-major
	Sparse bool
	CSR    engine.CSR
	Y      []float64
	W      []float64 // empty, or one weight for every row

	firstRow int64     // index in the source of the first row; used by readAhead
	lent     []float64 // features passed to Lend, or nil
	done     func()
}

// Lend makes x the features of an empty dense block, without a copy. x holds n rows of features, row by row. Lend
// returns memory for the n·t targets. The caller must not change x until the function done is called. If the pass
// over the rows ends early, done is possibly never called.
func (b *Buffer) Lend(x []float64, n, t int, done func()) (y []float64) {
	b.lent = x
	b.done = done
	b.N = n
	b.Y = slices.Grow(b.Y[:0], n*t)[:n*t]
	return b.Y
}

// release calls the function done passed to Lend.
func (b *Buffer) release() {
	if b.done != nil {
		b.done()
	}
	b.lent, b.done = nil, nil
}

// Shorten keeps only the given number of rows, from the first row on. The buffer must be dense, with d features and
// t targets per row.
func (b *Buffer) Shorten(rows, d, t int) {
	b.N = rows
	b.Y = b.Y[:rows*t]
	if b.lent != nil {
		b.lent = b.lent[:rows*d]
	} else {
		b.X = b.X[:rows*d]
	}
}

// Reset empties the buffer and keeps its memory.
func (b *Buffer) Reset() {
	b.release()
	b.N = 0
	b.X = b.X[:0]
	b.Y = b.Y[:0]
	b.W = b.W[:0]
	b.CSR = engine.CSR{
		RowPtr: append(b.CSR.RowPtr[:0], 0),
		ColIdx: b.CSR.ColIdx[:0],
		Val:    b.CSR.Val[:0],
	}
}

// EndRow completes a row whose entries were appended.
func (b *Buffer) EndRow() {
	b.N++
	if b.Sparse {
		b.CSR.RowPtr = append(b.CSR.RowPtr, len(b.CSR.Val))
	}
}

// extend appends n numbers without a defined value to X, and returns them for the caller to set.
func (b *Buffer) extend(n int) []float64 {
	before := len(b.X)
	b.X = slices.Grow(b.X, n)[:before+n]
	return b.X[before:]
}

// AppendRow appends row i of a block with d features and t targets per row. The block and the buffer must both be
// sparse or both be dense. They must both have weights or both have none. AppendRow panics if the block has no row
// i.
func (b *Buffer) AppendRow(from Block, i, d, t int) {
	b.Y = append(b.Y, from.Y[i*t:(i+1)*t]...)
	if from.W != nil {
		b.W = append(b.W, from.W[i])
	}
	if from.Sparse != nil {
		idx, val := from.Sparse.Row(i)
		b.CSR.ColIdx = append(b.CSR.ColIdx, idx...)
		b.CSR.Val = append(b.CSR.Val, val...)
	} else {
		b.X = append(b.X, from.X[i*d:(i+1)*d]...)
	}
	b.EndRow()
}

// Block returns the rows of the buffer as a block with d features per row. firstRow is the number of its first row
// in the source, counted from 0.
func (b *Buffer) Block(firstRow int64, d int) Block {
	out := Block{First: firstRow, N: b.N}
	if len(b.Y) > 0 {
		out.Y = b.Y
	}
	if len(b.W) > 0 {
		out.W = b.W
	}
	switch {
	case b.Sparse:
		b.CSR.Rows, b.CSR.Cols = b.N, d
		out.Sparse = &b.CSR
	case b.lent != nil:
		out.X = b.lent
	default:
		out.X = b.X
	}
	return out
}

// depth is the number of buffers of a pass.
const depth = 3

// buffers keeps used Buffers for further passes, because writing to new memory is several times slower.
var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// readAhead returns a pass over blocks of rows that a goroutine prepares in advance. fill must fill an empty buffer
// and set its firstRow, or return io.EOF. When the pass ends, readAhead waits until the goroutine has ended.
func readAhead(
	ctx context.Context,
	name string,
	d int,
	fill func(b *Buffer) error,
) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		free, full := make(chan *Buffer, depth), make(chan *Buffer, depth)
		var failed error // written before full is closed, read after
		for range depth {
			free <- buffers.Get().(*Buffer)
		}
		go func() {
			defer close(full)
			for {
				select {
				case <-ctx.Done():
					failed = ctx.Err()
					return
				case b := <-free:
					b.Reset()
					err := fill(b)
					if err != nil {
						if err != io.EOF {
							failed = err
						}
						free <- b // never blocks, as below
						return
					}
					full <- b // never blocks: the channel has room for all buffers
				}
			}
		}()
		defer func() {
			cancel()
			for range full { // until the goroutine has ended
			}
		}()
		for {
			b, ok := receive(ctx, full, name)
			if !ok {
				break
			}
			if err := ctx.Err(); err != nil {
				yield(Block{}, err)
				return
			}
			if !yield(b.Block(b.firstRow, d), nil) {
				return
			}
			free <- b
		}
		// The consumer no longer uses the last block.
		close(free)
		for b := range free {
			b.release()
			buffers.Put(b)
		}
		if failed != nil {
			yield(Block{}, failed)
		}
	}
}
