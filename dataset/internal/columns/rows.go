package columns

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
)

// reserve bounds what Reserve takes: a whole block of all but the widest rows.
const reserve = 1 << 19

// Reserve makes Grow for n rows in steps no more costly than in one. It reserves
// no more than a file without those rows may cost.
func (c *Choice) Reserve(b *dataset.Buffer, n int) {
	b.X = slices.Grow(b.X, min(n*c.Features, reserve))
	b.Y = slices.Grow(b.Y, min(n*c.Targets, reserve))
}

// Grow makes room for n more rows in a dense block and returns it, to be filled:
// n rows of features and n of targets.
func (c *Choice) Grow(b *dataset.Buffer, n int) (x, y []float64) {
	nx, ny := len(b.X), len(b.Y)
	b.X = slices.Grow(b.X, n*c.Features)[:nx+n*c.Features]
	b.Y = slices.Grow(b.Y, n*c.Targets)[:ny+n*c.Targets]
	b.N += n
	return b.X[nx:], b.Y[ny:]
}

// Rows puts whole rows of the file, one after the other, into room made by Grow.
func (c *Choice) Rows(x, y, rows []float64) {
	cols := len(c.To)
	n := len(rows) / cols
	if c.inOrder() && c.Targets == 0 {
		copy(x, rows)
		return
	}
	if c.inOrder() {
		for i := range n {
			row := rows[i*cols : (i+1)*cols]
			copy(x[i*c.Features:(i+1)*c.Features], row)
			copy(y[i*c.Targets:(i+1)*c.Targets], row[c.Features:])
		}
		return
	}
	for i := range n {
		row := rows[i*cols : (i+1)*cols]
		xi, yi := x[i*c.Features:(i+1)*c.Features], y[i*c.Targets:(i+1)*c.Targets]
		for j, k := range c.To {
			switch {
			case k < 0:
			case k < len(xi):
				xi[k] = row[j]
			default:
				yi[k-len(xi)] = row[j]
			}
		}
	}
}

// Column puts part of column j of the file, from row first on, into room made by
// Grow.
func (c *Choice) Column(x, y []float64, j, first int, values []float64) {
	to, stride, k := x, c.Features, c.To[j]
	if k >= c.Features {
		to, stride, k = y, c.Targets, k-c.Features
	}
	at := first*stride + k
	for _, v := range values {
		to[at] = v
		at += stride
	}
}

// Find returns the first row of what Grow made room for that has a number which is
// not finite, and the column of the file it is in; ok is false where there is none.
func (c *Choice) Find(x, y []float64) (row, column int, v float64, ok bool) {
	ix, iy := notFinite(x), notFinite(y)
	place := -1
	switch {
	case ix < len(x) && (iy == len(y) || ix/c.Features <= iy/c.Targets):
		row, place, v = ix/c.Features, ix%c.Features, x[ix]
	case iy < len(y):
		row, place, v = iy/c.Targets, c.Features+iy%c.Targets, y[iy]
	default:
		return 0, 0, 0, false
	}
	return row, slices.Index(c.To, place), v, true
}

// notFinite is the index of the first NaN or infinity, len(v) without one.
func notFinite(v []float64) int {
	for i, v := range v {
		if v-v != 0 {
			return i
		}
	}
	return len(v)
}

// inOrder is true where a row of the file is its features, then its targets.
func (c *Choice) inOrder() bool {
	for j, k := range c.To {
		if j != k {
			return false
		}
	}
	return true
}
