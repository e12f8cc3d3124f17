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

	"github.com/fdridge/fdridge/internal/shape"
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
func (b *Backend) Cholesky(n int, a []float64, lda int) (ok bool) {
	shape.Matrix(n, n, lda, len(a))
	fits(n, lda)
	if n == 0 {
		return true
	}
	b.enter(b.threadsFor(n))
	defer b.leave()
	if C.LAPACKE_dpotrf_work(C.COLUMNS, 'U', C.int(n), pointer(a), C.int(lda)) != 0 {
		return false
	}
	for i := range n {
		// OpenBLAS takes a pivot that is NaN or infinite for a positive one.
		if pivot := a[i*lda+i]; !(pivot > 0) || math.IsInf(pivot, 1) {
			return false
		}
	}
	return true
}

// CholeskySolve overwrites each row of B with the solution of L·Lᵀ·x = row: the
// rows are the columns of the column-major B.
func (b *Backend) CholeskySolve(n, nrhs int, l []float64, ldl int, rhs []float64, ldb int) {
	shape.Matrix(n, n, ldl, len(l))
	shape.Matrix(nrhs, n, ldb, len(rhs))
	fits(n, nrhs, ldl, ldb)
	if n == 0 || nrhs == 0 {
		return
	}
	b.enter(b.threads)
	defer b.leave()
	if C.LAPACKE_dpotrs_work(C.COLUMNS, 'U', C.int(n), C.int(nrhs), pointer(l), C.int(ldl), pointer(rhs), C.int(ldb)) != 0 {
		panic("cblas: dpotrs refused its arguments")
	}
}

// QR overwrites the upper trapezoid of A with R: column-major, the lower
// trapezoid of L in the LQ factorisation of the transpose.
func (b *Backend) QR(m, n int, a []float64, lda int, work []float64) {
	shape.Matrix(m, n, lda, len(a))
	shape.Work(b.QRWork(m, n), len(work))
	fits(m, n, lda, n*block)
	q := min(m, n)
	if q == 0 {
		return
	}
	b.enter(b.threadsFor(q))
	defer b.leave()
	if C.LAPACKE_dgelqf_work(C.COLUMNS, C.int(n), C.int(m), pointer(a), C.int(lda), pointer(work[:q]), pointer(work[q:]), C.int(n*block)) != 0 {
		panic("cblas: dgelqf refused its arguments")
	}
}

// QRWork is the workspace of QR: the scalars of the reflectors and their blocks.
func (b *Backend) QRWork(m, n int) int { return min(m, n) + n*block }
