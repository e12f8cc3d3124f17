// Package purego is the engine's backend without cgo: packed products around the
// micro-kernels of package kernel, an eigensolver of our own (package eigen), an
// SVD by Jacobi rotations, and Cholesky and QR that run on the products.
//
// Results are bitwise the same for every GOMAXPROCS: each number is computed by
// one goroutine, in an order that depends on the shapes alone.
package purego

import (
	"fmt"
	"runtime"
	"strconv"

	"github.com/fdridge/fdridge/engine/internal/accuracy"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
)

// Config chooses the kernel and the blocks of the packed products, in elements:
// MC×KC of A and KC×NC of B are packed at a time. Zero fields are the fastest
// kernel and blocks for a second-level cache of a MiB; engine.Tuning knows better.
type Config struct {
	Kernel     string // avx512, avx2, neon or generic
	MC, KC, NC int
}

// A KernelInfo describes a kernel of this build that this machine can run: its
// name, and the rows and columns of the tile of C that it keeps in registers.
type KernelInfo struct {
	Name   string
	MR, NR int
}

// Kernels lists the kernels that run here, the fastest first, "generic" last.
func Kernels() []KernelInfo {
	var infos []KernelInfo
	for _, k := range kernel.All() {
		infos = append(infos, KernelInfo{k.Name, k.MR(), k.NR()})
	}
	return infos
}

// Backend implements engine.Backend. It is never changed after [New].
type Backend struct {
	kernel     *kernel.Kernel
	mc, kc, nc int
}

// New returns the backend. It reports an error for a kernel that this machine or
// build doesn't have, and for a block that is negative or above 1<<24.
func New(cfg Config) (*Backend, error) {
	k := kernel.All()[0]
	if cfg.Kernel != "" {
		if k = kernel.Find(cfg.Kernel); k == nil {
			return nil, fmt.Errorf("purego: no kernel %q here, there are %v", cfg.Kernel, KernelNames())
		}
	}
	const most = 1 << 24
	if min(cfg.MC, cfg.KC, cfg.NC) < 0 || max(cfg.MC, cfg.KC, cfg.NC) > most {
		return nil, fmt.Errorf("purego: a block of %+v is not between 0 and %d", cfg, most)
	}
	be := &Backend{kernel: k, mc: cfg.MC, kc: cfg.KC, nc: cfg.NC}
	be.mc = roundUp(orDefault(be.mc, 192), k.MR())
	be.kc = orDefault(be.kc, 256)
	be.nc = roundUp(orDefault(be.nc, 3072), k.NR())
	return be, nil
}

// KernelNames are the names of [Kernels].
func KernelNames() (names []string) {
	for _, k := range kernel.All() {
		names = append(names, k.Name)
	}
	return names
}

func orDefault(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}

// roundUp returns the next multiple of unit.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// Accuracy is the same for all kernels. Work is divided in the same way
// whatever the number of threads. A sum in one register adds up kc terms, or
// wideStrip in tiles that read A where it lies, before it is added to others; products of
// single rows have four sums or more side by side. Of a Gradient's parts, those for few
// right-hand sides have partRows rows, or twice as many, and those in tiles chunks of
// wideChunk; the sums of at most mostParts of them are added in pairs. So 64 rows one after
// the other, four sums of pairs and the one into G are 69 additions; 73 has four to spare.
func (b *Backend) Accuracy() accuracy.Accuracy {
	return accuracy.Accuracy{Strip: max(512, roundUp(b.kc, 8)), Sums: 4, Gradient: 73, Reproducible: true}
}

// Name is "purego".
func (*Backend) Name() string { return "purego" }

// Capabilities names the kernel, the version of Go that built it and the number
// of threads.
func (b *Backend) Capabilities() map[string]string {
	return map[string]string{
		"kernel":  fmt.Sprintf("%s, tile %d×%d", b.kernel.Name, b.kernel.MR(), b.kernel.NR()),
		"kernels": fmt.Sprint(KernelNames()),
		"version": runtime.Version(),
		"threads": strconv.Itoa(runtime.GOMAXPROCS(0)),
	}
}
