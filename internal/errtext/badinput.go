package errtext

import (
	"errors"
	"fmt"
)

// ErrBadInput matches the errors about wrong input of the caller: a wrong shape, value or file. For every error of
// [BadInput], errors.Is(err, ErrBadInput) is true. engine.ErrInput is the same variable.
var ErrBadInput = errors.New("bad input")

// BadInput is fmt.Errorf for an error that matches [ErrBadInput].
func BadInput(format string, args ...any) error {
	return &badInput{fmt.Errorf(format, args...)}
}

type badInput struct{ err error }

func (e *badInput) Error() string        { return e.err.Error() }
func (e *badInput) Unwrap() error        { return e.err }
func (e *badInput) Is(target error) bool { return target == ErrBadInput }
