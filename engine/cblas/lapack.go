//go:build openblas && cgo

package cblas

/*
#define COLUMNS 102 // LAPACK_COL_MAJOR

int LAPACKE_dpotrf_work(int layout, char uplo, int n, double *a, int lda);
int LAPACKE_dpotrs_work(int layout, char uplo, int n, int nrhs, const double *a, int lda, double *b, int ldb);
int LAPACKE_dgelqf_work(int layout, int m, int n, double *a, int lda, double *tau, double *work, int lwork);
*/
import "C"

import (
	"math"
	"unsafe"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// pointer returns a C pointer to the first element of x, or nil if x is nil.
func pointer(x []float64) *C.double {
	return (*C.double)(unsafe.Pointer(unsafe.SliceData(x)))
}

// block is the block size of dgelqf.
const block = 64

// sharedOrder is the smallest order of a matrix at which several threads speed up its factorisation. Smaller
// matrices are factored by small products, and each product depends on earlier ones.
const sharedOrder = 512

// threadsFor returns the number of threads for the factorisation of an n×n matrix.
func (b *Backend) threadsFor(n int) int {
	if n < sharedOrder {
		return 1
	}
	return b.threads
}

// Cholesky overwrites the lower triangle of A with the factor L of A = L·Lᵀ. It returns the number of leading
// positive pivots, and whether all pivots are positive. LAPACK reads a row-major matrix as its transpose. Therefore
// it is called for the upper triangular factor Lᵀ.
func (b *Backend) Cholesky(a matrix.Matrix) (pivot int, ok bool) {
	n := matrix.CheckSquare(&a)
	checkInt32(a)
	if n == 0 {
		return 0, true
	}
	b.enter(b.threadsFor(n))
	defer b.leave()
	positive := n
	info := int(C.LAPACKE_dpotrf_work(C.COLUMNS, 'U', C.int(n), pointer(a.Data), C.int(a.Stride)))
	if info != 0 {
		positive = info - 1
	}
	for i := range positive {
		// OpenBLAS accepts a pivot that is NaN or infinite.
		root := a.Data[i*a.Stride+i]
		if !(root > 0) || math.IsInf(root, 1) {
			return i, false
		}
	}
	return positive, positive == n
}

// CholeskySolve overwrites each row b of the matrix rhs with the solution x of L·Lᵀ·x = b, where L is the Cholesky
// factor l. LAPACK reads the rows of rhs as columns.
func (b *Backend) CholeskySolve(l, rhs matrix.Matrix) {
	n := matrix.CheckSquare(&l)
	nrhs := rhs.Rows
	matrix.CheckShape(&rhs, nrhs, n)
	checkInt32(l, rhs)
	if n == 0 || nrhs == 0 {
		return
	}
	b.enter(b.threads)
	defer b.leave()
	info := C.LAPACKE_dpotrs_work(
		C.COLUMNS,
		'U',
		C.int(n),
		C.int(nrhs),
		pointer(l.Data),
		C.int(l.Stride),
		pointer(rhs.Data),
		C.int(rhs.Stride),
	)
	if info != 0 {
		panic("cblas: dpotrs rejected its arguments")
	}
}

// QR overwrites the part of A on and right of the diagonal with the upper triangular factor R of A = Q·R. LAPACK
// reads a row-major matrix as its transpose. Therefore QR calls LAPACK's LQ factorisation.
func (b *Backend) QR(a matrix.Matrix, work []float64) {
	matrix.Check(&a)
	m, n := a.Rows, a.Cols
	matrix.CheckWork(b.QRWork(m, n), len(work))
	checkInt32(a, matrix.Matrix{Cols: n * block})
	q := min(m, n)
	if q == 0 {
		return
	}
	b.enter(b.threadsFor(q))
	defer b.leave()
	info := C.LAPACKE_dgelqf_work(
		C.COLUMNS,
		C.int(n),
		C.int(m),
		pointer(a.Data),
		C.int(a.Stride),
		pointer(work[:q]),
		pointer(work[q:]),
		C.int(n*block),
	)
	if info != 0 {
		panic("cblas: dgelqf rejected its arguments")
	}
}

// QRWork returns the length of the workspace of QR. It has min(m, n) elements for the scalar factors of the
// reflections, and n·block elements for LAPACK.
func (b *Backend) QRWork(m, n int) int { return min(m, n) + n*block }
