//go:build !unix

package bench

import "time"

var begun = time.Now()

// ProcessorTime returns the elapsed time, because the processor time is unknown.
func ProcessorTime() time.Duration { return time.Since(begun) }
