package purego

import (
	"github.com/fdridge/fdridge/engine/internal/eigen"
	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// SymEig computes all eigenvalues in descending order, and the eigenvectors of the k largest ones as the k rows of
// v. It reduces the matrix to tridiagonal form, which it solves by divide and conquer. See package eigen.
func (b *Backend) SymEig(
	a matrix.Matrix,
	w []float64,
	v matrix.Matrix,
	work []float64,
) (ok bool) {
	return eigen.Sym(b, b.RowLoops(), a, w, v, work)
}

// SymEigWork returns the length of the workspace of SymEig.
func (*Backend) SymEigWork(n, k int) int { return eigen.Work(n, k) }

// Tridiagonal reduces the symmetric matrix A to tridiagonal form by blocks of Householder reflections. See package
// eigen.
func (b *Backend) Tridiagonal(a matrix.Matrix, d, e, tau, work []float64) (ok bool) {
	return eigen.Reduce(shared{b}, a, d, e, tau, work)
}

// TridiagonalWork returns the length of the workspace of Tridiagonal.
func (*Backend) TridiagonalWork(n int) int { return eigen.ReduceWork(n) }

// ApplyQ multiplies the rows of x by the orthogonal matrix that Tridiagonal stored as reflections. It applies
// blocks of reflections at a time (compact WY form).
func (b *Backend) ApplyQ(
	trans bool,
	a matrix.Matrix,
	tau []float64,
	x matrix.Matrix,
	work []float64,
) {
	eigen.ApplyQ(b, trans, a, tau, x, work)
}

// ApplyQWork returns the length of the workspace of ApplyQ.
func (*Backend) ApplyQWork(n, k int) int { return eigen.ApplyQWork(n, k) }

// A shared is a Backend whose method Symv uses several goroutines.
type shared struct{ *Backend }

// Symv computes the product y = A·x in parts. The number of parts depends only on the order of A, so the bits do
// not depend on the number of threads.
func (b shared) Symv(sym matrix.Matrix, x, y []float64) {
	b.symvInParts(sym, x, y)
}
