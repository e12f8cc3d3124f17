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
	// Read appends at least one and at most the given number of rows to b. At the end of the file it appends
	// nothing and returns io.EOF. If the file is invalid, it returns an *[InputError], and the rows that it
	// appended are not used.
	Read(b *Buffer, rows int) error
	Close() error
}

// A Stopper is a [Reader] whose method Read may wait, for example until data arrive in a [Pipe].
type Stopper interface {
	Reader
	// Stop makes the current and all future calls of Read return. It may be called at any time.
	Stop()
}

// A Stream is a [Source] that opens a [Reader] for each pass. A goroutine reads rows before they are needed. If the
// Reader is a [Witness] and its file changes, the pass ends with a *[ChangedError]. The zero value has no Reader,
// so a pass ends with a *[SourceError].
type Stream struct {
	// BlockRows is the maximum number of rows of a block. If it is 0, the maximum is engine.Tuning.GradientRows for
	// dense rows and SparseRows for sparse rows. Set it before the first pass.
	BlockRows int
	// Stamp is the stamp (size and modification time) that the file must have at the start of a pass. If it is the
	// zero Stamp, the file may change between passes, but not during a pass. Set it before the first pass.
	Stamp Stamp
	// Single is true if the rows can be read only once, such as the rows of a [Pipe]. A second pass then ends with a
	// *[OnceError]. Set it before the first pass.
	Single bool
	// Columns, if not nil, gives access to the columns of the rows; see [ByColumns]. Set it before the first pass.
	Columns *Columns
	// Remarks tell how a text file with several interpretations was read. The package of the file format sets them.
	Remarks []Remark

	d, t   int
	sparse bool
	open   func() (Reader, error)
	n      atomic.Int64
	passes atomic.Int64
}

// SparseRows is the maximum number of rows of a sparse block.
const SparseRows = 1024

// NewStream returns a Stream of n rows with d features and t targets per row. n is -1 if the number is unknown. The
// Stream calls open at the start of each pass. sparse tells whether the rows are sparse.
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

// Dims returns the number n of rows, d of features and t of targets. If the number of rows is unknown, n is -1
// until a whole pass has counted the rows.
func (s *Stream) Dims() (n int64, d, t int) {
	return s.n.Load(), s.d, s.t
}

// Passes returns the number of passes that have begun. It includes passes in which the feature columns were read as
// rows.
func (s *Stream) Passes() int {
	passes := int(s.passes.Load())
	if features, ok := s.ByColumns().Features.(*Stream); ok {
		passes += features.Passes()
	}
	return passes
}

// BlocksFrom implements [Seeker]. If the Reader is a [Skipper], it does not read the blocks before the block that
// contains row firstRow.
func (s *Stream) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		ended, err := s.pass(ctx, firstRow, yield)
		if err != nil && !ended {
			yield(Block{}, err)
		}
	}
}

// pass makes one pass, from the block that contains row firstRow on. ended is true if the consumer of the blocks
// left its loop, or has received the error.
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
	// The goroutine of readAhead reads from r. So close r in a deferred call, which runs after this goroutine has
	// ended.
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

// denseRows returns the default number of rows of a block of dense rows with d features.
func denseRows(d int) (int, error) {
	t, err := engine.DefaultTuning()
	return t.GradientRows(d), err
}
