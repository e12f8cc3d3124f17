package dataset

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine"
)

// A Reader yields the rows of one pass over a file.
type Reader interface {
	// Read appends up to rows rows to b. It returns io.EOF, and nothing, at the
	// end, and an *[InputError] for what the file got wrong.
	Read(b *Buffer, rows int) error
	Close() error
}

// A Stream is a Source that opens a [Reader] for each pass and reads ahead.
type Stream struct {
	d, t   int
	sparse bool
	open   func() (Reader, error)
	n      atomic.Int64
	passes atomic.Int64
}

// NewStream makes a Stream of n rows (-1 if unknown), d features and t targets.
func NewStream(n int64, d, t int, sparse bool, open func() (Reader, error)) *Stream {
	s := &Stream{d: d, t: t, sparse: sparse, open: open}
	s.n.Store(n)
	return s
}

// Dims is known in full after the first whole pass.
func (s *Stream) Dims() (n int64, d, t int) { return s.n.Load(), s.d, s.t }

// Passes is how often the file has been opened to be read.
func (s *Stream) Passes() int { return int(s.passes.Load()) }

// Blocks makes one pass.
func (s *Stream) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		tuning, err := engine.DefaultTuning()
		if err != nil {
			yield(Block{}, err)
			return
		}
		s.passes.Add(1)
		r, err := s.open()
		if err != nil {
			yield(Block{}, err)
			return
		}
		rows, n, ended := tuning.GradientRows(s.d), int64(0), false
		for b, err := range ahead(ctx, s.d, func(_ context.Context, b *Buffer) error {
			b.Sparse = s.sparse
			err := r.Read(b, rows)
			n += int64(b.N)
			ended = errors.Is(err, io.EOF)
			return err
		}) {
			if !yield(b, err) || err != nil {
				r.Close() // of a file that was only read
				return
			}
		}
		if err := r.Close(); err != nil {
			yield(Block{}, err)
			return
		}
		if ended {
			s.n.Store(n)
		}
	}
}
