//go:build unix

package sparsework

import (
	"syscall"
	"time"
)

// spent is the processor time that the process has taken.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // which it has no reason for
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
