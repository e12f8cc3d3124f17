package purego

import (
	"gonum.org/v1/gonum/lapack"

	"github.com/fdridge/fdridge/internal/shape"
)

// SVD computes the singular values and right singular vectors by gonum's
// Dgesvd.
func (b *Backend) SVD(m, n int, a []float64, lda int, s []float64, vt []float64, ldvt int, work []float64) (ok bool) {
	q := min(m, n)
	shape.Matrix(m, n, lda, len(a))
	shape.Vector(q, len(s))
	shape.Matrix(q, n, ldvt, len(vt))
	need := b.SVDWork(m, n)
	shape.Work(need, len(work))
	if q == 0 {
		return true
	}
	for i := range m {
		for _, v := range a[i*lda : i*lda+n] {
			if v-v != 0 { // NaN or infinite: gonum would panic
				return false
			}
		}
	}
	return b.lapack.Dgesvd(lapack.SVDNone, lapack.SVDStore, m, n, a, lda, s[:q], nil, 1, vt, ldvt, work, need)
}

// SVDWork is the workspace of SVD: room for the triangle of a preliminary LQ or
// QR and for blocks of 32 reflectors, more than which Dgesvd has no use for. (Its
// own query slices A.)
func (b *Backend) SVDWork(m, n int) int {
	q := max(min(m, n), 0)
	return q*q + 3*q + 33*(max(m, 0)+max(n, 0))
}
