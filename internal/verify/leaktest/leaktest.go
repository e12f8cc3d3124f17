// Package leaktest holds tests to leave nothing behind: no goroutine, no open file
// and no mapped one.
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

// patience is how long goroutines have to end after what they worked for has. Files
// have no such time.
const patience = 5 * time.Second

// residents are goroutines that live as long as the program: the engine's helpers,
// which its first large task starts.
var residents = []string{"engine/purego.(*board).help"}

// garbage is how much memory a test may take before it is collected: a collection
// closes files that were forgotten.
const garbage = 256 << 20

// Check fails t, with their stacks, where goroutines run at its end that did not run
// when Check was called, and, on Linux, where files are open or mapped that were not.
// Until then garbage is collected late. Tests in parallel would be blamed for each
// other.
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

// await returns the stacks of goroutines that ran neither before nor end in time.
func await(before map[string]string) (left []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		left = left[:0]
		for id, stack := range goroutines() {
			if _, known := before[id]; !known {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// files are how often each is open or mapped, by name.
type files struct{ open, mapped map[string]int }

func take() files { return files{openFiles(), mappings()} }

// without lists what there is more of than there was.
func (f files) without(before files) (left []string) {
	more := func(what string, now, then map[string]int) {
		for name, n := range now {
			if old := then[name]; n > old {
				left = append(left, fmt.Sprintf("%s: %d times %s, was %d", name, n, what, old))
			}
		}
	}
	more("open", f.open, before.open)
	more("mapped", f.mapped, before.mapped)
	return left
}

var header = regexp.MustCompile(`^goroutine (\d+) `)

// goroutines returns the stacks of all but this one.
func goroutines() map[string]string {
	out := map[string]string{}
	for _, stack := range strings.Split(stacks(), "\n\n")[1:] { // the caller's is first
		id := header.FindStringSubmatch(stack)
		if id == nil || resident(stack) {
			continue
		}
		out[id[1]] = stack
	}
	return out
}

func resident(stack string) bool {
	for _, f := range residents {
		if strings.Contains(stack, f) {
			return true
		}
	}
	return false
}

// openFiles are the regular files and folders among the file descriptors; none where
// there is no /proc.
func openFiles() map[string]int {
	out := map[string]int{}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return out
	}
	for _, e := range entries {
		name, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "/proc/") && !strings.HasPrefix(name, "/dev/") {
			out[name]++
		}
	}
	return out
}

// mappings are the files mapped into memory, less the program's own parts.
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
