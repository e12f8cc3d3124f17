package purego_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine/purego"
)

func normals(n int) []float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func backend(b *testing.B) *purego.Backend {
	be, err := purego.New(purego.Config{})
	if err != nil {
		b.Fatal(err)
	}
	return be
}

func gflops(b *testing.B, flops float64) {
	b.ReportMetric(1e-9*flops*float64(b.N)/b.Elapsed().Seconds(), "GFLOP/s")
}

func BenchmarkQR(b *testing.B) {
	for _, s := range [][2]int{{2048, 512}, {20000, 300}, {512, 512}, {512, 64}, {300, 2000}} {
		m, n := s[0], s[1]
		q := float64(min(m, n))
		b.Run(fmt.Sprintf("%d×%d", m, n), func(b *testing.B) {
			be := backend(b)
			x, a, work := normals(m*n), make([]float64, m*n), make([]float64, be.QRWork(m, n))
			for b.Loop() {
				copy(a, x)
				be.QR(m, n, a, n, work)
			}
			gflops(b, 2*float64(m)*float64(n)*q-float64(m+n)*q*q+2*q*q*q/3)
		})
	}
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{64, 256, 1024, 2048} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			be := backend(b)
			x, spd, a := normals(n*n), make([]float64, n*n), make([]float64, n*n)
			be.Syrk(false, n, n, 1, x, n, 0, spd, n)
			for i := range n {
				spd[i*n+i]++
			}
			for b.Loop() {
				copy(a, spd)
				if !be.Cholesky(n, a, n) {
					b.Fatal("not positive definite")
				}
			}
			gflops(b, float64(n)*float64(n)*float64(n)/3)
		})
	}
}

func BenchmarkSymEig(b *testing.B) {
	for _, s := range [][2]int{{128, 64}, {256, 128}, {384, 256}, {512, 256}, {1024, 512}} {
		n, k := s[0], s[1]
		b.Run(fmt.Sprintf("%d,%d", n, k), func(b *testing.B) {
			be := backend(b)
			x, gram, a := normals(2*n*n), make([]float64, n*n), make([]float64, n*n)
			be.Syrk(false, n, 2*n, 1, x, 2*n, 0, gram, n)
			w, v, work := make([]float64, n), make([]float64, k*n), make([]float64, be.SymEigWork(n, k))
			for b.Loop() {
				copy(a, gram)
				if !be.SymEig(n, k, a, n, w, v, n, work) {
					b.Fatal("no convergence")
				}
			}
		})
	}
}

func BenchmarkSVD(b *testing.B) {
	for _, s := range [][2]int{{64, 256}, {256, 1024}, {1024, 256}} {
		m, n := s[0], s[1]
		q := min(m, n)
		b.Run(fmt.Sprintf("%d×%d", m, n), func(b *testing.B) {
			be := backend(b)
			x, a := normals(m*n), make([]float64, m*n)
			sv, vt, work := make([]float64, q), make([]float64, q*n), make([]float64, be.SVDWork(m, n))
			for b.Loop() {
				copy(a, x)
				if !be.SVD(m, n, a, n, sv, vt, n, work) {
					b.Fatal("no convergence")
				}
			}
		})
	}
}
