package eigen

import "github.com/fdridge/fdridge/engine/internal/matrix"

// ReduceWork returns the number of elements of workspace that [Reduce] needs.
func ReduceWork(n int) int { return tridiagonalWork(n) }

// Reduce computes T = Qᵀ·A·Q for the symmetric n×n matrix A, of which only the lower
// triangle is read, T tridiagonal with the diagonal d (length n) and e (length n−1) beside
// it. A is overwritten with the vectors of the reflections that Q is the product of, tau
// (length n) with their factors: see [Turn]. work has at least ReduceWork(n) elements.
//
// ‖A − Q·T·Qᵀ‖ is a small multiple of eps·n·‖A‖ for a Q that is orthogonal, whatever the
// scale of A. Reduce reports false when the lower triangle of A is not finite or an entry
// of T overflows; all else is then unspecified.
func Reduce(kr Kernels, sym matrix.Matrix, d, e, tau, work []float64) (ok bool) {
	n := matrix.Tridiagonal(&sym, d, e, tau)
	matrix.Work(ReduceWork(n), len(work))
	if n == 0 {
		return true
	}
	a, lda := sym.Data, sym.Stride
	exp, ok := normalise(n, a, lda)
	if !ok {
		return false
	}
	tau[0] = 0
	tridiagonalise(kr, n, a, lda, d, e, tau, work)
	completeVectors(n, a, lda)
	return rescale(d[:n], exp) && rescale(e[:n-1], exp)
}

// TurnWork returns the number of elements of workspace that [Turn] needs for k rows.
func TurnWork(n, k int) int { return backWork(n, k) }

// Turn overwrites each row x of X (k×n) with Q·x or, when trans is set, with Qᵀ·x, for the
// Q that [Reduce] left in A and tau. work has at least TurnWork(n, k) elements.
func Turn(kr Kernels, trans bool, a matrix.Matrix, tau []float64, x matrix.Matrix, work []float64) {
	n, k := matrix.Turn(&a, tau, &x)
	matrix.Work(TurnWork(n, k), len(work))
	backTransform(kr, trans, n, k, a.Data, a.Stride, tau, x.Data, x.Stride, work)
}
