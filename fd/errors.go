package fd

import (
	"fmt"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/wire"
)

// ErrInput is [engine.ErrInput]. It reports an error that the input causes: its shape, its values or a file. For
// every error err of this package except [ErrNoConvergence], errors.Is(err, ErrInput) is true.
var ErrInput = engine.ErrInput

// ErrShape reports arguments whose dimensions disagree, or an attempt to merge a sketch with itself. The failed
// call has changed nothing. ErrShape is [engine.ErrShape].
var ErrShape = engine.ErrShape

// errShape is ErrShape with this package's prefix.
var errShape = fmt.Errorf("fd: %w", engine.ErrShape)

// ErrSize reports a sketch that is too large for the address space.
var ErrSize = errtext.BadInput("fd: sketch too large")

// ErrVersion reports a message whose format version is newer than this program can read.
var ErrVersion = wire.ErrVersion

// ErrNoConvergence reports that the iteration for eigenvalues or singular values failed. No finite data are known
// to cause this error. The sketch can no longer be used: every later call returns the same error. ErrNoConvergence
// is [engine.ErrNoConvergence].
var ErrNoConvergence = engine.ErrNoConvergence

// errNoConvergence is ErrNoConvergence with this package's prefix.
var errNoConvergence = fmt.Errorf("fd: %w", engine.ErrNoConvergence)

// errZeroValue reports the use of the zero value of a sketch.
var errZeroValue = fmt.Errorf("%w: the zero value of a sketch has no dimension; use New or ReadSketch", errShape)

// A NonFiniteError reports a NaN or an infinity among the appended rows. Row and Col are the position of the value
// in the rows of the failed call. They count from 0, but the text of the error counts from 1. The failed call has
// changed nothing.
type NonFiniteError struct {
	Row, Col int
	Value    float64
}

func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("fd: row %d, column %d is %v", e.Row+1, e.Col+1, e.Value)
}

// Is reports whether target is [ErrInput].
func (e *NonFiniteError) Is(target error) bool { return target == ErrInput }

// A RangeError reports that the sum of squares of all rows would exceed [MaxSquares], the limit that avoids
// overflow. Row is the number, in the failed call, of the row that exceeds the limit. It counts from 0, but the
// text of the error counts from 1. The failed call has changed nothing. To avoid the error, divide the data by a
// power of two.
type RangeError struct{ Row int }

func (e *RangeError) Error() string {
	return fmt.Sprintf(
		"fd: the squared norm of row %d and of the rows before it exceeds 2^1000; divide the data by a power of two",
		e.Row+1,
	)
}

// Is reports whether target is [ErrInput].
func (e *RangeError) Is(target error) bool { return target == ErrInput }

// A FormatError reports that the data are not a valid message of a sketch or summary. Reason is the cause.
// Offset is the position of the invalid byte in the message. The failed call has changed nothing.
//
// Err is nil or one of
//
//   - [ErrVersion]
//   - [ErrSize]
//   - io.ErrUnexpectedEOF, if the message ends early
//   - a *[NonFiniteError] or *[RangeError], for a row of the sketch
type FormatError struct {
	Offset int64
	Reason string
	Err    error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("fd: byte %d of the message: %s", e.Offset, e.Reason)
}

func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrInput].
func (e *FormatError) Is(target error) bool { return target == ErrInput }
