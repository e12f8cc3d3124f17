//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Gram computes rows first to n of the lower triangle of C = A·Aᵀ: a product with
// the rows before them, and their own triangle.
func (b *Backend) Gram(first int, a, c matrix.Matrix) {
	n, _, k := matrix.Product(false, true, &a, &a, &c)
	matrix.Leading(first, n)
	rows := a.Slice(first, n, 0, k)
	b.Gemm(false, true, 1, rows, a.Slice(0, first, 0, k), 0, c.Slice(first, n, 0, first))
	b.Syrk(false, 1, rows, 0, c.Slice(first, n, first, n))
}

// panelWidth is the number of columns that LeftMul computes at a time: enough for
// OpenBLAS to pack W seldom, few enough that the panel stays in cache.
func panelWidth(n, k int) int { return min(n, max(k, 1024)) }

// LeftMul overwrites the first m rows of B with W·B, through a panel in work.
func (b *Backend) LeftMul(w, x matrix.Matrix, work []float64) {
	m, n, k := matrix.LeftMul(&w, &x)
	matrix.Work(b.LeftMulWork(m, n, k), len(work))
	if m == 0 {
		return
	}
	width := panelWidth(n, k)
	for j := 0; j < n; j += width {
		nb := min(width, n-j)
		b.Gemm(false, false, 1, w, x.Slice(0, k, j, j+nb), 0, matrix.View(m, nb, work))
		for i := range m {
			copy(x.Row(i)[j:j+nb], work[i*nb:])
		}
	}
}

// LeftMulWork is the workspace of LeftMul: a panel of the result.
func (b *Backend) LeftMulWork(m, n, k int) int { return m * panelWidth(n, k) }
