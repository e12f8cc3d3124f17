package fd

import (
	"errors"
	"fmt"
)

// ErrShape reports arguments whose dimensions disagree, and a sketch merged with
// itself. Nothing was changed.
var ErrShape = errors.New("fd: dimensions disagree")

// ErrSize reports a sketch that is too large to be addressed.
var ErrSize = errors.New("fd: sketch too large")

// ErrNoConvergence reports that an eigenvalue or singular value iteration
// failed, which finite data are not known to cause. The sketch is lost: every
// later call returns this error.
var ErrNoConvergence = errors.New("fd: eigenvalue iteration did not converge")

// A NonFiniteError reports a NaN or an infinity among the appended rows. Row
// and Col are 0-based within the call. Nothing was changed.
type NonFiniteError struct {
	Row, Col int
	Value    float64
}

func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("fd: entry (%d, %d) is %v", e.Row, e.Col, e.Value)
}

// A RangeError reports a row whose squared norm, added to the squares of the
// rows before it, exceeds what a sketch can carry without overflow, [MaxSquares].
// Scale the data down by a power of two. Nothing was changed.
type RangeError struct{ Row int }

func (e *RangeError) Error() string {
	return fmt.Sprintf("fd: the squared norm of row %d and of the rows before it exceeds 2^1000", e.Row)
}
