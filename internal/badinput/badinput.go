// Package badinput creates errors about wrong input of the caller: a wrong shape, value or file.
package badinput

import (
	"errors"
	"fmt"
)

// Err matches all errors of this package: errors.Is(err, Err) is true for them. engine.ErrInput is the same
// variable.
var Err = errors.New("bad input")

// Errorf is fmt.Errorf for an error that matches Err.
func Errorf(format string, args ...any) error {
	return &failure{fmt.Errorf(format, args...)}
}

type failure struct{ err error }

func (e *failure) Error() string        { return e.err.Error() }
func (e *failure) Unwrap() error        { return e.err }
func (e *failure) Is(target error) bool { return target == Err }
