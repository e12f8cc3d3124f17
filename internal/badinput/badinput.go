// Package badinput makes errors for which the caller's input is at fault: a shape, a
// value, a file.
package badinput

import (
	"errors"
	"fmt"
)

// Err is what such errors answer to, by errors.Is. It is engine.ErrInput.
var Err = errors.New("bad input")

// Errorf is fmt.Errorf for such an error.
func Errorf(format string, args ...any) error { return &failure{fmt.Errorf(format, args...)} }

type failure struct{ err error }

func (e *failure) Error() string        { return e.err.Error() }
func (e *failure) Unwrap() error        { return e.err }
func (e *failure) Is(target error) bool { return target == Err }
