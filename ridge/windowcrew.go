package ridge

// A making is what a cell is to be made of: a chunk of rows, or two other cells.
type making struct {
	rows         *chunk
	older, newer *cell
}

// waitingMost bounds the chunks whose sketches are to be made, which takes memory for their rows: many
// enough for as many cores as make a difference.
const waitingMost = 32

// making is that of a chunk, which waits from now on.
func (w *Window) making(c *chunk) *making {
	w.waiting = append(w.waiting, c)
	return &making{rows: c}
}

// make makes all cells of the window that are to be made, side by side where none needs another: first those
// of rows, then those of these, and so on. The order of additions in each is that of making them one by one.
func (w *Window) make() error {
	if len(w.waiting) == 0 {
		return nil
	}
	var byHeight [][]*cell
	for _, c := range w.cells {
		byHeight, _ = c.collect(byHeight)
	}
	for _, cells := range byHeight {
		p := newParallel(w.cfg.Summary.Backend, len(cells), func(i int) error { return cells[i].make(w.cfg.Summary) })
		for _, err := range p.run() {
			if err != nil {
				return err
			}
		}
	}
	w.spare = append(w.spare, w.waiting[0]) // the memory of one is enough where rows come one by one
	clear(w.waiting)
	w.waiting = w.waiting[:0]
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
func (c *cell) make(cfg SummaryConfig) (err error) {
	of := c.of
	if of.rows == nil {
		c.sum = of.older.sum
		err = c.sum.Merge(of.newer.sum)
	} else if c.sum, err = NewSummary(cfg); err == nil {
		err = c.sum.AppendBlock(of.rows.block(cfg.Dim, cfg.Targets))
	}
	if err != nil {
		return err
	}
	c.of = nil
	c.extent.addLane(c.sum.lanes[0])
	return nil
}
