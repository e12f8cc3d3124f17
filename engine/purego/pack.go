package purego

// packRows is the number of rows of X packed at a time into all panels. Each row is
// then read from end to end, as the processor foresees, whatever its length; so few
// are at hand at once that rows a power of two apart leave each other in cache.
const packRows = 8

// pack writes n columns from column j of the k rows from row l of X into dst,
// width of them interleaved at a time: panel after panel, each k×width. Where X is
// stored row by row (along) they are copied, otherwise transposed. The last panel
// is as narrow as whole units allow, zeros filling the last unit.
func (b *Backend) pack(dst []float64, width int, along bool, x []float64, ldx, l, j, k, n int) []float64 {
	step := k
	if along && n > width {
		step = packRows
	}
	for i := 0; i < k; i += step {
		rows := min(step, k-i)
		for c := 0; c < n; c += width {
			b.packPanel(dst[c*k:], i, width, along, x, ldx, l+i, j+c, rows, min(width, n-c))
		}
	}
	return dst
}

// packPanel packs k rows of the n <= width columns of one panel, from its row i
// on.
func (b *Backend) packPanel(dst []float64, i, width int, along bool, x []float64, ldx, l, j, k, n int) {
	unit := b.kernel.Unit
	w := roundUp(min(width, n), unit)
	for u := 0; u < w; u += unit {
		d := dst[i*w+u:]
		switch whole := n-u >= unit; {
		case whole && along:
			b.kernel.Pack(k, &x[l*ldx+j+u], ldx, &d[0], w)
		case whole:
			b.kernel.PackT(k, &x[(j+u)*ldx+l], ldx, &d[0], w)
		default:
			packEdge(d, w, unit, along, x, ldx, l, j+u, k, n-u)
		}
	}
}

// packEdge packs a unit of which only n columns are there.
func packEdge(dst []float64, stride, unit int, along bool, x []float64, ldx, l, j, k, n int) {
	for i := range k {
		d := dst[i*stride : i*stride+unit]
		if along {
			copy(d, x[(l+i)*ldx+j:(l+i)*ldx+j+n])
		} else {
			for r := range n {
				d[r] = x[(j+r)*ldx+l+i]
			}
		}
		clear(d[n:])
	}
}
