package purego

// pack writes n columns from column j of the k rows from row l of X into dst,
// width of them interleaved at a time: panel after panel, each k×width. Where X is
// stored row by row (along) they are copied, otherwise transposed. The last panel
// is as narrow as whole units allow, zeros filling the last unit.
func (b *Backend) pack(dst []float64, width int, along bool, x []float64, ldx, l, j, k, n int) []float64 {
	unit := b.kernel.Unit
	for c := 0; c < n; c += width {
		w := roundUp(min(width, n-c), unit)
		for u := 0; u < w; u += unit {
			d := dst[c*k+u:]
			switch whole := n-c-u >= unit; {
			case whole && along:
				b.kernel.Pack(k, &x[l*ldx+j+c+u], ldx, &d[0], w)
			case whole:
				b.kernel.PackT(k, &x[(j+c+u)*ldx+l], ldx, &d[0], w)
			default:
				packEdge(d, w, unit, along, x, ldx, l, j+c+u, k, n-c-u)
			}
		}
	}
	return dst
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
