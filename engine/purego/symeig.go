package purego

import (
	"github.com/fdridge/fdridge/engine/internal/eigen"
	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// SymEig computes all eigenvalues, descending, and the k leading eigenvectors as
// rows, by blocked tridiagonalisation and divide and conquer (package eigen).
func (b *Backend) SymEig(a matrix.Matrix, w []float64, v matrix.Matrix, work []float64) (ok bool) {
	return eigen.Sym(b, a, w, v, work)
}

// SymEigWork is the workspace of SymEig.
func (*Backend) SymEigWork(n, k int) int { return eigen.Work(n, k) }
