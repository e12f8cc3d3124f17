// Package purego is the backend without cgo. It has packed products with the micro-kernels of package kernel, an
// eigensolver (package eigen), an SVD by Jacobi rotations, and Cholesky and QR factorisations that use the products.
//
// The bits of all results are the same for every GOMAXPROCS. Each number is computed by one goroutine, in an
// order that depends only on the shapes.
package purego

import (
	"cmp"
	"fmt"
	"runtime"
	"strconv"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// Config selects the kernel and the block sizes of the packed products. MC×KC elements of A and KC×NC elements of B
// are packed at a time. The zero value selects the fastest kernel, and blocks for a second-level cache of 1 MiB.
// engine.Tuning chooses blocks for the caches of the machine.
type Config struct {
	Kernel     string // avx512, avx2, neon or generic
	MC, KC, NC int
}

// A KernelInfo describes a kernel that runs on this machine. A tile is the part of a product that the kernel computes
// in registers, with MR rows and NR columns.
type KernelInfo struct {
	Name   string
	MR, NR int
}

// Kernels returns the kernels that run on this machine, the fastest first, "generic" last.
func Kernels() []KernelInfo {
	var infos []KernelInfo
	for _, k := range kernel.All() {
		infos = append(infos, KernelInfo{k.Name, k.MR(), k.NR()})
	}
	return infos
}

// Backend implements engine.Backend. It is immutable after [New].
type Backend struct {
	kernel     *kernel.Kernel
	mc, kc, nc int
}

// New returns a backend. It returns an error if this machine or this build does not have the kernel, or if a block
// size is negative or above 1<<24.
func New(cfg Config) (*Backend, error) {
	k := kernel.All()[0]
	if cfg.Kernel != "" {
		k = kernel.Find(cfg.Kernel)
		if k == nil {
			return nil, fmt.Errorf("purego: no kernel %q on this machine, which has %v", cfg.Kernel, KernelNames())
		}
	}
	const most = 1 << 24
	if min(cfg.MC, cfg.KC, cfg.NC) < 0 || max(cfg.MC, cfg.KC, cfg.NC) > most {
		return nil, fmt.Errorf("purego: a block of %+v is not between 0 and %d", cfg, most)
	}
	return &Backend{
		kernel: k,
		mc:     roundUp(cmp.Or(cfg.MC, 192), k.MR()), kc: cmp.Or(cfg.KC, 256), nc: roundUp(cmp.Or(cfg.NC, 3072), k.NR()),
	}, nil
}

// KernelNames returns the names of [Kernels].
func KernelNames() (names []string) {
	for _, k := range kernel.All() {
		names = append(names, k.Name)
	}
	return names
}

// roundUp returns n rounded up to a multiple of unit.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// Accuracy returns bounds that hold for all kernels and any number of threads. A register sums at most kc terms, or
// wideStrip terms in tiles that read A directly. Products of single rows use at least four sums in parallel.
//
// A part of Gradient adds at most 64 terms in sequence: 2·partRows rows, or chunks of wideChunk rows in tiles. The
// sums of at most maxParts parts are added in pairs. So an element of G has 69 additions in sequence: 64 rows, four
// levels of pairs, and the addition to G. The value 73 leaves a margin of four.
//
// A tile computes all terms of a block of kc terms before it adds them to C.
func (b *Backend) Accuracy() matrix.Accuracy {
	return matrix.Accuracy{Strip: max(512, roundUp(b.kc, 8)), Sums: 4, Gradient: 73, Added: b.kc, Reproducible: true}
}

// Name returns "purego".
func (*Backend) Name() string { return "purego" }

// Capabilities returns the kernel in use, all kernels that run on this machine, the version of Go and the number of
// threads.
func (b *Backend) Capabilities() map[string]string {
	return map[string]string{
		"kernel":  fmt.Sprintf("%s, tile %d×%d", b.kernel.Name, b.kernel.MR(), b.kernel.NR()),
		"kernels": fmt.Sprint(KernelNames()),
		"version": runtime.Version(),
		"threads": strconv.Itoa(runtime.GOMAXPROCS(0)),
	}
}
