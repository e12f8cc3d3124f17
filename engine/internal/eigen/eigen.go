// Package eigen computes eigenvalues and singular values. The singular values ([SVD]) are in jacobi.go. The rest of the
// package computes the spectral decomposition of dense symmetric matrices:
//
//	A = Σ wᵢ·vᵢᵀvᵢ,   w₁ ≥ w₂ ≥ … ≥ wₙ,   vᵢ orthonormal rows,
//
// with all eigenvalues and the requested number of leading eigenvectors.
//
// The stages are the classical ones, laid out for row-major storage so that every inner loop runs along a row:
//
//  1. scale A by a power of two;
//  2. A = Q·T·Qᵀ by blocked Householder reflections (tridiagonal.go):
//     Dongarra, Sorensen, Hammarling, "Block reduction of matrices to condensed
//     forms for eigenvalue computations", J. Comput. Appl. Math. 27 (1989);
//  3. T = Sᵀ·Λ·S by divide and conquer (divide.go, merge.go, secular.go, ql.go):
//     Cuppen, Numer. Math. 36 (1981); Gu, Eisenstat, SIAM J. Matrix Anal. Appl.
//     16 (1995); Li, LAPACK Working Note 89 (1993);
//  4. V = S·Qᵀ by blocks of reflections in compact WY form (back.go):
//     Schreiber, Van Loan, SIAM J. Sci. Stat. Comput. 10 (1989).
//
// Indices count from zero and eps is 2⁻⁵². In stages 2 to 4 the largest entry of A is in [½, 1).
//
// All work except half of stage 2 is in matrix products, so [Kernels] determine the speed. This package does not start
// goroutines or allocate. If the bits of the kernels do not depend on GOMAXPROCS, neither do the bits of the result.
package eigen

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Kernels are the vector and matrix operations that this package uses. Gemm and Gemv are the same as in
// engine.Backend.
type Kernels interface {
	// Gemm computes C = alpha·op(A)·op(B) + beta·C.
	Gemm(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix)

	// Gemmt computes the lower triangle of C = alpha·op(A)·op(B) + beta·C. Here op(A) is Aᵀ if transA is true,
	// otherwise A, and op(B) is Bᵀ if transB is true, otherwise B.
	Gemmt(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix)

	// Gemv computes the vector y = alpha·A·x + beta·y. If trans is true, it computes y = alpha·Aᵀ·x + beta·y.
	Gemv(trans bool, alpha float64, a matrix.Matrix, x []float64, beta float64, y []float64)

	// Symv computes y = A·x for a symmetric matrix A. It reads only the lower triangle of A.
	Symv(a matrix.Matrix, x, y []float64)
}

// Loops are the loops over the poles of a secular equation. The slices have the same length.
type Loops interface {
	// Poles sets delta[i] to (d[i] − origin) − tau. It returns the sums of zz[i]/delta[i] and of zz[i]/delta[i]². It
	// adds up the elements from the first to the last or, if down is true, from the last to the first, in at most 16
	// parallel sums. partials is the sum of all partial sums of zz[i]/delta[i].
	Poles(down bool, origin, tau float64, d, zz, delta []float64) (sum, slope, partials float64)

	// ScaleQuotients multiplies y[i] by delta[i]/(d[i] − pole).
	ScaleQuotients(pole float64, delta, d, y []float64)
}

const eps = 0x1p-52

// Work returns the length of the workspace of [Sym] for an n×n matrix and k eigenvectors. It is
// 3n²/2 + max(kn, n²/4) + O(n), or more for small n.
func Work(n, k int) int {
	return 3*n + max(tridiagonalWork(n), divideWork(n, k), backWork(n, k))
}

// Sym computes all eigenvalues of the symmetric n×n matrix A and writes them to w (length n) in descending order. It
// writes orthonormal eigenvectors of the k = v.Rows largest eigenvalues, 0 <= k <= n, to the rows of v (k×n):
// A·vᵢᵀ = wᵢ·vᵢᵀ. Only the lower triangle of A is read; all of A is overwritten. work must have at least
// Work(n, k) elements.
//
// The residual ‖A·vᵢᵀ − wᵢ·vᵢᵀ‖ is a small multiple of eps·n·‖A‖, and ‖V·Vᵀ − I‖ is
// a small multiple of eps·n, for every A. If A is multiplied by a power of two, the bits of V do not change, unless
// entries overflow or underflow.
//
// Sym returns false if the lower triangle of A is not finite, if an eigenvalue overflows, or if an iteration
// does not converge; w and v are then unspecified. It panics if slices are too short.
func Sym(
	kr Kernels,
	loops Loops,
	sym matrix.Matrix,
	w []float64,
	vectors matrix.Matrix,
	work []float64,
) (ok bool) {
	n, k := matrix.CheckSymEig(&sym, w, &vectors)
	matrix.CheckWork(Work(n, k), len(work))
	if n == 0 {
		return true
	}
	a := sym.Data
	lda := sym.Stride
	v := vectors.Data
	ldv := vectors.Stride
	exp, ok := matrix.Normalise(sym, true)
	if !ok {
		return false
	}
	d := work[:n]
	e := work[n : 2*n]
	tau := work[2*n : 3*n]
	work = work[3*n:]
	tridiagonalise(kr, n, a, lda, d, e, tau, work)
	if k == 0 {
		ok = qlValues(d, e, w)
	} else {
		ok = divide(kr, loops, n, k, d, e, w, v, ldv, work)
	}
	if !ok {
		return false
	}
	completeVectors(n, a, lda)
	backTransform(kr, false, n, k, a, lda, tau, v, ldv, work)
	return matrix.Rescale(w[:n], exp)
}
