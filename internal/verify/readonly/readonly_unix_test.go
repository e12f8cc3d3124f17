//go:build unix

// Package readonly tests that functions do not write to their arguments, with slices in memory that cannot be written.
package readonly

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// Slice returns a copy of x that is read-only until the test ends. A write to the copy, even by assembly, ends the
// process. Reads beyond the end of the copy may go unnoticed up to the end of the last memory page.
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

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

// normals returns n normal random numbers.
func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
