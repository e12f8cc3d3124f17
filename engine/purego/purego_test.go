package purego_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/engine/purego"
)

// TestSameForEveryGOMAXPROCS: products are divided by shape, so their bits do not
// depend on the number of threads.
func TestSameForEveryGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const m, n, k = 300, 200, 150
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := make([]float64, m*k), make([]float64, k*n)
	for _, x := range [][]float64{a, b} {
		for i := range x {
			x[i] = rng.NormFloat64()
		}
	}
	be := purego.New()
	compute := func() []float64 {
		c, s := make([]float64, m*n), make([]float64, m*m)
		be.Gemm(false, false, m, n, k, 1, a, k, b, n, 0, c, n)
		be.Syrk(false, m, k, 1, a, k, 0, s, m)
		w, v := make([]float64, m), make([]float64, m*m)
		if !be.SymEig(m, m/2, s, m, w, v, m, make([]float64, be.SymEigWork(m, m/2))) {
			t.Fatal("no convergence")
		}
		return append(append(c, w...), v...)
	}
	runtime.GOMAXPROCS(1)
	want := compute()
	for _, p := range []int{2, 4} {
		runtime.GOMAXPROCS(p)
		for i, v := range compute() {
			if math.Float64bits(v) != math.Float64bits(want[i]) {
				t.Fatalf("GOMAXPROCS %d: number %d differs", p, i)
			}
		}
	}
}
