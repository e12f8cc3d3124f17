//go:build openblas

package main

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/netlib/blas/netlib"
	"gonum.org/v1/netlib/lapack/lapacke"

	"github.com/fdridge/fdridge/bench"
)

// dsyevd is LAPACKE's solver for all eigenvectors. The matrix is symmetric, so
// its row-major layout passes for column-major without a copy.
func dsyevd(n int, spd []float64) []func() rival {
	return []func() rival{func() rival {
		a, w := make([]float64, n*n), make([]float64, n)
		work, iwork := make([]float64, 1+6*n+2*n*n), make([]int32, 3+5*n)
		return timed("dsyevd", func() {
			copy(a, spd)
			if !lapacke.Dsyevd(byte(lapack.EVCompute), byte(blas.Lower), n, a, n, w, work, len(work), iwork, len(iwork)) {
				panic("no convergence")
			}
		})
	}}
}

// twoGemv is a gradient pass by two calls of dgemv for each right-hand side.
func twoGemv(n, d, t int) []func() rival {
	return []func() rival{func() rival {
		var be netlib.Implementation
		a, x, y, g, r := ones(n*d), bench.Numbers(t*d), bench.Numbers(n*t), make([]float64, t*d), make([]float64, n)
		return timed("2×dgemv", func() {
			clear(g)
			for q := range t {
				for i := range r {
					r[i] = y[i*t+q]
				}
				be.Dgemv(blas.NoTrans, n, d, 1, a, d, x[q*d:], 1, -1, r, 1)
				be.Dgemv(blas.Trans, n, d, 1, a, d, r, 1, 1, g[q*d:], 1)
			}
		})
	}}
}
