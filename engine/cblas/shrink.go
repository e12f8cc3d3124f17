//go:build openblas && cgo

package cblas

import "github.com/fdridge/fdridge/engine/internal/matrix"

// Gram computes rows firstRow to n−1 of the lower triangle of C = A·Aᵀ, where A has n rows. It multiplies these
// rows of A by the rows before firstRow and by each other.
func (b *Backend) Gram(firstRow int, a, c matrix.Matrix) {
	n, _, k := matrix.CheckProduct(false, true, &a, &a, &c)
	matrix.CheckCount(firstRow, n)
	rows := a.Slice(firstRow, n, 0, k)
	b.Gemm(
		false,
		true,
		1,
		rows,
		a.Slice(0, firstRow, 0, k),
		0,
		c.Slice(firstRow, n, 0, firstRow),
	)
	b.Syrk(false, 1, rows, 0, c.Slice(firstRow, n, firstRow, n))
}

// panelWidth returns the number of columns of B that LeftMul multiplies at a time. These columns stay in the cache.
// They are numerous, because OpenBLAS packs the matrix W once for each panel.
func panelWidth(n, k int) int {
	return min(n, max(k, 1024))
}

// LeftMul overwrites the first m rows of the matrix x with the product w·x, where w has m rows. It computes
// panelWidth columns at a time in the workspace.
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

// LeftMulWork returns the length of the workspace of LeftMul. The workspace holds panelWidth columns of the
// product.
func (b *Backend) LeftMulWork(m, n, k int) int {
	return m * panelWidth(n, k)
}
