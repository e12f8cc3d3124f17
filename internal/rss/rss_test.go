package rss

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// TestKnown: Linux tells all.
func TestKnown(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux is sure to tell")
	}
	if Peak() < 1<<16 || Available() < 1<<20 {
		t.Errorf("peak %d, available %d", Peak(), Available())
	}
}

// TestPeakOfChild: the peak of a process that was started by a large process is its own.
func TestPeakOfChild(t *testing.T) {
	if os.Getenv("FDRIDGE_PEAK") != "" {
		fmt.Print(Peak())
		os.Exit(0)
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux is sure to tell")
	}
	large := make([]byte, 1<<28)
	for i := 0; i < len(large); i += 1 << 12 {
		large[i] = 1
	}
	c := exec.Command(os.Args[0], "-test.run=TestPeakOfChild")
	c.Env = append(os.Environ(), "FDRIDGE_PEAK=1")
	out, err := c.Output()
	n, _ := strconv.ParseInt(string(out), 10, 64)
	if err != nil || n < 1<<20 || n > 1<<27 {
		t.Errorf("%s bytes, %v; the parent has %d", out, err, Peak())
	}
	runtime.KeepAlive(large)
}

// TestResetPeak: after a reset, memory that was returned does not count.
func TestResetPeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems cannot reset it")
	}
	large := make([]byte, 1<<27)
	for i := 0; i < len(large); i += 1 << 12 {
		large[i] = 1
	}
	before := Peak()
	runtime.KeepAlive(large)
	large = nil
	debug.FreeOSMemory()
	ResetPeak()
	if after := Peak(); after == 0 || after > before-1<<26 {
		t.Errorf("peak %d, before %d", after, before)
	}
}
