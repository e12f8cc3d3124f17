// Package eigen computes the spectral decomposition of dense symmetric
// matrices:
//
//	A = Σ wᵢ·vᵢᵀvᵢ,   w₁ ≥ w₂ ≥ … ≥ wₙ,   vᵢ orthonormal rows,
//
// all the eigenvalues and as many of the leading eigenvectors as are asked for.
//
// The stages are the classical ones, laid out for row-major storage so that
// every inner loop runs along a row:
//
//  1. scale A by a power of two (scale.go);
//  2. A = Q·T·Qᵀ by blocked Householder reflections (tridiagonal.go):
//     Dongarra, Sorensen, Hammarling, "Block reduction of matrices to condensed
//     forms for eigenvalue computations", J. Comput. Appl. Math. 27 (1989);
//  3. T = Sᵀ·Λ·S by divide and conquer (divide.go, merge.go, secular.go, ql.go):
//     Cuppen, Numer. Math. 36 (1981); Gu, Eisenstat, SIAM J. Matrix Anal. Appl.
//     16 (1995); Li, LAPACK Working Note 89 (1993);
//  4. V = S·Qᵀ by blocks of reflections in compact WY form (back.go):
//     Schreiber, Van Loan, SIAM J. Sci. Stat. Comput. 10 (1989).
//
// Indices count from zero, eps is 2⁻⁵², and inside stages 2 to 4 the largest
// entry of A lies in [½, 1).
//
// All but half of stage 2 is matrix products, so the speed is that of
// [Kernels]. Nothing here starts a goroutine or allocates: the result is
// bitwise the same for any GOMAXPROCS if that of the kernels is.
package eigen

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Kernels are the vector and matrix operations under the solver: Gemm and Gemv in
// the meaning of engine.Backend, Gemmt and Symv.
type Kernels interface {
	// Gemm computes C = alpha·op(A)·op(B) + beta·C.
	Gemm(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix)

	// Gemmt computes the lower triangle of C = alpha·op(A)·op(B) + beta·C.
	Gemmt(transA, transB bool, alpha float64, a, b matrix.Matrix, beta float64, c matrix.Matrix)

	// Gemv computes y = alpha·A·x + beta·y or, when trans is set,
	// y = alpha·Aᵀ·x + beta·y.
	Gemv(trans bool, alpha float64, a matrix.Matrix, x []float64, beta float64, y []float64)

	// Symv computes y = A·x, of the symmetric A reading the lower triangle.
	Symv(a matrix.Matrix, x, y []float64)
}

const eps = 0x1p-52

// Work returns the number of elements of workspace that [Sym] needs:
// 3n²/2 + kn + O(n), and no less than its panels take.
func Work(n, k int) int {
	return 3*n + max(tridiagonalWork(n), divideWork(n, k), backWork(n, k))
}

// Sym computes all eigenvalues of the symmetric n×n matrix A in descending
// order into w (length n), and orthonormal eigenvectors of the k = v.Rows leading
// ones, 0 <= k <= n, as the rows of v (k×n): A·vᵢᵀ = wᵢ·vᵢᵀ. Only the lower triangle
// of A is read; all of A is overwritten. work has at least Work(n, k) elements
// of any content.
//
// The residual ‖A·vᵢᵀ − wᵢ·vᵢᵀ‖ is a small multiple of eps·n·‖A‖ and
// ‖V·Vᵀ − I‖ one of eps·n, whatever the spectrum and the scale of A. Scaling A
// by a power of two that neither overflows nor underflows leaves V the same bit
// for bit.
//
// Sym reports false when the lower triangle of A is not finite, when an
// eigenvalue overflows, or when an iteration does not converge; w and v are then
// unspecified. It panics on slices too short for the shapes.
func Sym(kr Kernels, sym matrix.Matrix, w []float64, vectors matrix.Matrix, work []float64) (ok bool) {
	n, k := matrix.SymEig(&sym, w, &vectors)
	matrix.Work(Work(n, k), len(work))
	if n == 0 {
		return true
	}
	a, lda, v, ldv := sym.Data, sym.Stride, vectors.Data, vectors.Stride
	exp, ok := normalise(n, a, lda)
	if !ok {
		return false
	}
	d, e, tau, work := work[:n], work[n:2*n], work[2*n:3*n], work[3*n:]
	tridiagonalise(kr, n, a, lda, d, e, tau, work)
	if k == 0 {
		ok = qlValues(d, e, w)
	} else {
		ok = divide(kr, n, k, d, e, w, v, ldv, work)
	}
	if !ok {
		return false
	}
	completeVectors(n, a, lda)
	backTransform(kr, false, n, k, a, lda, tau, v, ldv, work)
	return rescale(w[:n], exp)
}
