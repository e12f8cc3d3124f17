package ridge

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// How a window ages, with k = ⌈1/Share⌉ and blocks of B rows. Of the blocks that are full, the newest
// k are kept as rows; the oldest of k+1 becomes a cell of level 0. Of each level there are at most k+1
// cells: of k+2, the oldest two become one of the next level. So while there is a cell of level l, of at
// most B·2ˡ rows, every lower level has k cells or more, of exactly B·2ⁱ rows, and the rows that are newer are at least
//
//	k·B + Σ_{i<l} k·B·2ⁱ = k·B·2ˡ,
//
// of which the cell's are no more than a share 1/k.

// Which cells there are follows from the numbers and times of rows alone, so that making and merging
// sketches can wait until the end of a call, and then be done side by side: windowcrew.go.

// A cell is a sketch of consecutive rows.
type cell struct {
	sum      *Summary // nil while it is to be made
	of       *making  // of this; nil where it is made
	level    int
	end      int64 // the number of the row behind its last one
	from, to int64 // the times of its first and last row
	extent   extent
}

// A chunk is a block of rows that are kept as they are: as they came, if they are all dense or all
// sparse, else as the first of them did.
type chunk struct {
	rows  dataset.Buffer
	times []int64 // of the rows
	end   int64   // the number of the row behind the last that it takes
	gone  int     // the first so many rows have left the window

	extent extent // of all rows, those too that have left the window
}

// live is how many rows are in the window.
func (c *chunk) live() int { return c.rows.N - c.gone }

// full says that no more rows are taken, of which so many were appended in all.
func (c *chunk) full(appended int64) bool { return appended >= c.end }

// first is the number of the first row, where so many were appended in all.
func (c *chunk) first(appended int64) int64 { return min(c.end, appended) - int64(c.rows.N) }

// block is the live rows.
func (c *chunk) block(d, t int) dataset.Block {
	b := dataset.Block{N: c.rows.N, Y: c.rows.Y, X: c.rows.X}
	if len(c.rows.W) > 0 {
		b.W = c.rows.W
	}
	if c.rows.Sparse {
		s := c.rows.CSR
		s.Rows, s.Cols = c.rows.N, d
		b.X, b.Sparse = nil, &s
	}
	return b.Cut(c.gone, c.rows.N, d, t, new(engine.CSR))
}

// add appends row i of a block.
func (c *chunk) add(b dataset.Block, i, d, t int, at int64) {
	if c.rows.N == 0 {
		c.rows.Sparse = b.Sparse != nil
	}
	for b.W != nil && len(c.rows.W) < c.rows.N { // the rows before had none
		c.rows.W = append(c.rows.W, 1)
	}
	if b.W != nil || len(c.rows.W) > 0 {
		c.rows.W = append(c.rows.W, b.Weight(i))
	}
	c.rows.Y = append(c.rows.Y, b.Y[i*t:(i+1)*t]...)
	c.times = append(c.times, at)
	c.addFeatures(b, i, d)
	c.rows.EndRow()
	c.extent.add(b, i, d, t)
}

// addFeatures appends those of row i of a block.
func (c *chunk) addFeatures(b dataset.Block, i, d int) {
	to := &c.rows
	if b.Sparse == nil {
		x := b.X[i*d : (i+1)*d]
		if !to.Sparse {
			to.X = append(to.X, x...)
			return
		}
		for j, v := range x {
			to.CSR.ColIdx, to.CSR.Val = append(to.CSR.ColIdx, int32(j)), append(to.CSR.Val, v)
		}
		return
	}
	idx, val := b.Sparse.Row(i)
	if to.Sparse {
		to.CSR.ColIdx, to.CSR.Val = append(to.CSR.ColIdx, idx...), append(to.CSR.Val, val...)
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

// An extent is what rows come to that are to be merged: if it is in range, so is every merge of
// some of them.
type extent struct {
	squares float64 // Σ weight·‖row‖², targets included
	weight  float64
	far     float64 // the largest ‖row‖² of those that may be the origin of the means
}

// add adds row i of a block, which was found to be good.
func (e *extent) add(b dataset.Block, i, d, t int) {
	var x []float64
	if b.Sparse == nil {
		x = b.X[i*d : (i+1)*d]
	} else {
		_, x = b.Sparse.Row(i)
	}
	y, w := b.Y[i*t:(i+1)*t], b.Weight(i)
	norm2 := vec.Dot(x, x) + vec.Dot(y, y)
	e.squares += w * norm2
	e.weight += w
	if w > 0 {
		e.far = max(e.far, norm2)
	}
}

// addLane adds the rows of a lane.
func (e *extent) addLane(l *lane) {
	e.squares += l.raw
	e.weight += l.stage.Weight.Value()
	e.far = max(e.far, l.stage.Reach(dataset.Block{}))
}

// inRange says that the rows can be merged in any order and any grouping. Origins are at most twice
// as far from each other as the farthest is from zero. The order of additions changes no sum by more than the slack.
func (e *extent) inRange(intercept bool) bool {
	const slack = 1 + 1e-6
	return e.squares*slack <= rows.MaxSquares && (!intercept || rows.Spreads(4*slack*e.far, e.weight))
}

// merge adds those of o.
func (e *extent) merge(o extent) {
	e.squares += o.squares
	e.weight += o.weight
	e.far = max(e.far, o.far)
}

// errUnmadeWindow reports the zero value of a window.
var errUnmadeWindow = badinput.Errorf("ridge: a window that was made by neither NewWindow nor ReadWindow")

// usable says why nothing can be done with w, if so.
func (w *Window) usable() error {
	if w.parts == 0 {
		return errUnmadeWindow
	}
	return w.bad
}

// append adds the rows of a block, of times that are known not to be before those of others.
func (w *Window) append(b dataset.Block, times rowTimes) error {
	if err := w.usable(); err != nil {
		return err
	}
	d, t := w.cfg.Summary.Dim, w.cfg.Summary.Targets
	if _, err := rows.CheckBlock(b, d, t, 0, 0); err != nil {
		return err
	}
	var all extent
	for _, c := range w.cells {
		all.merge(c.extent)
	}
	for _, c := range w.recent {
		all.merge(c.extent)
	}
	for i := range b.N {
		if w.cfg.Duration > 0 && times.at(i) == noTime {
			return badinput.Errorf("ridge: rows of no time for a window of %v: tell the time by AppendAt or Advance", w.cfg.Duration)
		}
		all.add(b, i, d, t)
		if !all.inRange(w.cfg.Summary.Intercept) {
			return &fd.RangeError{Row: i}
		}
	}
	for i := range b.N {
		w.now = times.at(i)
		w.expire() // as Advance would have
		if err := w.add(b, i); err != nil {
			w.bad = err
			return err
		}
	}
	w.bad = w.make()
	return w.bad
}

// add adds row i of a block that is known to be good, as of now.
func (w *Window) add(b dataset.Block, i int) error {
	if n := len(w.recent); n == 0 || w.recent[n-1].full(w.appended) {
		w.recent = append(w.recent, w.begin())
	}
	newest := w.recent[len(w.recent)-1]
	newest.add(b, i, w.cfg.Summary.Dim, w.cfg.Summary.Targets, w.now)
	w.appended++
	w.expire()
	if newest.full(w.appended) && len(w.recent) > w.parts {
		return w.age()
	}
	return nil
}

// begin makes a chunk for the rows to come.
func (w *Window) begin() *chunk {
	c := new(chunk)
	if n := len(w.spare); n > 0 {
		c, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	c.rows.Reset()
	c.times, c.gone, c.extent, c.end = c.times[:0], 0, extent{}, w.appended+int64(w.cfg.BlockRows)
	return c
}

// release takes the oldest chunk out, for its memory.
func (w *Window) release() {
	w.spare = append(w.spare, w.recent[0])
	w.recent = slices.Delete(w.recent, 0, 1)
}

// age makes a cell of the oldest chunk, and merges cells of which there are too many: those are to be made.
func (w *Window) age() error {
	oldest := w.recent[0]
	w.recent = slices.Delete(w.recent, 0, 1)
	w.cells = append(w.cells, &cell{of: w.making(oldest), end: oldest.end, from: oldest.times[oldest.gone], to: oldest.times[len(oldest.times)-1]})
	for level, last := 0, len(w.cells); ; level++ { // last: behind the cells of this level
		first := last
		for first > 0 && w.cells[first-1].level == level {
			first--
		}
		if last-first <= w.parts+1 {
			break
		}
		older, newer := w.cells[first], w.cells[first+1]
		w.cells[first] = &cell{of: &making{older: older, newer: newer}, level: level + 1, end: newer.end, from: older.from, to: newer.to}
		w.cells = slices.Delete(w.cells, first+1, first+2)
		last = first + 1
	}
	if len(w.waiting) < waitingMost {
		return nil
	}
	return w.make()
}

// newCell makes a cell of a summary of one lane.
func newCell(sum *Summary, level int, end, from, to int64) *cell {
	c := &cell{sum: sum, level: level, end: end, from: from, to: to}
	c.extent.addLane(sum.lanes[0])
	return c
}

// expire drops what has left the window: cells as wholes, kept rows one by one.
func (w *Window) expire() {
	gone := 0
	for gone < len(w.cells) && w.past(w.cells[gone].end-1, w.cells[gone].to) {
		gone++
	}
	w.cells = slices.Delete(w.cells, 0, gone)
	for len(w.recent) > 0 {
		c := w.recent[0]
		first := c.first(w.appended)
		for c.gone < c.rows.N && w.past(first+int64(c.gone), c.times[c.gone]) {
			c.gone++
		}
		if c.live() > 0 {
			return
		}
		w.release()
	}
}

// past says that a row of that number and time has left the window.
func (w *Window) past(row, at int64) bool {
	if w.cfg.Duration > 0 {
		return at <= before(w.now, w.cfg.Duration)
	}
	return row < w.appended-w.cfg.Rows
}

// covered are the cells that a summary is made of, and the one that the edge of the window goes
// through, if it goes through any: that is the oldest, and one of them unless the window keeps inside.
func (w *Window) covered() (cells []*cell, cut *cell) {
	if len(w.cells) == 0 {
		return nil, nil
	}
	if c := w.cells[0]; w.past(c.end-c.sum.Rows(), c.from) {
		cut = c
	}
	if cut != nil && w.cfg.Inside {
		return w.cells[1:], cut
	}
	return w.cells, cut
}
