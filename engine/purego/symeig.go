package purego

import "github.com/fdridge/fdridge/engine/internal/eigen"

// SymEig computes all eigenvalues, descending, and the k leading eigenvectors as
// rows, by blocked tridiagonalisation and divide and conquer (package eigen).
func (b *Backend) SymEig(n, k int, a []float64, lda int, w []float64, v []float64, ldv int, work []float64) (ok bool) {
	return eigen.Sym(b, n, k, a, lda, w, v, ldv, work)
}

// SymEigWork is the workspace of SymEig.
func (*Backend) SymEigWork(n, k int) int { return eigen.Work(n, k) }
