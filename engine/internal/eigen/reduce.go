package eigen

import "github.com/fdridge/fdridge/engine/internal/matrix"

// ReduceWork returns the length of the workspace of [Reduce].
func ReduceWork(n int) int { return tridiagonalWork(n) }

// Reduce computes T = Qᵀ·A·Q for the symmetric n×n matrix A, with Q orthogonal and T tridiagonal. It writes the
// diagonal of T to d (length n) and the subdiagonal to e (length n−1). Only the lower triangle of A is read. A and
// tau (length n) are overwritten with the vectors and factors of the reflections whose product is Q, see [ApplyQ].
// work must have at least ReduceWork(n) elements.
//
// ‖A − Q·T·Qᵀ‖ is a small multiple of eps·n·‖A‖ for an orthogonal Q and any scale of A. Reduce
// returns false if the lower triangle of A is not finite or an entry of T overflows; all outputs are then
// unspecified.
func Reduce(kr Kernels, sym matrix.Matrix, d, e, tau, work []float64) (ok bool) {
	n := matrix.CheckTridiagonal(&sym, d, e, tau)
	matrix.CheckWork(ReduceWork(n), len(work))
	if n == 0 {
		return true
	}
	a, lda := sym.Data, sym.Stride
	exp, ok := matrix.Normalise(sym, true)
	if !ok {
		return false
	}
	tau[0] = 0
	tridiagonalise(kr, n, a, lda, d, e, tau, work)
	completeVectors(n, a, lda)
	return matrix.Rescale(d[:n], exp) && matrix.Rescale(e[:n-1], exp)
}

// ApplyQWork returns the length of the workspace of [ApplyQ] for k rows.
func ApplyQWork(n, k int) int { return backWork(n, k) }

// ApplyQ overwrites each row x of X (k×n) with Q·x, or with Qᵀ·x if trans is true. A and tau are the output
// of [Reduce]. work must have at least ApplyQWork(n, k) elements.
func ApplyQ(kr Kernels, trans bool, a matrix.Matrix, tau []float64, x matrix.Matrix, work []float64) {
	n, k := matrix.CheckApplyQ(&a, tau, &x)
	matrix.CheckWork(ApplyQWork(n, k), len(work))
	backTransform(kr, trans, n, k, a.Data, a.Stride, tau, x.Data, x.Stride, work)
}
