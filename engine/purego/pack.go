package purego

// packRows is the number of rows of X that pack copies to all panels at a time. Reading whole rows suits the
// prefetcher. If the distance between rows is a power of two, more rows would evict each other from the cache. If rows
// are short, pack copies packNumbers numbers at a time, because each call of a kernel takes time.
const (
	packRows    = 8
	packNumbers = 2048 // half of the L1 cache
)

// pack copies a k×n block of a matrix, beginning at row l and column j, to dst as panels. A panel is k×width, row by
// row. The last panel is narrower if possible: its width is a multiple of the kernel's unit, and unused columns are
// zero. If isRowMajor is true, x holds the matrix row by row, otherwise column by column.
func (b *Backend) pack(dst []float64, width int, isRowMajor bool, x []float64, ldx, l, j, k, n int) []float64 {
	step := k
	if isRowMajor && n > width {
		step = max(packRows, packNumbers/ldx)
	}
	for i := 0; i < k; i += step {
		rows := min(step, k-i)
		for c := 0; c < n; c += width {
			b.packPanel(dst[c*k:], i, width, isRowMajor, x, ldx, l+i, j+c, rows, min(width, n-c))
		}
	}
	return dst
}

// packPanel packs k rows of one panel, starting at row i of the panel. The panel has n <= width columns.
func (b *Backend) packPanel(dst []float64, i, width int, isRowMajor bool, x []float64, ldx, l, j, k, n int) {
	unit := b.kernel.Unit
	w := roundUp(min(width, n), unit)
	units := 1
	for u := 0; u < w; u += units * unit {
		d := dst[i*w+u:]
		units = 1
		switch whole := n-u >= unit; {
		case whole && isRowMajor:
			units = min((n-u)/unit, len(b.kernel.Pack))
			b.kernel.Pack[units-1](k, &x[l*ldx+j+u], ldx, &d[0], w)
		case whole:
			b.kernel.PackT(k, &x[(j+u)*ldx+l], ldx, &d[0], w)
		default:
			packEdge(d, w, unit, isRowMajor, x, ldx, l, j+u, k, n-u)
		}
	}
}

// packEdge packs the last n columns of a panel, fewer than a unit of the kernel. It fills the unit with zeros.
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
