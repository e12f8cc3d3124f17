package accum

import "github.com/fdridge/fdridge/ridge/internal/certify"

// Package ridge sets these functions when the program starts. They give the packages beside ridge what a ridge.Summary
// does not export. This package cannot import ridge, so that a summary has the type any.
var (
	// SummaryOf returns the *ridge.Summary of the rows in sum, with the given Meta. The summary takes ownership of sum
	// and meta.
	SummaryOf func(sum *Accumulator, meta []byte) any
	// KnownOf returns the quantities of a *ridge.Summary that certificates are computed from. workers is the number of
	// processes that share the rows of a pass. Errors:
	//
	//   - a *ridge.GammaError if a γ is not positive and finite; its Method is the argument method
	//   - ridge.ErrEmpty, ridge.ErrUnproven and *ridge.ScaleError
	KnownOf func(summary any, method string, workers int, gammas ...float64) (*certify.Known, error)
)
