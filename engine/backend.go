// Package engine is the dense linear algebra of fdridge. It defines the interface [Backend]. One implementation is
// pure Go, and the other calls OpenBLAS and LAPACKE through cgo. The package also chooses block sizes for the
// machine.
//
// Build tags select the implementation that [Default] returns. The file build_tags.md lists the tags. A program may
// create several backends with [New].
//
// Every matrix is stored row by row, see [Matrix]. Operations have the names and meaning of BLAS and LAPACK.
// Operands of wrong shape cause a panic with a constant string, as in gonum/blas. Dimensions may be zero.
package engine

// Backend is a set of dense linear algebra operations in float64. Their results do not depend on earlier calls.
// Concurrent calls are safe if their outputs do not overlap. No operation allocates Go memory after the first
// calls, as long as at most 64 calls run at the same time.
//
// An operation does not write its inputs, unless its documentation says that it overwrites them. An output may
// contain NaN on entry if the formula does not read it. Examples are C with beta = 0, and eigenvectors. Operations
// panic if the dimensions of the matrices disagree. Vectors are contiguous and may be longer than necessary.
//
// [Backend.Accuracy] bounds the round-off of sums.
type Backend interface {
	// Name returns the backend's short name: "purego" or "openblas".
	Name() string

	// Capabilities describes the implementation for reports. The key "kernel" gives the instruction set or the
	// OpenBLAS kernel family in use. Other keys include "version" and "threads".
	Capabilities() map[string]string

	// Accuracy returns the bounds on the round-off of the backend's sums. All calls return the same bounds.
	Accuracy() Accuracy

	// Gemm computes C = alpha·op(A)·op(B) + beta·C. Here op(A) is Aᵀ if transA is true, otherwise A, and op(B) is
	// Bᵀ if transB is true, otherwise B. op(A) is m×k, op(B) is k×n, and C is m×n. With beta = 0, C is not read. C
	// must not overlap A or B.
	Gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix)

	// Syrk computes the lower triangle of the n×n matrix C = alpha·A·Aᵀ + beta·C, where A is n×k. If trans is true,
	// it computes C = alpha·Aᵀ·A + beta·C, where A is k×n. The elements of C above the diagonal are neither read
	// nor written.
	Syrk(trans bool, alpha float64, a Matrix, beta float64, c Matrix)

	// Gram computes the lower triangle of C = A·Aᵀ in rows firstRow to n−1, where A is n×k and C is n×n. All other
	// elements of C are neither read nor written. Call Gram to update C after rows were appended to A.
	Gram(firstRow int, a, c Matrix)

	// LeftMul overwrites the first m rows of the k×n matrix B with the product W·B. W is m×k, and m must be at most
	// k. The rows of B after row m are unspecified. The slice work must have at least LeftMulWork(m, n, k)
	// elements.
	LeftMul(w, b Matrix, work []float64)
	LeftMulWork(m, n, k int) int

	// Gemv computes the vector y = alpha·A·x + beta·y, where the matrix A is m×n. If trans is true, it computes
	// y = alpha·Aᵀ·x + beta·y.
	Gemv(trans bool, alpha float64, a Matrix, x []float64, beta float64, y []float64)

	// Gradient computes two products of a block A of n rows and d columns, for t right-hand sides:
	//
	//	R = A·Xᵀ − B          (n×t, overwritten)
	//	G = G + Rᵀ·A          (t×d)
	//
	// It reads A only once if possible. X and G are t×d and have one row for each right-hand side. B is n×t. If the
	// argument b has no Data, B is zero, and the product X·AᵀA is added to G.
	Gradient(a, x, b, g, r Matrix)

	// GradientTwofold computes the residuals R and the gradients G with about twice the digits of float64:
	//
	//	R = A·Xᵀ − B + 1·cᵀ   (n×t, overwritten)
	//	G = G + (W·R)ᵀ·A      (t×d)
	//
	// A is a block of n rows and d columns. X and G are t×d and have one row for each of t right-hand sides. B is
	// n×t. 1 is a column of n ones. W is the diagonal matrix of the n weights w, or the identity if w is nil. c
	// holds t offsets, which are zero if c is nil. If x has no Data, X is zero, and only the number of rows of x
	// is read. If the matrix Hi of g has no Data, G is not computed. Both results have error bounds. The bounds of
	// G do not include the error of R, see [Twofold].
	GradientTwofold(a, x, b Matrix, c, w []float64, g, r Twofold)

	// Cosines applies the map m to each row of X, which has n rows and d columns. The map holds a d×D matrix W of
	// weights, D offsets u and the number scale:
	//
	//	Z = scale·cos(X·W + 1·uᵀ)   (n×D, overwritten)
	//
	// 1 is a column of n ones. Cosines reports whether all elements of Z are finite. Each row of Z depends only on
	// the map and on the row of X with the same index. Its bits are the same for every backend, kernel and number
	// of threads, see [CosineMap].
	Cosines(m *CosineMap, x, z Matrix) (finite bool)

	// SparseCosines computes the matrix Z of [Backend.Cosines] for sparse rows X. Z has the same bits as for dense
	// rows. The arguments rowPtr, colIdx and val are the fields RowPtr, ColIdx and Val of a [CSR]. rowPtr[0] may be
	// larger than zero, as after [CSR.Slice].
	SparseCosines(m *CosineMap, rowPtr []int, colIdx []int32, val []float64, z Matrix) (finite bool)

	// SymEig computes the eigenvalues of the symmetric n×n matrix A and writes them to w (length n) in descending
	// order. It also computes orthonormal eigenvectors of the k largest eigenvalues, where k is the number of rows
	// of v, from 0 to n. Row i of v (k×n) is the eigenvector of the eigenvalue w[i]. Only the lower triangle of A
	// is read. A is overwritten. The slice work must have at least SymEigWork(n, k) elements. If the iteration does
	// not converge, SymEig returns false, and w and v are unspecified.
	SymEig(a Matrix, w []float64, v Matrix, work []float64) (ok bool)
	SymEigWork(n, k int) int

	// Tridiagonal computes the tridiagonal matrix T = Qᵀ·A·Q for the symmetric n×n matrix A, with an orthogonal
	// matrix Q. It writes the diagonal of T to d (length n) and the subdiagonal of T to e (length n−1). Only the
	// lower triangle of A is read. A and tau (length n) are overwritten with a representation of Q, which
	// [Backend.ApplyQ] reads.
	//
	// ‖A − Q·T·Qᵀ‖ is at most a small multiple of eps·n·‖A‖, where eps = 2⁻⁵². The slice work must
	// have at least TridiagonalWork(n) elements. If A is not finite or T overflows, Tridiagonal returns false, and
	// all outputs are unspecified.
	Tridiagonal(a Matrix, d, e, tau, work []float64) (ok bool)
	TridiagonalWork(n int) int

	// ApplyQ overwrites each row x of the k×n matrix X with Q·x, or with Qᵀ·x if trans is true. Q is the orthogonal
	// n×n matrix that [Backend.Tridiagonal] stored in a (n×n) and tau (length n). The error is at most a small
	// multiple of eps·n·‖x‖, where eps = 2⁻⁵². The slice work must have at least ApplyQWork(n, k) elements.
	ApplyQ(trans bool, a Matrix, tau []float64, x Matrix, work []float64)
	ApplyQWork(n, k int) int

	// SVD computes the singular values of the m×n matrix A and writes them to s in descending order. Their number
	// is q = min(m, n). SVD writes the right singular vectors, which are orthonormal, to the rows of vt (q×n). A is
	// overwritten. The slice work must have at least SVDWork(m, n) elements. If the iteration does not converge,
	// SVD returns false.
	SVD(a Matrix, s []float64, vt Matrix, work []float64) (ok bool)
	SVDWork(m, n int) int

	// Cholesky computes the lower triangular factor L of A = L·Lᵀ for a symmetric positive definite n×n matrix A.
	// It reads only the lower triangle of A and overwrites it with L.
	//
	// If A is not numerically positive definite, ok is false, and A is unspecified. pivot is then the index of the
	// first pivot that is not positive. If A is positive semidefinite, row pivot of A is a linear combination of
	// the rows before it, up to round-off. As A is symmetric, column pivot is a linear combination of the columns
	// before it.
	Cholesky(a Matrix) (pivot int, ok bool)

	// CholeskySolve overwrites each row b_i of the matrix B with the solution x of L·Lᵀ·x = b_i. The argument l is
	// the n×n output L of [Backend.Cholesky]. B has n columns and any number of rows.
	CholeskySolve(l, b Matrix)

	// QR computes the upper triangular factor R of A = Q·R by Householder reflections, for an m×n matrix A. R
	// overwrites the elements on and right of the diagonal in the first min(m, n) rows of A. The elements of A
	// below the diagonal are unspecified on return. The diagonal of R may have any signs. The slice work must have
	// at least QRWork(m, n) elements.
	QR(a Matrix, work []float64)
	QRWork(m, n int) int
}

// A Sharer is a [Backend] in which a single call may use all threads. Several goroutines that call such a backend
// would wait for each other. Call Share before several goroutines call the backend, for example one for each part
// of a sketch. Between Share and Unshare each call uses one thread, and one call per core can run at the same time.
//
// Several goroutines may call Share; sharing ends with the last Unshare. Share and Unshare wait until no call runs,
// so they must not be called from within a call.
type Sharer interface {
	Share()
	Unshare()
}
