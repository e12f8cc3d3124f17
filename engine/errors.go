package engine

import (
	"errors"

	"github.com/fdridge/fdridge/internal/badinput"
)

// Other packages export these errors under the same names. They wrap an error to add text, and errors.Is still matches.
// Package engine itself panics on wrong shapes.
var (
	// errors.Is(err, ErrInput) is true if the cause of the error is the input: its shape, its values or a file.
	// [ErrShape] matches ErrInput. Error types that match ErrInput say this in their documentation. Other failures do
	// not match, for example an iteration that does not converge, a full disk, or numbers too large or small for
	// certificates.
	ErrInput = badinput.Err
	// ErrShape reports arguments whose dimensions disagree. The call changed nothing.
	ErrShape = badinput.Errorf("dimensions disagree")
	// ErrNoConvergence reports that an iteration for eigenvalues or singular values failed. No finite data are known
	// to cause this error.
	ErrNoConvergence = errors.New("eigenvalue iteration did not converge")
)
