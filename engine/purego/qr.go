package purego

import "github.com/fdridge/fdridge/internal/shape"

// QR overwrites the upper trapezoid of A with R of A = Q·R.
func (b *Backend) QR(m, n int, a []float64, lda int, work []float64) {
	shape.Matrix(m, n, lda, len(a))
	need := b.QRWork(m, n)
	shape.Work(need, len(work))
	q := min(m, n)
	if q == 0 {
		return
	}
	b.lapack.Dgeqrf(m, n, a, lda, work[:q], work[q:need], need-q)
}

// QRWork is the workspace of QR: the scalars of the reflectors and gonum's blocks
// of 32 of them. (A query would allocate.)
func (b *Backend) QRWork(m, n int) int {
	q := min(m, n)
	if q <= 0 {
		return 0
	}
	return q + 32*n
}
