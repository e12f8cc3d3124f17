//go:build !unix

package sparsework

import "time"

var begun = time.Now()

// spent is the time that has passed, where that of the process alone cannot be told.
func spent() time.Duration { return time.Since(begun) }
