package rss

import (
	"runtime"
	"testing"
)

// TestKnown: Linux tells all.
func TestKnown(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux is sure to tell")
	}
	if Peak() < 1<<16 || Current() < 1<<16 || Available() < 1<<20 {
		t.Errorf("peak %d, current %d, available %d", Peak(), Current(), Available())
	}
}
