package engine

import "errors"

// Errors that the packages over engine return, each in its own words and wrapping these
// values, which they export under the same names: errors.Is tells them whoever made them.
// engine itself panics on shapes that a programmer got wrong.
var (
	// ErrShape reports arguments whose dimensions disagree. Nothing was changed.
	ErrShape = errors.New("dimensions disagree")
	// ErrNoConvergence reports that an eigenvalue or singular value iteration failed,
	// which finite data are not known to cause.
	ErrNoConvergence = errors.New("eigenvalue iteration did not converge")
)
