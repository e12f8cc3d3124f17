// Package purego is the backend without cgo. Its matrix products call the micro-kernels of package kernel, mostly
// on packed operands. The eigensolver (package eigen), the SVD by Jacobi rotations, and the Cholesky and QR
// factorisations use these products.
//
// The bits of all results are the same for every GOMAXPROCS. The order of the operations that compute a number
// depends only on the shapes of the operands.
package purego

import (
	"cmp"
	"fmt"
	"runtime"
	"strconv"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// Config selects the kernel and the block sizes of matrix products A·B. At a time, MC×KC elements of A and KC×NC
// elements of B are packed. The zero value selects the fastest kernel, and blocks for a second-level cache of 1
// MiB. engine.Tuning chooses blocks for the caches of the machine.
type Config struct {
	Kernel     string // avx512, avx2, neon or generic
	MC, KC, NC int
}

// A KernelInfo describes a kernel that this machine supports. The kernel computes a product in tiles, parts that
// fit in registers. A tile has at most MR rows and NR columns.
type KernelInfo struct {
	Name   string
	MR, NR int
}

// Kernels returns the kernels that this machine supports, from the fastest to the slowest. The last is "generic".
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

// New returns a backend with the given kernel and block sizes. It returns an error if this machine or this build
// does not have the kernel. It also returns an error if a block size is negative or above 1<<24.
func New(cfg Config) (*Backend, error) {
	k := kernel.All()[0]
	if cfg.Kernel != "" {
		k = kernel.Find(cfg.Kernel)
		if k == nil {
			return nil, fmt.Errorf("purego: no kernel %q on this machine, which has %v", cfg.Kernel, KernelNames())
		}
	}
	const most = 1 << 24
	if min(cfg.MC, cfg.KC, cfg.NC) < 0 ||
		max(cfg.MC, cfg.KC, cfg.NC) > most {
		return nil, fmt.Errorf("purego: a block of %+v is not between 0 and %d", cfg, most)
	}
	return &Backend{
		kernel: k,
		mc:     roundUp(cmp.Or(cfg.MC, 192), k.MR()),
		kc:     cmp.Or(cfg.KC, 256),
		nc:     roundUp(cmp.Or(cfg.NC, 3072), k.NR()),
	}, nil
}

// KernelNames returns the names of [Kernels].
func KernelNames() (names []string) {
	for _, k := range kernel.All() {
		names = append(names, k.Name)
	}
	return names
}

// roundUp returns the smallest multiple of unit that is at least n.
func roundUp(n, unit int) int {
	return (n + unit - 1) / unit * unit
}

// Accuracy returns bounds that hold for all kernels and any number of threads. A register sums at most KC terms,
// see [Config]. In tiles that read A without packing, it sums at most wideStrip = 264 terms. An inner product of
// single rows uses at least four sums in parallel.
//
// Gradient computes sums over parts of the rows. A part adds at most 64 terms in sequence. They come from
// 2·partRows rows, or from chunks of wideChunk rows in tiles. The sums of at most maxParts = 16 parts are added in
// pairs. So an element of the result has 69 additions in sequence: 64 terms, four levels of pairs, and the
// addition to G. The value 73 leaves a margin of four.
//
// A tile computes all terms of a block of KC terms before it adds them to C.
func (b *Backend) Accuracy() matrix.Accuracy {
	return matrix.Accuracy{
		Strip:        max(512, roundUp(b.kc, 8)),
		Sums:         4,
		Gradient:     73,
		Added:        b.kc,
		Reproducible: true,
	}
}

// Name returns "purego".
func (*Backend) Name() string { return "purego" }

// Capabilities returns the kernel in use, all kernels that this machine supports, the version of Go and the number
// of threads.
func (b *Backend) Capabilities() map[string]string {
	return map[string]string{
		"kernel":  fmt.Sprintf("%s, tile %d×%d", b.kernel.Name, b.kernel.MR(), b.kernel.NR()),
		"kernels": fmt.Sprint(KernelNames()),
		"version": runtime.Version(),
		"threads": strconv.Itoa(runtime.GOMAXPROCS(0)),
	}
}
