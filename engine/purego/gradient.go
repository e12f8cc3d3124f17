package purego

import "github.com/fdridge/fdridge/internal/shape"

// Gradient computes R = A·Xᵀ − B and G += Rᵀ·A, each row of A being used for
// both while it is in the first-level cache: A is read once from memory.
func (b *Backend) Gradient(n, d, t int, a []float64, lda int, x []float64, ldx int, rhs []float64, ldb int, g []float64, ldg int, r []float64, ldr int) {
	shape.Matrix(n, d, lda, len(a))
	shape.Matrix(t, d, ldx, len(x))
	shape.Matrix(t, d, ldg, len(g))
	shape.Matrix(n, t, ldr, len(r))
	if rhs != nil {
		shape.Matrix(n, t, ldb, len(rhs))
	}
	for i := range n {
		for q := range t {
			var s float64
			if d > 0 {
				s = b.blas.Ddot(d, a[i*lda:], 1, x[q*ldx:], 1)
			}
			if rhs != nil {
				s -= rhs[i*ldb+q]
			}
			r[i*ldr+q] = s
			if d > 0 {
				b.blas.Daxpy(d, s, a[i*lda:], 1, g[q*ldg:], 1)
			}
		}
	}
}
