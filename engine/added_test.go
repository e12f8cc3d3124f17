package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
)

// TestAdded checks Accuracy.Added: Syrk adds the product of k rows of n numbers to C like a sum of two matrices.
func TestAdded(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, n := range []int{1, 8, 25, 49, 130, 300} {
			for _, k := range []int{n + 1, 256, 1 << 20} {
				testAdded(t, be, n, min(k, be.Accuracy().Added))
			}
		}
	})
}

func testAdded(t *testing.T, be engine.Backend, n, k int) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
	random := func(rows int) []float64 {
		x := make([]float64, rows*n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	x, c, p := random(k), random(n), random(n)
	want := append([]float64(nil), c...)
	be.Syrk(true, 1, engine.View(k, n, x), 0, engine.View(n, n, p))
	be.Syrk(true, 1, engine.View(k, n, x), 1, engine.View(n, n, c))
	for i := range n {
		for j := range i + 1 {
			if k > 0 {
				want[i*n+j] += p[i*n+j]
			}
			if got := c[i*n+j]; got != want[i*n+j] {
				t.Fatalf("%d rows of %d numbers: element %d, %d is %v, want %v", k, n, i, j, got, want[i*n+j])
			}
		}
	}
}
