package window

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// A chunk holds consecutive rows, all dense or all sparse.
type chunk struct {
	rows  dataset.Buffer
	times []int64 // time of each row
	end   int64   // the chunk is full when the stream has this many rows
	gone  int     // number of leading rows that are no longer in the window

	extent accum.Extent // sums over all rows of the chunk, including rows no longer in the window
}

// live returns the number of rows of c that are still in the window.
func (c *chunk) live() int { return c.rows.N - c.gone }

// isFull reports whether the chunk has no room for more rows. appended is the number of rows appended to the
// stream.
func (c *chunk) isFull(appended int64) bool { return appended >= c.end }

// firstRow returns the number, in the stream, of the first row of c. appended is the number of rows appended to the
// stream.
func (c *chunk) firstRow(appended int64) int64 {
	return min(c.end, appended) - int64(c.rows.N)
}

// block returns the rows that are in the window.
func (c *chunk) block(d, t int) dataset.Block {
	b := dataset.Block{
		N: c.rows.N,
		Y: c.rows.Y,
		X: c.rows.X,
	}
	if len(c.rows.W) > 0 {
		b.W = c.rows.W
	}
	if c.rows.Sparse {
		s := c.rows.CSR
		s.Rows, s.Cols = c.rows.N, d
		b.X = nil
		b.Sparse = &s
	}
	return b.Cut(c.gone, c.rows.N, d, t, new(engine.CSR))
}

func (c *chunk) add(b dataset.Block, i, d, t int, at int64) {
	if c.rows.N == 0 {
		c.rows.Sparse = b.Sparse != nil
	}
	for b.W != nil && len(c.rows.W) < c.rows.N { // earlier rows have weight 1
		c.rows.W = append(c.rows.W, 1)
	}
	if b.W != nil || len(c.rows.W) > 0 {
		c.rows.W = append(c.rows.W, b.Weight(i))
	}
	c.rows.Y = append(c.rows.Y, b.Y[i*t:(i+1)*t]...)
	c.times = append(c.times, at)
	c.addFeatures(b, i, d)
	c.rows.EndRow()
	c.extent.Add(b, i, d, t)
}

// addFeatures appends the d features of row i of block b to the rows of c.
func (c *chunk) addFeatures(b dataset.Block, i, d int) {
	to := &c.rows
	if b.Sparse == nil {
		x := b.X[i*d : (i+1)*d]
		if !to.Sparse {
			to.X = append(to.X, x...)
			return
		}
		for j, v := range x {
			to.CSR.ColIdx = append(to.CSR.ColIdx, int32(j))
			to.CSR.Val = append(to.CSR.Val, v)
		}
		return
	}
	idx, val := b.Sparse.Row(i)
	if to.Sparse {
		to.CSR.ColIdx = append(to.CSR.ColIdx, idx...)
		to.CSR.Val = append(to.CSR.Val, val...)
		return
	}
	before := len(to.X)
	to.X = slices.Grow(to.X, d)[:before+d]
	row := to.X[before:]
	clear(row)
	for k, j := range idx {
		row[j] = val[k]
	}
}
