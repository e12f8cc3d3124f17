// Package enginetest tests that backends satisfy the contract of engine.Backend. The test of a backend is one line:
//
//	enginetest.Run(t, backend)
//
// No expected results are stored. The elements of products are compared with sums of higher precision.
// Factorisations are checked by their residual and by the orthogonality of their factors, in units of
// eps·dimension·norm.
//
// Outputs and workspaces hold NaN on entry, and workspaces have exactly the required size. Matrices are stored with
// gaps between their rows. The tests check that an operation changes neither the gaps nor the memory after the last
// row.
package enginetest

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// Each runs f for every backend of the build, in sub-tests named after the backends.
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

// Run runs all tests for a backend. The factorisations are tested for each size and for each kind of matrix. If
// FDRIDGE_THOROUGH is set, they are tested for each combination of size and kind. With go test -short, which serves
// emulated processors, fewer shapes of products are tested.
func Run(t *testing.T, be engine.Backend) {
	t.Run("Describes", func(t *testing.T) { describes(t, be) })
	Products(t, be)
	fewer := takesFewer()
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

func takesFewer() bool { return testing.Short() || os.Getenv("FDRIDGE_THOROUGH") == "" }

// Products runs only the tests of [Run] for operations that divide a matrix into blocks, such as Gemm.
func Products(t *testing.T, be engine.Backend) {
	t.Run("Gemm", func(t *testing.T) { gemm(t, be, few) })
	t.Run("Orders", func(t *testing.T) { orders(t, be) })
	t.Run("Syrk", func(t *testing.T) { syrk(t, be, few) })
	t.Run("Gram", func(t *testing.T) { gram(t, be, few) })
	t.Run("LeftMul", func(t *testing.T) { leftMul(t, be, few) })
	t.Run("Gemv", func(t *testing.T) { gemv(t, be, few) })
	t.Run("Gradient", func(t *testing.T) { gradient(t, be, takesFewer()) })
	t.Run("GradientTwofold", func(t *testing.T) { gradientTwofold(t, be) })
	t.Run("Cosines", func(t *testing.T) { cosines(t, be) })
	t.Run("Promises", func(t *testing.T) { Promises(t, be) })
}

// Edges tests products C = A·B for every C with at most the given rows and cols. It also varies the number of terms
// of an element. For a micro-kernel that computes MR×NR tiles, use rows = 2·MR+1 and cols = 2·NR+1.
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

// sizes are the dimensions that the tests use. They are near the lengths of vector registers, tiles and blocks.
var sizes = []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 33, 47, 49, 63, 64, 65, 97, 129}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }
