//go:build !linux

package rss

// Available returns 0, because the available memory is unknown.
func Available() int64 { return 0 }

// Limited returns no limit.
func Limited() Limit { return Limit{} }

// ResetPeak does nothing.
func ResetPeak() {}

func highWater() int64 { return 0 }
