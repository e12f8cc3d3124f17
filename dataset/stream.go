package dataset

import (
	"context"
	"io"
	"iter"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine"
)

// A Reader reads the rows of a file for one pass.
type Reader interface {
	// Read appends between one and the given number of rows to b. At the end of the file it appends nothing and
	// returns io.EOF. If the file is invalid, it returns an *[InputError], and the rows of this call are not used.
	Read(b *Buffer, rows int) error
	Close() error
}

// A Stopper is a [Reader] whose Read may wait, for example for the writer of a [Pipe].
type Stopper interface {
	Reader
	// Stop makes the current and all future calls of Read return. It may be called at any time.
	Stop()
}

// A Stream is a [Source] that opens a [Reader] for each pass and reads ahead. If the Reader is a [Witness] and its
// file changes, the pass ends with a *[ChangedError]. The zero value has no Reader; a pass ends with a
// *[SourceError].
type Stream struct {
	// BlockRows is the maximum number of rows of a block. By default it is engine.Tuning.GradientRows for dense rows
	// and SparseRows for sparse rows. Set it before the first pass.
	BlockRows int
	// Stamp is the required stamp of the file at the start of a pass. With the zero Stamp, the file may change
	// between passes, but not during a pass. Set it before the first pass.
	Stamp Stamp
	// Single is true if the rows can be read only once, such as the rows of a [Pipe]. A second pass then ends with a
	// *[OnceError]. Set it before the first pass.
	Single bool
	// Columns, if not nil, reads single columns; see [ByColumns]. Set it before the first pass.
	Columns *Columns
	// Remarks tell how the text of the file was read. The reader of the format sets them.
	Remarks []Remark

	d, t   int
	sparse bool
	open   func() (Reader, error)
	n      atomic.Int64
	passes atomic.Int64
}

// SparseRows is the maximum number of rows of a sparse block.
const SparseRows = 1024

// NewStream returns a Stream of n rows with d features and t targets. If n is unknown, it is -1.
func NewStream(n int64, d, t int, sparse bool, open func() (Reader, error)) *Stream {
	s := &Stream{
		d:      d,
		t:      t,
		sparse: sparse,
		open:   open,
	}
	s.n.Store(n)
	return s
}

// Dims returns the numbers of rows n, features d and targets t. If n is unknown, it is -1 until
// the first whole pass has counted the rows.
func (s *Stream) Dims() (n int64, d, t int) {
	return s.n.Load(), s.d, s.t
}

// Passes returns the number of passes begun, including passes over the columns of the features.
func (s *Stream) Passes() int {
	passes := int(s.passes.Load())
	if features, ok := s.ByColumns().Features.(*Stream); ok {
		passes += features.Passes()
	}
	return passes
}

// BlocksFrom implements [Seeker]. If the Reader is a [Skipper], rows in blocks before row firstRow are not read.
func (s *Stream) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		ended, err := s.pass(ctx, firstRow, yield)
		if err != nil && !ended {
			yield(Block{}, err)
		}
	}
}

// pass makes one pass from the block of row firstRow on. ended is true if the consumer left the loop or received the
// error.
func (s *Stream) pass(
	ctx context.Context,
	firstRow int64,
	yield func(Block, error) bool,
) (ended bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.open == nil {
		return false, newSourceError("a stream without a reader; create it with NewStream")
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
	// Close r after readAhead's goroutine, which reads from r, has ended.
	defer func() {
		e := r.Close()
		if err == nil {
			err = e
		}
	}()
	if all := s.n.Load(); all >= 0 {
		firstRow = min(firstRow, all)
	}
	n, err := skip(r, firstRow, rows)
	if err != nil {
		return false, checkUnchanged(r, err)
	}
	leave := func() {}
	if s, ok := r.(Stopper); ok {
		leave = s.Stop
		defer context.AfterFunc(ctx, leave)()
	}
	whole := false
	for b, err := range readAhead(ctx, "reading", s.d, func(b *Buffer) error {
		b.firstRow, b.Sparse = n, s.sparse
		err := checkUnchanged(r, r.Read(b, rows))
		n += int64(b.N)
		whole = err == io.EOF
		return err
	}) {
		if err == nil && b.First+int64(b.N) <= firstRow {
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

// denseRows returns the default number of rows of a dense block.
func denseRows(d int) (int, error) {
	t, err := engine.DefaultTuning()
	return t.GradientRows(d), err
}
