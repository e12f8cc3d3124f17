package engine

import (
	"errors"

	"github.com/fdridge/fdridge/internal/badinput"
)

// All packages that use engine share these errors. They export the same values under the same names and wrap them
// with their own text, so that errors.Is matches in every package. Package engine itself panics on wrong shapes.
var (
	// ErrInput matches, in errors.Is, every error that the input causes: by its shape, its values or a file.
	// [ErrShape] matches ErrInput, and so do all error types that document this. Other failures do not match, for
	// example an iteration that does not converge, a full disk, or numbers too large or small for certificates.
	ErrInput = badinput.Err
	// ErrShape reports arguments whose dimensions disagree. Nothing was changed.
	ErrShape = badinput.Errorf("dimensions disagree")
	// ErrNoConvergence reports that an iteration for eigenvalues or singular values failed. No finite data are known
	// to cause this error.
	ErrNoConvergence = errors.New("eigenvalue iteration did not converge")
)
