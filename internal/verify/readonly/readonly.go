//go:build unix

// Package readonly makes slices whose memory cannot be written, for tests that their
// argument is not.
package readonly

import (
	"syscall"
	"testing"
	"unsafe"
)

// Slice returns a copy of x in a mapping of its own, which is read-only until the
// test ends: a write to it, by assembly too, ends the process. Its end is followed by
// what is left of the last page alone.
func Slice[T float64 | float32 | int32 | int](t testing.TB, x []T) []T {
	t.Helper()
	if len(x) == 0 {
		return nil
	}
	size := len(x) * int(unsafe.Sizeof(x[0]))
	m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	out := unsafe.Slice((*T)(unsafe.Pointer(&m[0])), len(x))
	copy(out, x)
	if err := syscall.Mprotect(m, syscall.PROT_READ); err != nil {
		t.Fatal(err)
	}
	return out
}
