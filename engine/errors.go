package engine

import (
	"errors"

	"github.com/fdridge/fdridge/internal/errtext"
)

// Other packages of this module export these errors under the same names. They wrap an error to add
// text, so compare errors with errors.Is. Package engine itself panics if operands have wrong shapes.
var (
	// ErrInput is the class of errors whose cause is the input: its shape, its values or a file. For these errors
	// errors.Is(err, ErrInput) is true. [ErrShape] is one of them. The documentation of an error type says whether
	// its errors belong to the class. Other failures do not. Examples are an iteration that does not converge, a
	// full disk, or numbers too large or small for certificates.
	ErrInput = errtext.ErrBadInput
	// ErrShape reports arguments whose dimensions disagree. The call that returns this error has changed nothing.
	ErrShape = errtext.BadInput("dimensions disagree")
	// ErrNoConvergence reports that the iteration for eigenvalues or singular values did not converge. No finite
	// data are known to cause this error.
	ErrNoConvergence = errors.New("eigenvalue iteration did not converge")
)
