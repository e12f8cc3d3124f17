package dataset

import (
	"errors"
	"fmt"
)

// ErrShape reports sources whose dimensions disagree.
var ErrShape = errors.New("dataset: dimensions disagree")

// An InputError reports what is wrong with a file and where. Line and Column
// are 1-based, the column in bytes; 0 says that there is none to name. NonFinite
// is set where the value was a number, but NaN or infinite.
type InputError struct {
	File         string
	Line, Column int
	Msg          string
	NonFinite    bool
	Err          error // the cause, if another error
}

func (e *InputError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			s += fmt.Sprintf(":%d", e.Column)
		}
	}
	s += ": " + e.Msg
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *InputError) Unwrap() error { return e.Err }
