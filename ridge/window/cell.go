package window

import (
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/parallel"
)

// A cell is a sketch of consecutive rows.
type cell struct {
	sum      *accum.Accumulator // nil while it is to be made
	of       *making            // of this; nil where it is made
	level    int
	end      int64 // the number of the row behind its last one
	from, to int64 // the times of its first and last row
	extent   accum.Extent
}

// A making is what a cell is to be made of: a chunk of rows, or two other cells.
type making struct {
	rows         *chunk
	older, newer *cell
}

// newCell makes a cell of a summary of one lane.
func newCell(sum *accum.Accumulator, level int, end, from, to int64) *cell {
	return &cell{sum: sum, level: level, end: end, from: from, to: to, extent: sum.Extent()}
}

// makeCells makes those of the cells that are still to be made, side by side where none needs another: first
// the sketches of rows, then the merges of these, and so on. The order of additions in each is the same as
// if they were made one by one.
func makeCells(cells []*cell, cfg accum.Config) error {
	var byHeight [][]*cell
	for _, c := range cells {
		byHeight, _ = c.collect(byHeight)
	}
	for _, cells := range byHeight {
		for _, err := range parallel.New(cfg.Backend, len(cells), func(i int) error { return cells[i].make(cfg) }).Run() {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// collect adds the cells that are to be made for this one, and it, to those of their heights: how many have
// to be made one after the other before.
func (c *cell) collect(byHeight [][]*cell) (_ [][]*cell, height int) {
	if c.of == nil {
		return byHeight, 0
	}
	if c.of.rows == nil {
		var a, b int
		byHeight, a = c.of.older.collect(byHeight)
		byHeight, b = c.of.newer.collect(byHeight)
		height = max(a, b)
	}
	if height == len(byHeight) {
		byHeight = append(byHeight, nil)
	}
	byHeight[height] = append(byHeight[height], c)
	return byHeight, height + 1
}

// make makes a cell of rows, or of cells that are made.
func (c *cell) make(cfg accum.Config) (err error) {
	of := c.of
	if of.rows == nil {
		c.sum = of.older.sum
		err = merge(c.sum, of.newer.sum)
	} else if c.sum, err = accum.New(cfg); err == nil {
		err = c.sum.Append(0, of.rows.block(cfg.Dim, cfg.Targets))
	}
	if err != nil {
		return err
	}
	c.of = nil
	c.extent = c.sum.Extent()
	return nil
}

// merge adds the rows of another accumulator.
func merge(into, from *accum.Accumulator) error {
	all, err := from.All()
	if err != nil {
		return err
	}
	return into.Merge(all)
}
