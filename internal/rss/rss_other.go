//go:build !unix

// Package rss measures the resident memory of the process.
package rss

// Peak returns 0, because the largest resident set size is unknown on this system.
func Peak() int64 { return 0 }
