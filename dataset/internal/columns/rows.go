package columns

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
)

// reserve bounds the numbers that Reserve makes room for: those of a block of 8 MiB, with their
// targets. What grows step by step is copied, and takes as much memory again.
const reserve = 1<<20 + 1<<14

// Reserve makes room for n rows, so that several calls of Grow cost no more than one. It is
// called before the rows are read, and so is bounded: a file may say that it has more rows
// than it has.
func (c *Choice) Reserve(b *dataset.Buffer, n int) {
	b.X = slices.Grow(b.X, min(n*(c.Features+c.Targets), reserve)) // rows lie there whole, see Whole
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
	if c.inOrder {
		c.split(x, y, rows)
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

// split is Rows where a row of the file is its features, then its targets. x may be the memory
// of rows: a row is moved to where it or those before it were.
func (c *Choice) split(x, y, rows []float64) {
	cols := len(c.To)
	for i := range len(rows) / cols {
		row := rows[i*cols : (i+1)*cols]
		if c.Targets > 0 || &x[0] != &rows[0] {
			copy(x[i*c.Features:(i+1)*c.Features], row)
		}
		copy(y[i*c.Targets:(i+1)*c.Targets], row[c.Features:])
	}
}

// Whole makes room for n whole rows of the file where their features are to be in a dense
// block, so that they need not be copied there; nil where a row is not its features and
// then its targets. The rows become part of the block by Settle.
func (c *Choice) Whole(b *dataset.Buffer, n int) []float64 {
	if !c.inOrder {
		return nil
	}
	size := n * len(c.To)
	b.X = slices.Grow(b.X, size)
	return b.X[len(b.X):][:size]
}

// Settle makes the n rows written to Whole rows of the block, and returns them as Grow does.
func (c *Choice) Settle(b *dataset.Buffer, n int) (x, y []float64) {
	rows := c.Whole(b, n)
	x, y = c.Grow(b, n)
	c.split(x, y, rows)
	return x, y
}

// Tile is how many columns fill a line of the cache. It is best to put as many columns, or a
// multiple, into rows together: every line is then written once and whole.
const Tile = 8

// Columns writes values into room made by Grow, from row first on. values has the same rows
// of each of the columns js of the file, one column after the other. It reports whether all
// are finite; Find returns one that is not.
func (c *Choice) Columns(x, y []float64, js []int, first int, values []float64) (finite bool) {
	n := len(values) / len(js)
	for i := 0; i < len(js); {
		run := c.sideBySide(js[i:])
		if run > 0 {
			turn(x[first*c.Features+c.To[js[i]]:], c.Features, values[i*n:(i+run)*n], n)
		} else {
			run = 1
			c.column(x, y, js[i], first, values[i*n:(i+1)*n])
		}
		i += run
	}
	return notFinite(values) == len(values)
}

// sideBySide is how many columns, from the first on, are features next to each other,
// rounded down to whole tiles.
func (c *Choice) sideBySide(js []int) int {
	k := 0
	for k < len(js) && c.To[js[k]] == c.To[js[0]]+k && c.To[js[k]] < c.Features {
		k++
	}
	return k - k%Tile
}

// turn writes columns of n values, one after the other, to rows that are stride apart.
func turn(to []float64, stride int, values []float64, n int) {
	cols := len(values) / n
	for i := range n {
		row := to[i*stride:][:cols]
		for k := 0; k < cols; k += Tile {
			r, v := (*[Tile]float64)(row[k:]), values[k*n+i:]
			_ = v[7*n]
			r[0], r[1], r[2], r[3] = v[0], v[n], v[2*n], v[3*n]
			r[4], r[5], r[6], r[7] = v[4*n], v[5*n], v[6*n], v[7*n]
		}
	}
}

// column writes values of column j of the file, from row first on.
func (c *Choice) column(x, y []float64, j, first int, values []float64) {
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
// not finite, and the column of the file it is in; ok is false where there is none. NaN is found
// where a value may not be missing.
func (c *Choice) Find(x, y []float64) (row, column int, v float64, ok bool) {
	policy := c.Cells.Policy()
	ix, iy := refused(x, policy.Allows(0, c.Features)), refused(y, policy.Allows(c.Features, c.Features))
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

// refused is notFinite or, where values may be missing, the index of the first infinity.
func refused(v []float64, missing bool) int {
	at := notFinite(v)
	for missing && at < len(v) && !math.IsInf(v[at], 0) {
		at++
	}
	return at
}

// notFinite is the index of the first NaN or infinity, len(v) without one.
func notFinite(v []float64) int {
	// A sum is finite only where its terms are. It may overflow where they are, too.
	if sum := floats.Sum(v); sum-sum == 0 {
		return len(v)
	}
	i := 0
	for ; i < len(v); i++ {
		if v[i]-v[i] != 0 {
			return i
		}
	}
	return len(v)
}
