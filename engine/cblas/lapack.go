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

// pointer passes a slice to C, nil where it is empty.
func pointer(x []float64) *C.double {
	return (*C.double)(unsafe.Pointer(unsafe.SliceData(x)))
}

// block is the block size of dgelqf.
const block = 64

// sharedOrder is from which order on a factorisation gains by several threads:
// below, its many small products wait for one another.
const sharedOrder = 512

// threadsFor is how many threads a factorisation of order n runs on.
func (b *Backend) threadsFor(n int) int {
	if n < sharedOrder {
		return 1
	}
	return b.threads
}

// Cholesky overwrites the lower triangle of A with L, A = L·Lᵀ: column-major, the
// upper one with U = Lᵀ.
//
// It returns how many pivots were positive, and whether that is all of them.
func (b *Backend) Cholesky(a matrix.Matrix) (pivot int, ok bool) {
	n := matrix.Square(&a)
	fits(a)
	if n == 0 {
		return 0, true
	}
	b.enter(b.threadsFor(n))
	defer b.leave()
	positive := n
	if info := int(C.LAPACKE_dpotrf_work(C.COLUMNS, 'U', C.int(n), pointer(a.Data), C.int(a.Stride))); info != 0 {
		positive = info - 1
	}
	for i := range positive {
		// OpenBLAS takes a pivot that is NaN or infinite for a positive one.
		if root := a.Data[i*a.Stride+i]; !(root > 0) || math.IsInf(root, 1) {
			return i, false
		}
	}
	return positive, positive == n
}

// CholeskySolve overwrites each row of B with the solution of L·Lᵀ·x = row: the
// rows are the columns of the column-major B.
func (b *Backend) CholeskySolve(l, rhs matrix.Matrix) {
	n, nrhs := matrix.Square(&l), rhs.Rows
	matrix.Is(&rhs, nrhs, n)
	fits(l, rhs)
	if n == 0 || nrhs == 0 {
		return
	}
	b.enter(b.threads)
	defer b.leave()
	if C.LAPACKE_dpotrs_work(C.COLUMNS, 'U', C.int(n), C.int(nrhs), pointer(l.Data), C.int(l.Stride), pointer(rhs.Data), C.int(rhs.Stride)) != 0 {
		panic("cblas: dpotrs refused its arguments")
	}
}

// QR overwrites the upper trapezoid of A with R: column-major, the lower
// trapezoid of L in the LQ factorisation of the transpose.
func (b *Backend) QR(a matrix.Matrix, work []float64) {
	matrix.Check(&a)
	m, n := a.Rows, a.Cols
	matrix.Work(b.QRWork(m, n), len(work))
	fits(a, matrix.Matrix{Cols: n * block})
	q := min(m, n)
	if q == 0 {
		return
	}
	b.enter(b.threadsFor(q))
	defer b.leave()
	if C.LAPACKE_dgelqf_work(C.COLUMNS, C.int(n), C.int(m), pointer(a.Data), C.int(a.Stride), pointer(work[:q]), pointer(work[q:]), C.int(n*block)) != 0 {
		panic("cblas: dgelqf refused its arguments")
	}
}

// QRWork is the workspace of QR: the scalars of the reflectors and their blocks.
func (b *Backend) QRWork(m, n int) int { return min(m, n) + n*block }
