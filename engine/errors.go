package engine

import (
	"errors"

	"github.com/fdridge/fdridge/internal/badinput"
)

// Errors that the packages over engine return, each in its own words and wrapping these
// values, which they export under the same names: errors.Is tells them whoever made them.
// engine itself panics on shapes that a programmer got wrong.
var (
	// ErrInput is what every error answers to, by errors.Is, for which what was given is at
	// fault: shapes, values, files. [ErrShape] does, and so does each type of error that
	// says so in its package. What else fails does not: an iteration that does not converge,
	// a disk that is full, numbers too large or too small for float64 to certify anything.
	ErrInput = badinput.Err
	// ErrShape reports arguments whose dimensions disagree. Nothing was changed.
	ErrShape = badinput.Errorf("dimensions disagree")
	// ErrNoConvergence reports that an eigenvalue or singular value iteration failed,
	// which finite data are not known to cause.
	ErrNoConvergence = errors.New("eigenvalue iteration did not converge")
)
