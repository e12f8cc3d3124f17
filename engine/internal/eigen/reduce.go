package eigen

import "github.com/fdridge/fdridge/engine/internal/matrix"

// ReduceWork returns the length of the workspace of [Reduce].
func ReduceWork(n int) int { return tridiagonalWork(n) }

// Reduce computes the tridiagonal matrix T = Qᵀ·A·Q for a symmetric n×n matrix A, with an orthogonal matrix Q. It
// writes the diagonal of T to d (length n) and the subdiagonal to e (length n−1). Only the lower triangle of A is
// read. Q is a product of reflections. Their vectors and factors overwrite A and tau (length n), see [ApplyQ]. The
// slice work must have at least ReduceWork(n) elements.
//
// ‖A − Q·T·Qᵀ‖ is a small multiple of eps·n·‖A‖, whatever the scale of A. Reduce returns false if the
// lower triangle of A is not finite or an entry of T overflows. All outputs are then unspecified.
func Reduce(
	kr Kernels,
	sym matrix.Matrix,
	d, e, tau, work []float64,
) (ok bool) {
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
	return matrix.Rescale(d[:n], exp) &&
		matrix.Rescale(e[:n-1], exp)
}

// ApplyQWork returns the length of the workspace that [ApplyQ] needs for k rows of n elements.
func ApplyQWork(n, k int) int { return backWork(n, k) }

// ApplyQ overwrites each row x of the matrix X (k×n) with Q·x, or with Qᵀ·x if trans is true. Q is the orthogonal
// n×n matrix that [Reduce] stored in a and tau. The slice work must have at least ApplyQWork(n, k) elements.
func ApplyQ(
	kr Kernels,
	trans bool,
	a matrix.Matrix,
	tau []float64,
	x matrix.Matrix,
	work []float64,
) {
	n, k := matrix.CheckApplyQ(&a, tau, &x)
	matrix.CheckWork(ApplyQWork(n, k), len(work))
	backTransform(kr, trans, n, k, a.Data, a.Stride, tau, x.Data, x.Stride, work)
}
