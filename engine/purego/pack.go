package purego

// packRows is the number of rows of a matrix that pack copies to all panels at a time. Reading whole rows suits the
// prefetcher. If the distance between rows is a power of two, more than packRows rows would evict each other from
// the cache. If rows are short, pack copies packNumbers numbers at a time, because each call of a kernel takes
// time.
const (
	packRows    = 8
	packNumbers = 2048 // half of the L1 cache
)

// pack copies a k×n block of the matrix x to dst as panels. The block begins at row l and column j of x. A panel is
// a k×width matrix, stored row by row. The last panel is narrower if possible. Its width is a multiple of the
// kernel's unit, and unused columns are zero. If isRowMajor is true, x is stored row by row, otherwise column by
// column.
func (b *Backend) pack(dst []float64, width int, isRowMajor bool, x []float64, ldx, l, j, k, n int) []float64 {
	if !isRowMajor {
		b.packColumns(dst, width, x, ldx, l, j, k, n)
		return dst
	}
	step := k
	if n > width {
		step = max(packRows, packNumbers/ldx)
	}
	for i := 0; i < k; i += step {
		rows := min(step, k-i)
		for c := 0; c < n; c += width {
			b.packRowsOf(dst[c*k:], i, width, x, ldx, l+i, j+c, rows, min(width, n-c))
		}
	}
	return dst
}

// packRowsOf packs k rows of one panel, starting at row i of the panel. The panel has n <= width columns.
func (b *Backend) packRowsOf(dst []float64, i, width int, x []float64, ldx, l, j, k, n int) {
	unit := b.kernel.Unit
	w := roundUp(min(width, n), unit)
	units := 1
	for u := 0; u < w; u += units * unit {
		d := dst[i*w+u:]
		units = 1
		if n-u < unit {
			packEdge(d, w, unit, true, x, ldx, l, j+u, k, n-u)
			continue
		}
		units = min((n-u)/unit, len(b.kernel.Pack))
		b.kernel.Pack[units-1](k, &x[l*ldx+j+u], ldx, &d[0], w)
	}
}

// packColumns packs all panels of a matrix that is stored column by column. While a unit of columns is packed, the
// next unit is fetched, because the processor does not foresee where the next column begins.
func (b *Backend) packColumns(dst []float64, width int, x []float64, ldx, l, j, k, n int) {
	unit := b.kernel.Unit
	for c := 0; c < n; c += width {
		columns := min(width, n-c)
		w := roundUp(columns, unit)
		for u := 0; u < columns; u += unit {
			for next := c + u + unit; next < min(c+u+2*unit, n); next++ {
				b.kernel.Prefetch((k+lineNumbers-1)/lineNumbers, &x[(j+next)*ldx+l])
			}
			if columns-u < unit {
				packEdge(dst[c*k+u:], w, unit, false, x, ldx, l, j+c+u, k, columns-u)
			} else {
				b.kernel.PackT(k, &x[(j+c+u)*ldx+l], ldx, &dst[c*k+u], w)
			}
		}
	}
}

// packEdge packs the last n columns of a panel, where n is less than the kernel's unit. It fills the rest of the
// unit with zeros.
func packEdge(dst []float64, stride, unit int, isRowMajor bool, x []float64, ldx, l, j, k, n int) {
	for i := range k {
		d := dst[i*stride : i*stride+unit]
		if isRowMajor {
			copy(d, x[(l+i)*ldx+j:(l+i)*ldx+j+n])
		} else {
			for r := range n {
				d[r] = x[(j+r)*ldx+l+i]
			}
		}
		clear(d[n:])
	}
}
