//go:build noarrow

package main

import (
	"io"
)

// newArrowPredictions is not called: the flags that would are refused.
func newArrowPredictions(io.Writer, bool, bool, []string, []string) (predictionWriter, error) {
	return nil, badInput("this fdridge was built without Arrow (tag noarrow)")
}
