package purego

import (
	"github.com/fdridge/fdridge/engine/internal/jacobi"
	"github.com/fdridge/fdridge/internal/shape"
)

// SVD computes the singular values and right singular vectors by preconditioned
// Jacobi rotations, see package jacobi.
func (b *Backend) SVD(m, n int, a []float64, lda int, s []float64, vt []float64, ldvt int, work []float64) (ok bool) {
	q := min(m, n)
	shape.Matrix(m, n, lda, len(a))
	shape.Vector(q, len(s))
	shape.Matrix(q, n, ldvt, len(vt))
	shape.Work(b.SVDWork(m, n), len(work))
	return jacobi.SVD(b, m, n, a, lda, s, vt, ldvt, work)
}

// SVDWork is the workspace of SVD.
func (b *Backend) SVDWork(m, n int) int { return jacobi.Work(b, m, n) }
