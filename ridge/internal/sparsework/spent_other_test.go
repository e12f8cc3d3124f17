//go:build !unix

package sparsework

import "time"

var begun = time.Now()

// spent returns the elapsed time, because the processor time is unknown on this system.
func spent() time.Duration { return time.Since(begun) }
