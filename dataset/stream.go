package dataset

import (
	"context"
	"io"
	"iter"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/background"
)

// A Reader yields the rows of one pass over a file.
type Reader interface {
	// Read appends at least one and up to rows rows to b. It returns io.EOF
	// itself, and no rows, at the end, and an *[InputError] for what the file got
	// wrong; the rows of that call are then dropped.
	Read(b *Buffer, rows int) error
	Close() error
}

// A Stopper is a [Reader] whose Read may wait for others, such as those who write to a [Pipe].
type Stopper interface {
	Reader
	// Stop ends a Read that waits, and those to come. It may be called at any time.
	Stop()
}

// A Stream is a Source that opens a [Reader] for each pass and reads ahead. A file that
// changes under it, between passes or in one, ends the pass with a *[ChangedError]
// where the Reader is a [Witness], as those of files are. A pass of the zero value, which has no
// Reader, is a *[SourceError].
type Stream struct {
	// BlockRows is the most rows of a block; 0 lets the machine decide: as
	// engine.Tuning.GradientRows has it, or SparseRows for sparse rows. It is set
	// before the first pass.
	BlockRows int
	// Stamp is that of the file when the Stream was made. Whenever a pass opens the file it
	// must have the same stamp. The zero value lets the file change from one pass to the
	// next, but not during a pass. It is set before the first pass.
	Stamp Stamp
	// Single says that the rows can be read once, as those of a [Pipe]: opening the Reader again
	// is an *[OnceError]. It is set before the first pass.
	Single bool
	// Columns, if not nil, are those of a file that has them one after the other, see
	// [ByColumns]. It is set before the first pass.
	Columns *Columns

	d, t   int
	sparse bool
	open   func() (Reader, error)
	n      atomic.Int64
	passes atomic.Int64
}

// SparseRows is the most rows of a sparse block. Its Reader may end a block
// earlier to bound the entries in it.
const SparseRows = 1024

// NewStream makes a Stream of n rows (-1 if unknown), d features and t targets.
func NewStream(n int64, d, t int, sparse bool, open func() (Reader, error)) *Stream {
	s := &Stream{d: d, t: t, sparse: sparse, open: open}
	s.n.Store(n)
	return s
}

// Dims returns the number of rows, of features and of targets. A number of rows that is not
// known, -1, is known after the first whole pass.
func (s *Stream) Dims() (n int64, d, t int) { return s.n.Load(), s.d, s.t }

// Passes returns how many passes have begun, over the rows or over the features by columns.
func (s *Stream) Passes() int {
	passes := int(s.passes.Load())
	if features, ok := s.ByColumns().Features.(*Stream); ok {
		passes += features.Passes()
	}
	return passes
}

// BlocksFrom makes one pass, or the rest of one: of an array that isn't compressed
// without reading what comes before.
func (s *Stream) BlocksFrom(ctx context.Context, first int64) iter.Seq2[Block, error] {
	ctx = background.IfNil(ctx)
	return func(yield func(Block, error) bool) {
		ended, err := s.pass(ctx, first, yield)
		if err != nil && !ended {
			yield(Block{}, err)
		}
	}
}

// pass yields the blocks of one pass, beginning with the one that holds row first. ended
// reports that the consumer has left the loop or was given the error.
func (s *Stream) pass(ctx context.Context, first int64, yield func(Block, error) bool) (ended bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.open == nil {
		return false, unfit("a stream without a reader, which NewStream has not made")
	}
	rows, err := s.blockRows()
	if err != nil {
		return false, err
	}
	s.passes.Add(1)
	r, err := s.open()
	if err != nil {
		return false, err
	}
	// Runs after ahead's goroutine, which reads from r, has ended.
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	if all := s.n.Load(); all >= 0 {
		first = min(first, all)
	}
	n, err := skip(r, first, rows)
	if err != nil {
		return false, unchanged(r, err)
	}
	leave := func() {}
	if s, ok := r.(Stopper); ok {
		leave = s.Stop
		defer context.AfterFunc(ctx, leave)()
	}
	whole := false
	for b, err := range ahead(ctx, "reading", s.d, func(b *Buffer) error {
		b.first, b.Sparse = n, s.sparse
		err := unchanged(r, r.Read(b, rows))
		n += int64(b.N)
		whole = err == io.EOF
		return err
	}) {
		if err == nil && b.First+int64(b.N) <= first {
			continue
		}
		if !yield(b, err) || err != nil {
			leave()
			return true, nil
		}
	}
	if whole {
		s.n.Store(n)
	}
	return false, nil
}

func (s *Stream) blockRows() (int, error) {
	switch {
	case s.BlockRows > 0:
		return s.BlockRows, nil
	case s.sparse:
		return SparseRows, nil
	}
	return denseRows(s.d)
}

// denseRows is how many rows of d features make a dense block on this machine.
func denseRows(d int) (int, error) {
	t, err := engine.DefaultTuning()
	return t.GradientRows(d), err
}
