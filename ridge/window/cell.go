package window

import (
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// A cell holds a sketch of consecutive rows.
type cell struct {
	sum *accum.Accumulator // nil until the sketch is computed
	// recipe says how to compute sum, from rows or from two older sketches. It is nil once sum is computed.
	recipe   *recipe
	level    int
	end      int64 // number of the row after the last row of the cell
	from, to int64 // times of the first and the last row of the cell
	extent   accum.Extent
}

// A recipe says how to compute a sketch: from rows, or by merging two cells.
type recipe struct {
	rows         *chunk
	older, newer *cell
}

// makeCells computes the missing sketches of all cells. It first computes sketches of rows, then merges cells, in
// parallel. Sketches are merged in the same order for any number of cores, so that the result is the same.
func makeCells(cells []*cell, cfg accum.Config) error {
	var byHeight [][]*cell
	for _, c := range cells {
		byHeight, _ = c.collect(byHeight)
	}
	for _, cells := range byHeight {
		for _, err := range parallel.New(cfg.Backend, len(cells), func(i int) error {
			return cells[i].make(cfg)
		}).Run() {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// collect adds c, and all cells that will be merged into c, to byHeight. It skips cells that already have a sketch.
// A cell in byHeight[h] depends only on cells in byHeight[:h]. If c has a sketch, height is 0. Otherwise it is 1
// plus the index of the slice that c was added to.
func (c *cell) collect(byHeight [][]*cell) (_ [][]*cell, height int) {
	if c.recipe == nil {
		return byHeight, 0
	}
	if c.recipe.rows == nil {
		var a, b int
		byHeight, a = c.recipe.older.collect(byHeight)
		byHeight, b = c.recipe.newer.collect(byHeight)
		height = max(a, b)
	}
	if height == len(byHeight) {
		byHeight = append(byHeight, nil)
	}
	byHeight[height] = append(byHeight[height], c)
	return byHeight, height + 1
}

// make computes the sketch of c, from rows or from two cells. These cells must already have their sketches.
func (c *cell) make(cfg accum.Config) (err error) {
	r := c.recipe
	if r.rows == nil {
		c.sum = r.older.sum
		err = merge(c.sum, r.newer.sum)
	} else if c.sum, err = accum.New(cfg); err == nil {
		err = c.sum.Append(0, r.rows.block(cfg.Dim, cfg.Targets))
	}
	if err != nil {
		return err
	}
	c.recipe = nil
	c.extent = c.sum.Extent()
	return nil
}

// merge adds the rows of b to a.
func merge(a, b *accum.Accumulator) error {
	all, err := b.All()
	if err != nil {
		return err
	}
	return a.Merge(all)
}
