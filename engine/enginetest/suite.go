// Package enginetest holds engine backends to their contract. A backend adds one
// line to be tested:
//
//	enginetest.Run(t, backend)
//
// Everything is checked by invariants, never against stored output: components of
// products against a compensated reference, factorisations by residual and
// orthogonality in units of eps·dimension·norm. Outputs and workspaces hold NaN
// on entry, workspaces have exactly the size asked for, matrices have leading
// dimensions larger than their width, and what lies between their rows and behind
// their ends must come back untouched.
package enginetest

import (
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// Each runs a test on every backend of the build, as sub-tests of their names.
func Each(t *testing.T, f func(t *testing.T, be engine.Backend)) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range engine.Names() {
		be, err := engine.New(name, tuning)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { f(t, be) })
	}
}

// Run runs the whole suite on one backend. With go test -short, as on a processor that is
// emulated, every size is still tried, but fewer sizes are tried together.
func Run(t *testing.T, be engine.Backend) { run(t, be, testing.Short()) }

// RunKernel is Run for another kernel of a backend that Run is called for elsewhere. Fewer
// large matrices are factorised: only the products within depend on the kernel.
func RunKernel(t *testing.T, be engine.Backend) { run(t, be, true) }

// run runs the suite; fewer is of the large matrices that are factorised.
func run(t *testing.T, be engine.Backend, fewer bool) {
	t.Run("Describes", func(t *testing.T) { describes(t, be) })
	t.Run("Gemm", func(t *testing.T) { gemm(t, be, few) })
	t.Run("Syrk", func(t *testing.T) { syrk(t, be, few) })
	t.Run("Gram", func(t *testing.T) { gram(t, be, few) })
	t.Run("LeftMul", func(t *testing.T) { leftMul(t, be, few) })
	t.Run("Gemv", func(t *testing.T) { gemv(t, be, few) })
	t.Run("Gradient", func(t *testing.T) { gradient(t, be) })
	t.Run("GradientTwofold", func(t *testing.T) { gradientTwofold(t, be) })
	t.Run("Cosines", func(t *testing.T) { cosines(t, be) })
	t.Run("Promises", func(t *testing.T) { Promises(t, be) })
	t.Run("SymEig", func(t *testing.T) { symEig(t, be, fewer) })
	t.Run("Tridiagonal", func(t *testing.T) { tridiagonals(t, be, fewer) })
	t.Run("SVD", func(t *testing.T) { svd(t, be, fewer) })
	t.Run("Cholesky", func(t *testing.T) { cholesky(t, be) })
	t.Run("QR", func(t *testing.T) { qr(t, be) })
	t.Run("Concurrent", func(t *testing.T) { concurrent(t, be) })
	t.Run("Reproducible", func(t *testing.T) { reproducible(t, be) })
	t.Run("Allocations", func(t *testing.T) { allocations(t, be) })
	t.Run("Panics", func(t *testing.T) { panics(t, be) })
}

// Edges runs the products for every m <= rows and n <= cols, k taking one of the
// edge sizes in turn: give it 2·MR+1 and 2·NR+1 of a micro-kernel.
func Edges(t *testing.T, be engine.Backend, rows, cols int) {
	all := func(f func(trial, m, n, k int)) {
		for m := range rows + 1 {
			for n := range cols + 1 {
				trial := m*(cols+1) + n
				f(trial, m, n, pick(sizes, trial))
			}
		}
	}
	t.Run("Gemm", func(t *testing.T) { gemm(t, be, all) })
	t.Run("Gemv", func(t *testing.T) { gemv(t, be, all) })
	t.Run("LeftMul", func(t *testing.T) { leftMul(t, be, all) })
	turned := func(f func(trial, n, first, k int)) {
		all(func(trial, m, n, k int) { f(trial, n, m, k) })
	}
	t.Run("Syrk", func(t *testing.T) { syrk(t, be, turned) })
	t.Run("Gram", func(t *testing.T) { gram(t, be, turned) })
}

func describes(t *testing.T, be engine.Backend) {
	if be.Name() == "" {
		t.Error("no name")
	}
	c := be.Capabilities()
	for _, key := range []string{"kernel", "version", "threads"} {
		if c[key] == "" {
			t.Errorf("no capability %q", key)
		}
	}
}

// sizes are the edge sizes of kernels: around vector lengths, tiles and blocks.
var sizes = []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 47, 49, 63, 64, 65, 97, 129}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }
