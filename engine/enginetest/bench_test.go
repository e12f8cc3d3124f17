package enginetest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
)

// BenchmarkBackends measures every backend of the build on the shapes of a sketch
// and of a gradient pass, in GFLOP/s. SymEig is counted as the reduction, 4n³/3,
// divide and conquer without deflation, 4n³/3 (J. Demmel, "Applied Numerical
// Linear Algebra", 1997, §5.3.3), and the k vectors brought back, 2n²k.
func BenchmarkBackends(b *testing.B) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range engine.Names() {
		be, err := engine.New(name, tuning)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for _, n := range []int{512, 1024} {
				b.Run(fmt.Sprintf("Gemm/%d", n), func(b *testing.B) {
					x, y, z := numbers(n*n), numbers(n*n), make([]float64, n*n)
					rate(b, 2*n*n*n, func() { be.Gemm(false, false, n, n, n, 1, x, n, y, n, 0, z, n) })
				})
			}
			b.Run("Syrk/256×4096", func(b *testing.B) {
				const n, k = 256, 4096
				a, c := numbers(n*k), make([]float64, n*n)
				rate(b, n*(n+1)*k, func() { be.Syrk(false, n, k, 1, a, k, 0, c, n) })
			})
			for _, t := range []int{1, 3} {
				b.Run(fmt.Sprintf("Gradient/4096×1024/t=%d", t), func(b *testing.B) {
					const n, d = 4096, 1024
					a, x, y, g, r := numbers(n*d), numbers(t*d), numbers(n*t), make([]float64, t*d), make([]float64, n*t)
					b.SetBytes(8 * n * d)
					rate(b, 4*n*d*t, func() { be.Gradient(n, d, t, a, d, x, d, y, t, g, d, r, t) })
				})
			}
			b.Run("SymEig/512/257", func(b *testing.B) {
				const n, k = 512, 257
				spd, a := make([]float64, n*n), make([]float64, n*n)
				be.Gemm(false, true, n, n, n, 1, numbers(n*n), n, numbers(n*n), n, 0, spd, n)
				w, v, work := make([]float64, n), make([]float64, k*n), make([]float64, be.SymEigWork(n, k))
				rate(b, 8*n*n*n/3+2*n*n*k, func() {
					copy(a, spd)
					if !be.SymEig(n, k, a, n, w, v, n, work) {
						b.Fatal("no convergence")
					}
				})
			})
		})
	}
}

// rate runs f and reports its GFLOP/s.
func rate(b *testing.B, flops int, f func()) {
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(flops)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// numbers are n normal random ones, the same each time.
func numbers(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
