// Package purego is the engine's backend without cgo: gonum's BLAS and LAPACK
// (assembly on amd64, Go elsewhere and under the build tag noasm) with an
// eigensolver of our own, package eigen, in place of gonum's, which is twenty
// times slower.
//
// Results are bitwise the same for every GOMAXPROCS: work is partitioned by
// shape, never by the number of threads.
package purego

import (
	"runtime"
	"runtime/debug"
	"strconv"

	blas "gonum.org/v1/gonum/blas/gonum"
	lapack "gonum.org/v1/gonum/lapack/gonum"
)

// Backend implements engine.Backend. It has no state.
type Backend struct {
	blas   blas.Implementation
	lapack lapack.Implementation
}

// New returns the backend.
func New() *Backend { return &Backend{} }

// Name is "purego".
func (*Backend) Name() string { return "purego" }

// Capabilities names gonum's kernels and version.
func (*Backend) Capabilities() map[string]string {
	return map[string]string{
		"kernel":  kernel(),
		"version": gonumVersion(),
		"threads": strconv.Itoa(runtime.GOMAXPROCS(0)),
	}
}

func kernel() string {
	if assembly && runtime.GOARCH == "amd64" {
		return "gonum (SSE2 assembly)"
	}
	return "gonum (Go)"
}

func gonumVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "gonum.org/v1/gonum" {
				return "gonum " + m.Version
			}
		}
	}
	return "unknown"
}
