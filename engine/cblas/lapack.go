//go:build openblas && cgo

package cblas

/*
#define COLUMNS 102 // LAPACK_COL_MAJOR

int LAPACKE_dsytrd_work(int layout, char uplo, int n, double *a, int lda, double *d, double *e, double *tau, double *work, int lwork);
int LAPACKE_dstedc_work(int layout, char compz, int n, double *d, double *e, double *z, int ldz, double *work, int lwork, int *iwork, int liwork);
int LAPACKE_dormtr_work(int layout, char side, char uplo, char trans, int m, int n, const double *a, int lda, const double *tau, double *c, int ldc, double *work, int lwork);
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

// integers carves n C ints out of a workspace of float64.
func integers(work []float64, n int) (ints *C.int, rest []float64) {
	words := (n + 1) / 2
	return (*C.int)(unsafe.Pointer(unsafe.SliceData(work[:words]))), work[words:]
}

// block is the block size that LAPACK's reductions use.
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

// SymEig computes all eigenvalues, descending, and the k leading eigenvectors as
// rows: dsytrd, dstedc, and dormtr on the k leading vectors alone. For k = n/2 that
// takes 0.80 to 0.98 of the time of dsyevd at orders from 8 to 1024.
func (b *Backend) SymEig(n, k int, a []float64, lda int, w []float64, v []float64, ldv int, work []float64) (ok bool) {
	shape.Matrix(n, n, lda, len(a))
	shape.Leading(k, n)
	shape.Vector(n, len(w))
	shape.Matrix(k, n, ldv, len(v))
	shape.Work(b.SymEigWork(n, k), len(work))
	fits(n, lda, ldv)
	if k > 0 {
		fits(1 + 4*n + n*n) // of dstedc's workspace
	}
	if n == 0 {
		return true
	}
	exp, ok := normalise(n, a, lda)
	if !ok {
		return false
	}
	b.enter(b.threadsFor(n))
	defer b.leave()

	d, e, tau, work := work[:n], work[n:2*n], work[2*n:3*n], work[3*n:]
	size := C.int(n)
	// A row-major lower triangle is a column-major upper one.
	if C.LAPACKE_dsytrd_work(C.COLUMNS, 'U', size, pointer(a), C.int(lda), pointer(d), pointer(e), pointer(tau), pointer(work), C.int(n*block)) != 0 {
		return false
	}
	if k == 0 {
		if C.LAPACKE_dstedc_work(C.COLUMNS, 'N', size, pointer(d), pointer(e), nil, 1, pointer(work), 1, (*C.int)(unsafe.Pointer(unsafe.SliceData(work[1:]))), 1) != 0 {
			return false
		}
	} else {
		z, work := work[:n*n], work[n*n:]
		iwork, work := integers(work, 3+5*n)
		if C.LAPACKE_dstedc_work(C.COLUMNS, 'I', size, pointer(d), pointer(e), pointer(z), size, pointer(work), C.int(1+4*n+n*n), iwork, C.int(3+5*n)) != 0 {
			return false
		}
		// Eigenvalues ascend: the leading vectors are the last columns.
		lead := z[(n-k)*n:]
		if C.LAPACKE_dormtr_work(C.COLUMNS, 'L', 'U', 'N', size, C.int(k), pointer(a), C.int(lda), pointer(tau), pointer(lead), size, pointer(work), C.int(k*block)) != 0 {
			return false
		}
		for i := range k {
			copy(v[i*ldv:i*ldv+n], z[(n-1-i)*n:])
		}
	}
	for i := range n {
		w[i] = math.Ldexp(d[n-1-i], exp)
	}
	return true
}

// SymEigWork is the workspace of SymEig: d, e, tau and, for vectors, all n of
// them and dstedc's own.
func (b *Backend) SymEigWork(n, k int) int {
	if k == 0 {
		return 3*n + n*block + 2
	}
	return 3*n + n*n + (4+5*n)/2 + max(1+4*n+n*n, n*block)
}

// normalise scales the lower triangle of A by a power of two so that its largest
// entry is about 1 where squares could over- or underflow, and returns the
// exponent that undoes it; not ok for a NaN or an infinity.
func normalise(n int, a []float64, lda int) (exp int, ok bool) {
	largest := 0.0
	for i := range n {
		for _, v := range a[i*lda : i*lda+i+1] {
			if v = math.Abs(v); v > largest {
				largest = v
			} else if v != v {
				return 0, false
			}
		}
	}
	if largest > math.MaxFloat64 {
		return 0, false
	}
	if largest == 0 || (largest > 0x1p-300 && largest < 0x1p300) {
		return 0, true
	}
	_, exp = math.Frexp(largest)
	for i := range n {
		row := a[i*lda : i*lda+i+1]
		for j, v := range row {
			row[j] = math.Ldexp(v, -exp)
		}
	}
	return exp, true
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
		if !(a[i*lda+i] > 0) { // OpenBLAS takes a pivot that is NaN for a positive one
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
