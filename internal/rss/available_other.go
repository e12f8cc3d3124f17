//go:build !linux

package rss

// Available is how many bytes could be allocated without swapping, 0 where it
// cannot be known.
func Available() int64 { return 0 }
