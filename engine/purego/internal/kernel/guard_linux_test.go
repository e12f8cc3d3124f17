package kernel

import (
	"syscall"
	"testing"
	"unsafe"
)

// guardsWatched: touching a guard ends the test by itself.
const guardsWatched = false

// newArea maps memory between two pages that can be neither read nor written.
func newArea(t testing.TB, n int) area {
	page := syscall.Getpagesize()
	size := (8*n + page - 1) / page * page
	mem, err := syscall.Mmap(
		-1,
		0,
		page+size+page,
		syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE,
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{mem[:page], mem[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return area{unsafe.Slice((*float64)(unsafe.Pointer(&mem[0])), len(mem)/8), page / 8, (page + size) / 8}
}
