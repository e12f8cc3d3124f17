//go:build openblas

package bench

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/netlib/blas/netlib"
	"gonum.org/v1/netlib/lapack/lapacke"

	"github.com/fdridge/fdridge/engine"
)

// BenchmarkSymEigDsyevd measures LAPACKE's dsyevd, a rival of BenchmarkSymEig. dsyevd computes all eigenvectors. The
// matrix is symmetric, so its row-major layout serves as column-major.
func BenchmarkSymEigDsyevd(b *testing.B) {
	be, err := engine.Default()
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{128, 256, 384, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			spd, a, w := positiveDefinite(be, n), make([]float64, n*n), make([]float64, n)
			work, iwork := make([]float64, 1+6*n+2*n*n), make([]int32, 3+5*n)
			for b.Loop() {
				copy(a, spd)
				if !lapacke.Dsyevd(byte(lapack.EVCompute), byte(blas.Lower), n, a, n, w, work, len(work), iwork, len(iwork)) {
					b.Fatal("no convergence")
				}
			}
		})
	}
}

// BenchmarkGradientGemv measures two calls of OpenBLAS's dgemv for each right-hand side, a rival of
// BenchmarkGradient.
func BenchmarkGradientGemv(b *testing.B) {
	const n, d = 32768, 1024
	var be netlib.Implementation
	a := Numbers(n * d)
	for _, t := range []int{1, 3, 10} {
		b.Run(fmt.Sprintf("%d×%d/t=%d", n, d, t), func(b *testing.B) {
			x, y, g, r := Numbers(t*d), Numbers(n*t), make([]float64, t*d), make([]float64, n)
			for b.Loop() {
				clear(g)
				for q := range t {
					for i := range r {
						r[i] = y[i*t+q]
					}
					be.Dgemv(blas.NoTrans, n, d, 1, a, d, x[q*d:], 1, -1, r, 1)
					be.Dgemv(blas.Trans, n, d, 1, a, d, r, 1, 1, g[q*d:], 1)
				}
			}
			readRate(b, 8*n*d)
		})
	}
}
