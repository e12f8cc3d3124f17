//go:build openblas && cgo

package cblas

/*
#include <stddef.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; // as in cblas.h

void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double *a, int lda, const double *x, int incx, double beta, double *y, int incy);
void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy);

// gradient computes R += A·Xᵀ and G += Rᵀ·A. It processes blocks of at most step rows of A, one after the other.
// For each block it calls dgemm, or dgemv for each of the t right-hand sides if vectors is not 0.
static void gradient(int n, int d, int t, int step, int vectors, const double *a, int lda, const double *x, int ldx, double *g, int ldg, double *r, int ldr) {
	for (ptrdiff_t i = 0; i < n; i += step) {
		const int m = n - i < step ? n - i : step;
		const double *ai = a + i * lda;
		double *ri = r + i * ldr;
		if (!vectors) {
			cblas_dgemm(ROW_MAJOR, NO_TRANS, TRANS, m, t, d, 1, ai, lda, x, ldx, 1, ri, ldr);
			cblas_dgemm(ROW_MAJOR, TRANS, NO_TRANS, t, d, m, 1, ri, ldr, ai, lda, 1, g, ldg);
			continue;
		}
		for (ptrdiff_t q = 0; q < t; q++) {
			cblas_dgemv(ROW_MAJOR, NO_TRANS, m, d, 1, ai, lda, x + q * ldx, 1, 1, ri + q, ldr);
			cblas_dgemv(ROW_MAJOR, TRANS, m, d, 1, ai, lda, ri + q, ldr, 1, g + q * ldg, 1);
		}
	}
}

// add adds a contiguous t×d matrix to G.
static void add(int t, int d, const double *x, double *g, int ldg) {
	for (ptrdiff_t q = 0; q < t; q++) cblas_daxpy(d, 1, x + q * d, 1, g + q * ldg, 1);
}
*/
import "C"

import (
	"sync"
	"sync/atomic"

	"github.com/fdridge/fdridge/engine/internal/matrix"
)

// A gradient holds the operands of one call of Gradient, which computes R = A·Xᵀ − B and G += Rᵀ·A. A is
// n×d, and t is the number of right-hand sides.
type gradient struct {
	n, d, t       int
	a, x, b, g, r matrix.Matrix
}

// Gradient computes R = A·Xᵀ − B and G += Rᵀ·A, one block of rows of A after the other. A block stays in the
// cache for both products, so that A is read from memory once. The division of the rows into parts is fixed.
// Therefore the sums do not depend on the timing of the threads.
func (b *Backend) Gradient(a, x, rhs, g, r matrix.Matrix) {
	matrix.CheckGradient(&a, &x, &rhs, &g, &r)
	checkInt32(a, x, g, r)
	n, d, t := a.Rows, a.Cols, x.Rows
	if n == 0 || t == 0 {
		return
	}
	v := gradient{n: n, d: d, t: t, a: a, x: x, b: rhs, g: g, r: r}
	if d == 0 {
		v.negate(0, n)
		return
	}
	b.enter(1)
	defer b.leave()
	if parts := b.countParts(n, d, t); parts > 1 {
		b.team.run(b, v, parts)
		return
	}
	v.computeRows(b.core, 0, n, g)
}

const (
	// blockEntries is the number of entries in a block of rows of A. They take 64 KiB, which stay in the
	// second-level cache. In products of this size, the AVX-512 kernels of OpenBLAS do not pack the matrices.
	blockEntries = 1 << 13
	minBlockRows = 8
	// maxBlockRows is the largest number of rows in a block. This number of terms is added in sequence, so it
	// limits the round-off.
	maxBlockRows = 64
	// manyVectors is the smallest number of right-hand sides at which OpenBLAS saves time by packing a block. With
	// at least this number, a block has maxBlockRows rows.
	manyVectors = 32
)

func blockRows(d, t int) int {
	if t >= manyVectors {
		return maxBlockRows
	}
	return min(max(blockEntries/d, minBlockRows), maxBlockRows)
}

// computeRows computes rows lo to hi of R, hi excluded. It adds the product Rᵀ·A of these rows to the argument g.
func (v *gradient) computeRows(c core, lo, hi int, g matrix.Matrix) {
	v.negate(lo, hi)
	vectors := C.int(0)
	if v.t < c.minGemmVectors() {
		vectors = 1
	}
	C.gradient(
		C.int(hi-lo),
		C.int(v.d),
		C.int(v.t),
		C.int(blockRows(v.d, v.t)),
		vectors,
		pointer(v.a.Data[lo*v.a.Stride:]),
		C.int(v.a.Stride),
		pointer(v.x.Data),
		C.int(v.x.Stride),
		pointer(g.Data),
		C.int(g.Stride),
		pointer(v.r.Data[lo*v.r.Stride:]),
		C.int(v.r.Stride),
	)
}

// negate sets rows lo to hi of R, hi excluded, to the same rows of −B.
func (v *gradient) negate(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := v.r.Row(i)
		if v.b.Data == nil {
			clear(row)
			continue
		}
		for q, y := range v.b.Row(i) {
			row[q] = -y
		}
	}
}

const (
	// partRows is the smallest number of rows in a part. Threads process different parts.
	partRows = 64
	// partsPerThread is the largest number of parts per thread. It is larger than 1 so that other threads can take
	// over the parts of a delayed thread.
	partsPerThread = 4
	// minSharedWork is the number of multiply-adds above which a second thread saves time.
	minSharedWork = 1 << 16
)

// countParts returns the number of parts into which the n rows are divided. It returns 1 if there is little work or
// only one thread, or if several calls may run inside OpenBLAS at once. Goroutines process the parts, because the
// threads of OpenBLAS do not speed up small products.
func (b *Backend) countParts(n, d, t int) int {
	if b.sharing.on.Load() || cap(b.slots) > 1 || b.threads == 1 || n*d*t < minSharedWork {
		return 1
	}
	return min(partsPerThread*b.threads, n/partRows)
}

// A team computes the parts of a gradient in parallel. Part 0 is added directly to G. The sum of every other part
// is stored in a separate matrix in the slice sums. When all parts are finished, these matrices are added to G in
// order.
type team struct {
	gradient
	core  core
	parts int
	next  atomic.Int64
	wg    sync.WaitGroup
	sums  []float64
	help  func() // the method value m.helper, stored because creating it allocates
}

func (m *team) run(b *Backend, v gradient, parts int) {
	if m.help == nil {
		m.help = m.helper
	}
	if need := (parts - 1) * v.t * v.d; len(m.sums) < need {
		m.sums = make([]float64, need)
	}
	m.gradient, m.core, m.parts = v, b.core, parts
	m.next.Store(0)
	for range min(b.threads, parts) - 1 {
		m.wg.Add(1)
		go m.help()
	}
	m.work()
	m.wg.Wait()
	for i := range parts - 1 {
		C.add(C.int(v.t), C.int(v.d), pointer(m.sums[i*v.t*v.d:]), pointer(v.g.Data), C.int(v.g.Stride))
	}
	m.gradient = gradient{}
}

func (m *team) helper() {
	m.work()
	m.wg.Done()
}

// work processes parts until none are left.
func (m *team) work() {
	for {
		i := int(m.next.Add(1)) - 1
		if i >= m.parts {
			return
		}
		lo, hi := m.n*i/m.parts, m.n*(i+1)/m.parts
		if i == 0 {
			m.computeRows(m.core, lo, hi, m.g)
			continue
		}
		sums := m.sums[(i-1)*m.t*m.d : i*m.t*m.d]
		clear(sums)
		m.computeRows(m.core, lo, hi, matrix.View(m.t, m.d, sums))
	}
}
