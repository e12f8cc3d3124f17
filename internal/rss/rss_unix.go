//go:build unix

// Package rss tells how much memory the process has had resident.
package rss

import (
	"runtime"
	"syscall"
)

// Peak is the largest resident set so far, in bytes; 0 where it cannot be known.
func Peak() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // bytes there, KiB elsewhere
	}
	return int64(u.Maxrss) << 10
}
