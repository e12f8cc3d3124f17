//go:build unix

// Package rss measures the resident memory of the process.
package rss

import (
	"runtime"
	"syscall"
)

// Peak returns the largest resident set size of the process so far, in bytes. It returns 0 if the size is unknown.
func Peak() int64 {
	if n := highWater(); n > 0 {
		return n
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // the system reports bytes on Darwin, KiB elsewhere
	}
	return int64(u.Maxrss) << 10
}
