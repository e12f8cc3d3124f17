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

// Tridiagonal reduces A to tridiagonal form by blocks of Householder reflections (package
// eigen).
func (b *Backend) Tridiagonal(a matrix.Matrix, d, e, tau, work []float64) (ok bool) {
	return eigen.Reduce(shared{b}, a, d, e, tau, work)
}

// TridiagonalWork is the workspace of Tridiagonal.
func (*Backend) TridiagonalWork(n int) int { return eigen.ReduceWork(n) }

// Turn multiplies rows by the reflections of Tridiagonal, in compact WY form.
func (b *Backend) Turn(trans bool, a matrix.Matrix, tau []float64, x matrix.Matrix, work []float64) {
	eigen.Turn(b, trans, a, tau, x, work)
}

// TurnWork is the workspace of Turn.
func (*Backend) TurnWork(n, k int) int { return eigen.TurnWork(n, k) }

// shared is a Backend of which Symv is shared out to several goroutines.
type shared struct{ *Backend }

// Symv is Backend.Symv in parts whose number depends on n alone.
func (b shared) Symv(sym matrix.Matrix, x, y []float64) { b.symvInParts(sym, x, y) }
