package purego

// When pack copies a matrix that is stored row by row, it copies packRows rows to all panels before it continues
// with the next rows. Reading whole rows suits the processor's prefetcher. More rows could evict each other from
// the cache, if the distance between rows is a power of two. If rows are short, pack copies packNumbers numbers at
// a time, because each call of a kernel takes time.
const (
	packRows    = 8
	packNumbers = 2048 // half of the L1 cache
)

// pack copies a k×n block of a matrix to dst as panels. The slice x holds the matrix, row by row if isRowMajor is
// true, otherwise column by column. Consecutive rows, or columns, begin ldx numbers apart in x. The block begins at
// row l and column j of the matrix.
//
// A panel is a k×width matrix, stored row by row. If fewer than width columns are left, the last panel is narrower.
// Its width is then rounded up to a multiple of the kernel's unit, and the unused columns are zero.
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

// packRowsOf copies k rows and n columns of a matrix to one panel of the given width, from row i of the panel on.
// The slice x holds the matrix row by row, and its rows begin ldx numbers apart. The copied part begins at row l
// and column j of the matrix.
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

// packColumns does the work of pack for a matrix that is stored column by column. While it copies one group of
// columns, it fetches the next group from memory, because the processor does not foresee where the next column
// begins.
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

// packEdge copies the last n columns of a panel, fewer than the kernel's unit, and fills the rest of the unit with
// zeros.
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
