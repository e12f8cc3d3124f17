package columns

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
)

// maxReserved limits the memory that Reserve allocates to 8 MiB each for features and targets. There is a limit
// because a damaged file may state a wrong number of rows.
const maxReserved = 1 << 20

// Reserve allocates memory for n more rows in b. So Grow need not copy the rows to larger memory later.
func (c *Choice) Reserve(b *dataset.Buffer, n int) {
	b.X = slices.Grow(b.X, min(n*c.Features, maxReserved))
	b.Y = slices.Grow(b.Y, min(n*c.Targets, maxReserved))
}

// Grow adds n rows to the dense block b. It returns the features x and the targets y of these rows, which the
// caller must set.
func (c *Choice) Grow(b *dataset.Buffer, n int) (x, y []float64) {
	nx := len(b.X)
	ny := len(b.Y)
	b.X = slices.Grow(b.X, n*c.Features)[:nx+n*c.Features]
	b.Y = slices.Grow(b.Y, n*c.Targets)[:ny+n*c.Targets]
	b.N += n
	return b.X[nx:], b.Y[ny:]
}

// Rows copies numbers from the matrix rows, which has all columns of the file, to the features x and the targets y.
// If c.InOrder is true, x and rows may begin at the same address.
func (c *Choice) Rows(x, y, rows []float64) {
	cols := len(c.To)
	n := len(rows) / cols
	if c.InOrder {
		c.split(x, y, rows)
		return
	}
	for i := range n {
		row := rows[i*cols : (i+1)*cols]
		xi := x[i*c.Features : (i+1)*c.Features]
		yi := y[i*c.Targets : (i+1)*c.Targets]
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

// split copies the features of each row of the matrix rows to x, and the targets to y. In each row, the features
// precede the targets. x and rows may begin at the same address, because no number moves to a higher index.
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

// Tile is the number of float64 in a cache line of 64 bytes.
const Tile = 8

// Columns copies columns of the file to the features x and the targets y. The argument js has the indices of the
// columns, and values has their values, one column after the other. The first value of each column belongs to row
// firstRow.
//
// The result accepted is false if a value is infinite. It is also false if a value is NaN in a column that allows
// no missing value.
func (c *Choice) Columns(
	x, y []float64,
	js []int,
	firstRow int,
	values []float64,
) (accepted bool) {
	n := len(values) / len(js)
	for i := 0; i < len(js); {
		run := c.countAdjacent(js[i:])
		if run > 0 {
			transpose(
				x[firstRow*c.Features+c.To[js[i]]:],
				c.Features,
				values[i*n:(i+run)*n],
				n,
			)
		} else {
			run = 1
			c.column(x, y, js[i], firstRow, values[i*n:(i+1)*n])
		}
		i += run
	}
	for i := firstNotFinite(values); i < len(values); i++ {
		if v := values[i]; v-v != 0 &&
			(math.IsInf(v, 0) || !c.Allows(js[i/n])) {
			return false
		}
	}
	return true
}

// countAdjacent returns how many columns at the start of js are features that follow each other in a row. It rounds
// this number down to a multiple of Tile.
func (c *Choice) countAdjacent(js []int) int {
	k := 0
	for k < len(js) &&
		c.To[js[k]] == c.To[js[0]]+k &&
		c.To[js[k]] < c.Features {
		k++
	}
	return k - k%Tile
}

// transpose copies columns of n numbers, one after the other in values, to n rows. Row i begins at to[i*stride].
func transpose(to []float64, stride int, values []float64, n int) {
	cols := len(values) / n
	for i := range n {
		row := to[i*stride:][:cols]
		for k := 0; k < cols; k += Tile {
			r, v := (*[Tile]float64)(row[k:]), values[k*n+i:] // one cache line, written once
			_ = v[7*n]
			r[0], r[1], r[2], r[3] = v[0], v[n], v[2*n], v[3*n]
			r[4], r[5], r[6], r[7] = v[4*n], v[5*n], v[6*n], v[7*n]
		}
	}
}

// column copies the values of column j to the features x or the targets y. The first value belongs to row firstRow.
func (c *Choice) column(x, y []float64, j, firstRow int, values []float64) {
	to := x
	stride := c.Features
	k := c.To[j]
	if k >= c.Features {
		to = y
		stride = c.Targets
		k -= c.Features
	}
	at := firstRow*stride + k
	for _, v := range values {
		to[at] = v
		at += stride
	}
}

// Find returns the first number v in the features x and targets y that is not finite. It also returns the row of v
// and its column in the file. Find ignores NaN in columns that allow missing values. If there is no such number, ok
// is false.
func (c *Choice) Find(x, y []float64) (row, column int, v float64, ok bool) {
	ix := c.firstRefused(x, 0, c.Features)
	iy := c.firstRefused(y, c.Features, c.Targets)
	place := -1
	switch {
	case ix < len(x) &&
		(iy == len(y) || ix/c.Features <= iy/c.Targets):
		row = ix / c.Features
		place = ix % c.Features
		v = x[ix]
	case iy < len(y):
		row = iy / c.Targets
		place = c.Features + iy%c.Targets
		v = y[iy]
	default:
		return 0, 0, 0, false
	}
	return row, slices.Index(c.To, place), v, true
}

// firstRefused returns the index of the first number in v that is infinite, or that is NaN in a column that allows
// no missing values. It returns len(v) if there is none. Each row of v has width numbers, and its first column is
// firstColumn.
func (c *Choice) firstRefused(v []float64, firstColumn, width int) int {
	at := firstNotFinite(v)
	for at < len(v) &&
		!math.IsInf(v[at], 0) &&
		(v[at] == v[at] || c.Cells.Allows(firstColumn+at%width, c.Features)) {
		at++
	}
	return at
}

// firstNotFinite returns the index of the first number in v that is NaN or infinite. If there is none, it returns
// len(v).
func firstNotFinite(v []float64) int {
	// If the sum is finite, all numbers are finite. Otherwise each number is examined, because the sum of finite
	// numbers may overflow.
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
