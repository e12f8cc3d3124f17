package dataset

import (
	"context"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/fdridge/fdridge/engine"
)

// A Buffer is the memory of one block, which a [Reader] or transform fills again
// and again: it appends rows to X or, for a sparse source, to CSR, to Y, and to W
// where rows are weighted.
type Buffer struct {
	N      int
	X      []float64 // row-major
	Sparse bool
	CSR    engine.CSR
	Y      []float64
	W      []float64 // empty, or of every row

	first int64     // row of the source it begins with, for ahead
	lent  []float64 // the features, where they are lent; see Lend
	done  func()
}

// Lend makes x the features of a block of n dense rows, which has none yet: memory of another's,
// which nobody writes to until done is called. That is when the block is no longer in use, if the
// pass goes on by then. It makes room for the n·t targets and returns it.
func (b *Buffer) Lend(x []float64, n, t int, done func()) (y []float64) {
	b.lent, b.done, b.N = x, done, n
	b.Y = slices.Grow(b.Y[:0], n*t)[:n*t]
	return b.Y
}

// release lets go of what was lent.
func (b *Buffer) release() {
	if b.done != nil {
		b.done()
	}
	b.lent, b.done = nil, nil
}

// Reset empties the buffer and keeps its memory.
func (b *Buffer) Reset() {
	b.release()
	b.N, b.X, b.Y, b.W = 0, b.X[:0], b.Y[:0], b.W[:0]
	b.CSR = engine.CSR{RowPtr: append(b.CSR.RowPtr[:0], 0), ColIdx: b.CSR.ColIdx[:0], Val: b.CSR.Val[:0]}
}

// EndRow closes a row whose entries have been appended.
func (b *Buffer) EndRow() {
	b.N++
	if b.Sparse {
		b.CSR.RowPtr = append(b.CSR.RowPtr, len(b.CSR.Val))
	}
}

// extend adds n numbers to X, which are to be written, and returns them.
func (b *Buffer) extend(n int) []float64 {
	before := len(b.X)
	b.X = slices.Grow(b.X, n)[:before+n]
	return b.X[before:]
}

// AppendRow appends row i of a block of d features and t targets, which must be
// sparse and weighted where the buffer is. A row that the block does not have is a panic, as an index
// out of range.
func (b *Buffer) AppendRow(from Block, i, d, t int) {
	b.Y = append(b.Y, from.Y[i*t:(i+1)*t]...)
	if from.W != nil {
		b.W = append(b.W, from.W[i])
	}
	if from.Sparse != nil {
		idx, val := from.Sparse.Row(i)
		b.CSR.ColIdx, b.CSR.Val = append(b.CSR.ColIdx, idx...), append(b.CSR.Val, val...)
	} else {
		b.X = append(b.X, from.X[i*d:(i+1)*d]...)
	}
	b.EndRow()
}

// Block presents the buffer as rows of d features that begin at row first.
func (b *Buffer) Block(first int64, d int) Block {
	out := Block{First: first, N: b.N}
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

// depth is how many blocks there are at a time: being filled, waiting or in use.
const depth = 3

// buffers are those of passes that have come to their end, for later ones: memory that was
// written to before is several times as fast as what the system has yet to provide.
var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// ahead makes a pass whose blocks are filled by a goroutine of its own, before the
// consumer asks for them. fill appends the rows of the next block to an empty buffer and
// sets its first; it returns io.EOF itself when no rows are left. Leaving the loop stops
// the goroutine and waits until it has ended. name says what fill does, for [Waits].
func ahead(ctx context.Context, name string, d int, fill func(b *Buffer) error) iter.Seq2[Block, error] {
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
					if err := fill(b); err != nil {
						if err != io.EOF {
							failed = err
						}
						return
					}
					full <- b // never blocks: depth buffers, depth places
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
			if !yield(b.Block(b.first, d), nil) {
				return
			}
			free <- b
		}
		// The consumer has asked for more than the last block, and so has let go of it.
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
