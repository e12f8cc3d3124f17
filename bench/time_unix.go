//go:build unix && !linux

package bench

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time of this process, including its system calls. Other programs disturb
// processor time less than elapsed time.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // cannot fail with these arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
