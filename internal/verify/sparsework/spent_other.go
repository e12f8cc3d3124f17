//go:build !unix

package sparsework

import "time"

var begun = time.Now()

// spent returns the elapsed time, because the time of the process is unknown.
func spent() time.Duration { return time.Since(begun) }
