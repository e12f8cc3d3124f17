// Package leaktest checks that a test leaves no goroutine, no open file and no mapped file behind.
package leaktest

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// patience is the time that [Check] gives goroutines to end after the test. It gives no such time to open files.
const patience = time.Minute

// resident is a function whose goroutines run until the program ends. The engine starts them at its first large
// task, and [Check] ignores them.
const resident = "engine/purego.(*board).help"

// garbage is the memory in bytes that a test may use before the garbage collector runs. The collector runs late
// because it would close files that the test has left open.
const garbage = 256 << 20

// Check makes the test t fail if goroutines started after the call still run at the end of the test. The error
// contains their stacks. On Linux, Check also makes t fail if files opened or mapped after the call are still open
// or mapped. To find such files, it delays garbage collection during the test. Parallel tests must not use Check.
func Check(t testing.TB) {
	t.Helper()
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, garbage))
	files, running := take(), goroutines()
	t.Cleanup(func() {
		left := take().without(files)
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
		left = append(left, await(running)...)
		if len(left) > 0 {
			t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
		}
	})
}

// await waits until all goroutines that are not in earlier have ended, but at most as long as patience. It returns
// the stacks of the goroutines that still run.
func await(earlier map[string]string) (left []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		left = left[:0]
		for id, stack := range goroutines() {
			if _, known := earlier[id]; !known {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// files maps each file name to the number of times that the file is open, and the number of times that it is
// mapped.
type files struct{ open, mapped map[string]int }

func take() files { return files{openFiles(), mappings()} }

// without describes the files that are open or mapped more often in f than in earlier.
func (f files) without(earlier files) (left []string) {
	more := func(what string, now, then map[string]int) {
		for name, n := range now {
			if old := then[name]; n > old {
				left = append(left, fmt.Sprintf("%s: %d times %s, was %d", name, n, what, old))
			}
		}
	}
	more("open", f.open, earlier.open)
	more("mapped", f.mapped, earlier.mapped)
	return left
}

var header = regexp.MustCompile(`^goroutine (\d+) `)

// goroutines returns the stacks of all goroutines by their numbers. It leaves out the calling goroutine, and the
// goroutines of the function resident.
func goroutines() map[string]string {
	out := map[string]string{}
	for _, stack := range strings.Split(stacks(), "\n\n")[1:] { // the first stack is the caller's
		id := header.FindStringSubmatch(stack)
		if id == nil || strings.Contains(stack, resident) {
			continue
		}
		out[id[1]] = stack
	}
	return out
}

// openFiles returns how often each file or folder is open in this process. It returns an empty map on a system
// without /proc.
func openFiles() map[string]int {
	out := map[string]int{}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return out
	}
	for _, e := range entries {
		name, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "/proc/") &&
			!strings.HasPrefix(name, "/dev/") {
			out[name]++
		}
	}
	return out
}

// mappings returns how often each file is mapped into memory. It leaves out shared libraries.
func mappings() map[string]int {
	out := map[string]int{}
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return out
	}
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) >= 6 && f[5][0] == '/' && !bytes.Contains(f[5], []byte(".so")) {
			out[string(f[5])]++
		}
	}
	return out
}

func stacks() string {
	for size := 1 << 16; ; size *= 2 {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size {
			return string(text[:n])
		}
	}
}
