// Package engine is the dense linear algebra under fdridge: one small
// interface, two implementations (pure Go; OpenBLAS and LAPACKE through cgo)
// and the dispatcher that chooses block sizes for the machine it runs on.
//
// Which implementation [Default] returns is decided by build tags, see
// build_tags.md. A program may hold several backends at once ([New]).
//
// Every matrix is row-major, see [Matrix]. Operations follow BLAS and LAPACK in name and
// meaning; shapes a programmer got wrong panic with a constant string, as in gonum/blas.
// Zero dimensions are allowed and do nothing beyond what the formula says.
package engine

// Backend is a set of dense kernels in float64. Implementations keep no state that a
// call could observe, and are safe for concurrent use as long as the outputs of
// concurrent calls don't overlap. No operation allocates Go memory in steady state, with
// up to 64 calls at once.
//
// Inputs that an operation does not document as overwritten are never written.
// Outputs are fully determined by the formula: an output that is only written
// (beta = 0, eigenvectors, …) may hold NaN on entry. Dimensions are those of the
// matrices, which must fit together; vectors are contiguous and may be longer.
//
// The round-off of sums is bounded by what [Backend.Accuracy] promises.
type Backend interface {
	// Name is the backend's short name: "purego" or "openblas".
	Name() string

	// Capabilities describes what runs underneath, for reports: at least the
	// keys "kernel" (the instruction set or core in use), "version" and
	// "threads".
	Capabilities() map[string]string

	// Accuracy is what the backend promises of the round-off of its sums. It is the
	// same for every call.
	Accuracy() Accuracy

	// Gemm computes C = alpha·op(A)·op(B) + beta·C with op(A) m×k, op(B) k×n
	// and C m×n; op(X) is Xᵀ where its flag is set. With beta = 0 C is only
	// written. C must not overlap A or B.
	Gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix)

	// Syrk computes the lower triangle of C = alpha·A·Aᵀ + beta·C with A n×k,
	// or of C = alpha·Aᵀ·A + beta·C with A k×n when trans is set. C is n×n;
	// its strict upper triangle is neither read nor written.
	Syrk(trans bool, alpha float64, a Matrix, beta float64, c Matrix)

	// Gram computes rows first to n of the lower triangle of C = A·Aᵀ, A n×k and C
	// n×n: what appending rows first to n to A adds to its Gram matrix. The rest of C
	// is neither read nor written.
	Gram(first int, a, c Matrix)

	// LeftMul overwrites the first m rows of B (k×n, m <= k) with W·B, W m×k. The
	// other rows of B are unspecified. work has at least LeftMulWork(m, n, k)
	// elements.
	LeftMul(w, b Matrix, work []float64)
	LeftMulWork(m, n, k int) int

	// Gemv computes y = alpha·A·x + beta·y with A m×n, or, when trans is set,
	// y = alpha·Aᵀ·x + beta·y.
	Gemv(trans bool, alpha float64, a Matrix, x []float64, beta float64, y []float64)

	// Gradient computes, for a block A of n rows and d columns and t right-hand
	// sides at once,
	//
	//	R = A·Xᵀ − B          (n×t, overwritten)
	//	G = G + Rᵀ·A          (t×d)
	//
	// reading A once where it can. X and G are t×d: each right-hand side is one
	// row. B is n×t; a b without Data stands for B = 0, so that G gains
	// X·AᵀA, which is the operator product of conjugate gradients.
	Gradient(a, x, b, g, r Matrix)

	// GradientTwofold computes, like Gradient but with about twice the digits,
	//
	//	R = A·Xᵀ − B + 1·cᵀ   (n×t, overwritten)
	//	G = G + (W·R)ᵀ·A      (t×d)
	//
	// W is diagonal, with the weights w; a w without elements is the identity, a c
	// without elements is zero. The bounds of both results hold, those of G for the R that is
	// returned, see [Twofold].
	GradientTwofold(a, x, b Matrix, c, w []float64, g, r Twofold)

	// Cosines computes the D functions of m for each row of X (n×d),
	//
	//	Z = scale·cos(X·W + 1·uᵀ)   (n×D, overwritten)
	//
	// and reports whether all of Z is finite. The bits of a row of Z follow from that row of
	// X and from m alone: they are the same for every backend, kernel and number of threads,
	// see [CosineMap].
	Cosines(m *CosineMap, x, z Matrix) (finite bool)

	// SparseCosines is Cosines, to the same bits, for the rows of a [CSR], given by its
	// fields. Row pointers may begin above zero, as those of [CSR.Slice].
	SparseCosines(m *CosineMap, rowPtr []int, colIdx []int32, val []float64, z Matrix) (finite bool)

	// SymEig computes the eigenvalues of the symmetric n×n matrix A, of which
	// only the lower triangle is read, in descending order into w (length n),
	// and orthonormal eigenvectors of the k leading ones, 0 <= k <= n, as the
	// rows of v (k×n): A·v_iᵀ = w_i·v_iᵀ. A is overwritten. work has at least
	// SymEigWork(n, k) elements. It reports false when the iteration did not
	// converge; w and v are then unspecified.
	SymEig(a Matrix, w []float64, v Matrix, work []float64) (ok bool)
	SymEigWork(n, k int) int

	// Tridiagonal computes T = Qᵀ·A·Q for the symmetric n×n matrix A, of which only the
	// lower triangle is read, with Q orthogonal and T tridiagonal: its diagonal goes into d
	// (length n), what stands beside it into e (length n−1). A and tau (length n) are
	// overwritten with what [Backend.Turn] makes Q of. ‖A − Q·T·Qᵀ‖ is no more than a
	// small multiple of eps·n·‖A‖. work has at least TridiagonalWork(n) elements. It
	// reports false where A is not finite or T overflows; everything is then unspecified.
	Tridiagonal(a Matrix, d, e, tau, work []float64) (ok bool)
	TridiagonalWork(n int) int

	// Turn overwrites each row x of X (k×n) with Q·x or, when trans is set, with Qᵀ·x, for
	// the Q that [Backend.Tridiagonal] left in A (n×n) and tau (length n). What it is off by
	// is no more than a small multiple of eps·n·‖x‖. work has at least TurnWork(n, k)
	// elements.
	Turn(trans bool, a Matrix, tau []float64, x Matrix, work []float64)
	TurnWork(n, k int) int

	// SVD computes, for A m×n with q = min(m, n), the singular values in
	// descending order into s (length q) and the right singular vectors as the
	// orthonormal rows of vt (q×n). A is overwritten. work has at least
	// SVDWork(m, n) elements. It reports false when the iteration did not
	// converge.
	SVD(a Matrix, s []float64, vt Matrix, work []float64) (ok bool)
	SVDWork(m, n int) int

	// Cholesky overwrites the lower triangle of the symmetric positive definite
	// n×n matrix A, of which only the lower triangle is read, with L, A = L·Lᵀ.
	// Where A is not numerically positive definite it is not ok, A is then
	// unspecified and pivot the index of the first pivot that was not a positive
	// number: row and column pivot of A depend on those before, as far as round-off
	// lets one tell.
	Cholesky(a Matrix) (pivot int, ok bool)

	// CholeskySolve overwrites each row b_i of B (nrhs×n) with the solution x of
	// L·Lᵀ·x = b_i, L from [Backend.Cholesky].
	CholeskySolve(l, b Matrix)

	// QR overwrites the upper trapezoid of the m×n matrix A (its first min(m, n)
	// rows, on and right of the diagonal) with R of A = Q·R by Householder
	// reflections. The rest of A is unspecified. The signs of R's diagonal are
	// the backend's choice. work has at least QRWork(m, n) elements.
	QR(a Matrix, work []float64)
	QRWork(m, n int) int
}

// A Sharer is a [Backend] whose calls have threads of its own that they wait for each other
// for. Between Share and Unshare each call has one, and there may be as many calls at once as
// there are cores: for work that is divided above the backend, as the lanes of a sketch are.
// Several may share at a time. Both wait for the calls that are being made, so that neither
// is for use inside of one.
type Sharer interface {
	Share()
	Unshare()
}
