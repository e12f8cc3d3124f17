package hugepage

import (
	"os"
	"syscall"
	"unsafe"
)

// advise asks for huge pages under the whole pages of x. It is advice: a kernel
// without them refuses it, and nothing else changes.
func advise(x []float64) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
	page := os.Getpagesize()
	if skip := -int(uintptr(unsafe.Pointer(&bytes[0]))) & (page - 1); skip < len(bytes) {
		bytes = bytes[skip:]
	}
	const madvHugepage = 14 // MADV_HUGEPAGE, not in package syscall on every architecture
	_ = syscall.Madvise(bytes[:len(bytes)&^(page-1)], madvHugepage)
}
