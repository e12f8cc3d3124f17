package purego_test

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego"
)

// TestReads checks that products do not read beyond a matrix, where a tile could have more rows or columns than the
// matrix. The matrix ends where mapped memory ends, so that a read beyond it is a fault. It is A of Gradient, and B of
// a product of few rows.
func TestReads(t *testing.T) {
	page := syscall.Getpagesize()
	const pages = 4
	mem, err := syscall.Mmap(
		-1,
		0,
		(pages+1)*page,
		syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	}()
	if err := syscall.Mprotect(mem[pages*page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	all := unsafe.Slice((*float64)(unsafe.Pointer(&mem[0])), pages*page/8)
	at := ""
	debug.SetPanicOnFault(true) // for this goroutine: products so small start no others
	defer func() {
		if err := recover(); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
	}()
	for _, k := range purego.Kernels() {
		be, err := purego.New(purego.Config{Kernel: k.Name})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 18 {
			for d := range 50 {
				for _, q := range []int{3, 8, 9} {
					at = fmt.Sprintf("%s: Gradient(%d, %d, %d)", k.Name, n, d, q)
					a, x, r := all[len(all)-n*d:], make([]float64, q*d), make([]float64, n*q)
					be.Gradient(
						matrix.View(n, d, a),
						matrix.View(q, d, x),
						matrix.Matrix{},
						matrix.View(q, d, make([]float64, q*d)),
						matrix.View(n, q, r),
					)
					at = fmt.Sprintf("%s: Gemm of %d rows and B %d×%d", k.Name, q, n, d)
					be.Gemm(
						false,
						true,
						1,
						matrix.View(q, d, x),
						matrix.View(n, d, a),
						0,
						matrix.View(q, n, make([]float64, q*n)),
					)
					be.Gemm(false, false, 1, matrix.View(q, n, r), matrix.View(n, d, a), 0, matrix.View(q, d, x))
				}
			}
		}
	}
}
