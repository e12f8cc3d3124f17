package fd

import (
	"fmt"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/wire"
)

// ErrInput tells, by errors.Is, that what was given is at fault: shapes, values, files. All
// errors here but [ErrNoConvergence] are; [ErrVersion] is by the *[FormatError] around it. It
// is [engine.ErrInput].
var ErrInput = engine.ErrInput

// ErrShape reports arguments whose dimensions disagree, and a sketch merged with
// itself. Nothing was changed. It is [engine.ErrShape].
var ErrShape = engine.ErrShape

// errShape is ErrShape in this package's words.
var errShape = fmt.Errorf("fd: %w", engine.ErrShape)

// ErrSize reports a sketch that is too large to be addressed.
var ErrSize = badinput.Errorf("fd: sketch too large")

// ErrVersion reports a message of a format version newer than this program reads.
var ErrVersion = wire.ErrVersion

// ErrNoConvergence reports that an eigenvalue or singular value iteration
// failed, which finite data are not known to cause. The sketch is lost: every
// later call returns this error. It is [engine.ErrNoConvergence].
var ErrNoConvergence = engine.ErrNoConvergence

// errNoConvergence is ErrNoConvergence in this package's words.
var errNoConvergence = fmt.Errorf("fd: %w", engine.ErrNoConvergence)

// errUnmade reports the zero value of a sketch.
var errUnmade = fmt.Errorf("%w: a sketch without dimension, made by neither New nor ReadSketch", errShape)

// A NonFiniteError reports a NaN or an infinity among the appended rows. Row
// and Col are 0-based within the call; the message counts from 1. Nothing was changed.
type NonFiniteError struct {
	Row, Col int
	Value    float64
}

func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("fd: row %d, column %d is %v", e.Row+1, e.Col+1, e.Value)
}

// Is tells that it is [ErrInput].
func (e *NonFiniteError) Is(target error) bool { return target == ErrInput }

// A RangeError reports a row whose squared norm, added to the squares of the
// rows before it, exceeds what a sketch can carry without overflow, [MaxSquares].
// Row is 0-based within the call; the message counts from 1. Scale the data down by a power
// of two. Nothing was changed.
type RangeError struct{ Row int }

func (e *RangeError) Error() string {
	return fmt.Sprintf("fd: the squared norm of row %d and of the rows before it exceeds 2^1000", e.Row+1)
}

// Is tells that it is [ErrInput].
func (e *RangeError) Is(target error) bool { return target == ErrInput }

// A FormatError reports that what was read is no message of a sketch or summary,
// or is damaged: Reason says why, Offset is the byte of the message where it
// showed. Err is [ErrVersion], [ErrSize], io.ErrUnexpectedEOF for a message that
// ends early, a *[NonFiniteError] or *[RangeError] for a row of the sketch, or nil.
// Nothing was changed.
type FormatError struct {
	Offset int64
	Reason string
	Err    error
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("fd: byte %d of the message: %s", e.Offset, e.Reason)
}

func (e *FormatError) Unwrap() error { return e.Err }

// Is tells that it is [ErrInput].
func (e *FormatError) Is(target error) bool { return target == ErrInput }
