// Package engine is the dense linear algebra of fdridge. It defines an interface with two implementations:
// pure Go, and OpenBLAS with LAPACKE through cgo. It chooses block sizes for the machine.
//
// Build tags select the implementation that [Default] returns, see build_tags.md. A program may create
// several backends with [New].
//
// Every matrix is row-major, see [Matrix]. Operations have the names and meaning of BLAS and LAPACK. Wrong
// shapes panic with a constant string, as in gonum/blas. Dimensions may be zero.
package engine

// Backend is a set of dense kernels in float64. Results do not depend on earlier calls. Concurrent calls are safe if
// their outputs don't overlap. After the first calls, no operation allocates Go memory, with up to 64 concurrent calls.
//
// Inputs are never written, unless the operation documents that it overwrites them. An output that the formula does
// not read (beta = 0, eigenvectors, …) may contain NaN on entry. Operations panic if the dimensions of the matrices
// disagree. Vectors are contiguous and may be longer than necessary.
//
// [Backend.Accuracy] bounds the round-off of sums.
type Backend interface {
	// Name returns the backend's short name: "purego" or "openblas".
	Name() string

	// Capabilities describes the implementation for reports. The keys include "kernel" (the instruction set
	// or core in use), "version" and "threads".
	Capabilities() map[string]string

	// Accuracy returns the bounds on the round-off of the backend's sums. Every call returns the same value.
	Accuracy() Accuracy

	// Gemm computes C = alpha·op(A)·op(B) + beta·C with op(A) m×k, op(B) k×n and C m×n. op(X) is Xᵀ if the
	// flag of X is true, otherwise X. With beta = 0, C is not read. C must not overlap A or B.
	Gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix)

	// Syrk computes the lower triangle of C = alpha·A·Aᵀ + beta·C with A n×k, or of C = alpha·Aᵀ·A + beta·C
	// with A k×n if trans is true. C is n×n. Its strict upper triangle is neither read nor written.
	Syrk(trans bool, alpha float64, a Matrix, beta float64, c Matrix)

	// Gram computes rows firstRow to n−1 of the lower triangle of C = A·Aᵀ, with A n×k and C n×n. The rest of C is
	// neither read nor written. Call Gram to update C after rows were appended to A.
	Gram(firstRow int, a, c Matrix)

	// LeftMul overwrites the first m rows of B (k×n, m <= k) with W·B, where W is m×k. The other rows of B
	// are unspecified. work must have at least LeftMulWork(m, n, k) elements.
	LeftMul(w, b Matrix, work []float64)
	LeftMulWork(m, n, k int) int

	// Gemv computes y = alpha·A·x + beta·y with A m×n, or y = alpha·Aᵀ·x + beta·y if trans is true.
	Gemv(trans bool, alpha float64, a Matrix, x []float64, beta float64, y []float64)

	// Gradient computes, for a block A of n rows and d columns and for t right-hand sides,
	//
	//	R = A·Xᵀ − B          (n×t, overwritten)
	//	G = G + Rᵀ·A          (t×d)
	//
	// and reads A only once if possible. X and G are t×d, with one row for each right-hand side. B is n×t. A
	// matrix b without Data means B = 0; then X·AᵀA is added to G.
	Gradient(a, x, b, g, r Matrix)

	// GradientTwofold computes the products of Gradient with about twice the digits:
	//
	//	R = A·Xᵀ − B + 1·cᵀ   (n×t, overwritten)
	//	G = G + (W·R)ᵀ·A      (t×d)
	//
	// 1 is a column of n ones, and W is the diagonal matrix of the weights w. An empty w means W = I, and an empty c
	// means c = 0. X is zero if it has no Data; only its number of rows is then read. G is not computed if G.Hi has no
	// Data. Both results have error bounds. The bounds of G do not include the error of R, see [Twofold].
	GradientTwofold(a, x, b Matrix, c, w []float64, g, r Twofold)

	// Cosines applies the map m to each row of X (n×d). m holds the d×D weights W, the D offsets u and the number
	// scale:
	//
	//	Z = scale·cos(X·W + 1·uᵀ)   (n×D, overwritten)
	//
	// 1 is a column of n ones. Cosines reports whether all elements of Z are finite. A row of Z depends only on m and
	// the same row of X. Its bits are the same for every backend, kernel and number of threads, see [CosineMap].
	Cosines(m *CosineMap, x, z Matrix) (finite bool)

	// SparseCosines computes Z of Cosines for sparse rows X, with the same bits. rowPtr, colIdx and val are the fields
	// of a [CSR]. rowPtr[0] may be larger than zero, as after [CSR.Slice].
	SparseCosines(m *CosineMap, rowPtr []int, colIdx []int32, val []float64, z Matrix) (finite bool)

	// SymEig computes the eigenvalues of the symmetric n×n matrix A and writes them to w (length n) in descending
	// order. It writes orthonormal eigenvectors of the k largest eigenvalues, 0 <= k <= n, to the rows of v (k×n):
	// A·v_iᵀ = w_i·v_iᵀ. Only the lower triangle of A is read; A is overwritten. work must have at least
	// SymEigWork(n, k) elements. If the iteration does not converge, SymEig returns false, and w and v are unspecified.
	SymEig(a Matrix, w []float64, v Matrix, work []float64) (ok bool)
	SymEigWork(n, k int) int

	// Tridiagonal computes T = Qᵀ·A·Q for the symmetric n×n matrix A, with Q orthogonal and T tridiagonal. It
	// writes the diagonal of T to d (length n) and the subdiagonal to e (length n−1). Only the lower triangle
	// of A is read. A and tau (length n) are overwritten with the representation of Q for [Backend.ApplyQ].
	//
	// ‖A − Q·T·Qᵀ‖ is at most a small multiple of eps·n·‖A‖. work must have at least TridiagonalWork(n)
	// elements. If A is not finite or T overflows, Tridiagonal returns false, and all outputs are unspecified.
	Tridiagonal(a Matrix, d, e, tau, work []float64) (ok bool)
	TridiagonalWork(n int) int

	// ApplyQ overwrites each row x of X (k×n) with Q·x, or with Qᵀ·x if trans is true. A (n×n) and tau
	// (length n) are the output of [Backend.Tridiagonal]. The error is at most a small multiple of eps·n·‖x‖.
	// work must have at least ApplyQWork(n, k) elements.
	ApplyQ(trans bool, a Matrix, tau []float64, x Matrix, work []float64)
	ApplyQWork(n, k int) int

	// SVD computes the singular values of the m×n matrix A and writes them to s (length q = min(m, n)) in descending
	// order. It writes the right singular vectors to the rows of vt (q×n), which are orthonormal. A is overwritten.
	// work must have at least SVDWork(m, n) elements. If the iteration does not converge, SVD returns false.
	SVD(a Matrix, s []float64, vt Matrix, work []float64) (ok bool)
	SVDWork(m, n int) int

	// Cholesky overwrites the lower triangle of the symmetric positive definite n×n matrix A with the factor L of A =
	// L·Lᵀ. Only the lower triangle is read.
	//
	// If A is not numerically positive definite, ok is false, and A is unspecified. pivot is then the index of the
	// first pivot that is not positive. If A is positive semidefinite, the row with this index is, up to round-off, a
	// linear combination of the rows before it. The same holds for columns.
	Cholesky(a Matrix) (pivot int, ok bool)

	// CholeskySolve overwrites each row b_i of B (nrhs×n) with the solution x of L·Lᵀ·x = b_i, where L is the
	// output of [Backend.Cholesky].
	CholeskySolve(l, b Matrix)

	// QR overwrites the upper trapezoid of the m×n matrix A with the factor R of A = Q·R, by Householder reflections.
	// The upper trapezoid is the part on and right of the diagonal of the first min(m, n) rows. The rest of A is
	// unspecified. The signs of the diagonal of R are unspecified. work must have at least QRWork(m, n) elements.
	QR(a Matrix, work []float64)
	QRWork(m, n int) int
}

// A Sharer is a [Backend] in which a single call may use all threads. Concurrent calls then wait for each other. Call
// Share before several goroutines call the backend, for example one for each part of a sketch. From Share to Unshare,
// each call uses one thread, and one call per core can run at the same time.
//
// Several goroutines may call Share; sharing ends with the last Unshare. Share and Unshare wait for running calls, so
// they must not be called during a call.
type Sharer interface {
	Share()
	Unshare()
}
