//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/internal/shape"

// Gram computes rows first to n of the lower triangle of C = A·Aᵀ: a product with
// the rows before them, and their own triangle.
func (b *Backend) Gram(first, n, k int, a []float64, lda int, c []float64, ldc int) {
	shape.Leading(first, n)
	shape.Matrix(n, k, lda, len(a))
	shape.Matrix(n, n, ldc, len(c))
	if first == n {
		return
	}
	var rows []float64
	if k > 0 {
		rows = a[first*lda:]
	}
	b.Gemm(false, true, n-first, first, k, 1, rows, lda, a, lda, 0, c[first*ldc:], ldc)
	b.Syrk(false, n-first, k, 1, rows, lda, 0, c[first*ldc+first:], ldc)
}

// panelWidth is the number of columns that LeftMul computes at a time: enough for
// OpenBLAS to pack W seldom, few enough that the panel stays in cache.
func panelWidth(n, k int) int { return min(n, max(k, 1024)) }

// LeftMul overwrites the first m rows of B with W·B, through a panel in work.
func (b *Backend) LeftMul(m, n, k int, w []float64, ldw int, x []float64, ldx int, work []float64) {
	shape.Leading(m, k)
	shape.Matrix(m, k, ldw, len(w))
	shape.Matrix(k, n, ldx, len(x))
	shape.Work(b.LeftMulWork(m, n, k), len(work))
	if m == 0 {
		return
	}
	width := panelWidth(n, k)
	for j := 0; j < n; j += width {
		nb := min(width, n-j)
		b.Gemm(false, false, m, nb, k, 1, w, ldw, x[j:], ldx, 0, work, nb)
		for i := range m {
			copy(x[i*ldx+j:i*ldx+j+nb], work[i*nb:])
		}
	}
}

// LeftMulWork is the workspace of LeftMul: a panel of the result.
func (b *Backend) LeftMulWork(m, n, k int) int { return m * panelWidth(n, k) }
