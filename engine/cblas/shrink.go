//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Gram computes the lower triangle of C = A·Aᵀ, but only its rows from index first on. It computes the product
// of the new rows with the earlier rows, and the triangle of the new rows.
func (b *Backend) Gram(first int, a, c matrix.Matrix) {
	n, _, k := matrix.CheckProduct(false, true, &a, &a, &c)
	matrix.CheckCount(first, n)
	rows := a.Slice(first, n, 0, k)
	b.Gemm(false, true, 1, rows, a.Slice(0, first, 0, k), 0, c.Slice(first, n, 0, first))
	b.Syrk(false, 1, rows, 0, c.Slice(first, n, first, n))
}

// panelWidth returns the number of columns that LeftMul computes at a time. The panel stays in the cache, and
// OpenBLAS rarely packs W.
func panelWidth(n, k int) int { return min(n, max(k, 1024)) }

// LeftMul overwrites the first m rows of B with W·B. It computes a panel of columns at a time, in work.
func (b *Backend) LeftMul(w, x matrix.Matrix, work []float64) {
	m, n, k := matrix.CheckLeftMul(&w, &x)
	matrix.CheckWork(b.LeftMulWork(m, n, k), len(work))
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

// LeftMulWork returns the length of the workspace of LeftMul: a panel of the result.
func (b *Backend) LeftMulWork(m, n, k int) int { return m * panelWidth(n, k) }
