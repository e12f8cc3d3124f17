package window

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/internal/accum"
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
// sketches can wait until the end of a call, and then be done side by side: [makeCells].

// A ring has the rows of a window: sketches of the older ones, and the newest as they are.
type ring struct {
	cfg   Config
	parts int // 1/Share, rounded up; 0 in the zero value
	clock
	appended int64 // rows, ever

	cells   []*cell  // sketches, the oldest first
	recent  []*chunk // rows as they are, behind them
	waiting []*chunk // rows of sketches that are to be made; none between calls
	spare   []*chunk // memory for more
	bad     error    // set when a merge failed; the window is lost
}

// newRing makes an empty ring of a configuration that is complete.
func newRing(cfg Config) ring {
	return ring{cfg: cfg, parts: int(math.Ceil(1 / cfg.Share)), clock: clock{noTime}}
}

// errUnmadeWindow reports the zero value of a window.
var errUnmadeWindow = badinput.Errorf("ridge: a window that was made by neither New nor Read")

// usable says why nothing can be done with w, if so.
func (w *ring) usable() error {
	if w.parts == 0 {
		return errUnmadeWindow
	}
	return w.bad
}

// append adds the rows of a block, of times that are known not to be before those of others.
func (w *ring) append(b dataset.Block, times rowTimes) error {
	if err := w.usable(); err != nil {
		return err
	}
	d, t := w.cfg.Summary.Dim, w.cfg.Summary.Targets
	if _, err := rows.CheckBlock(b, d, t, 0, 0); err != nil {
		return err
	}
	var all accum.Extent
	for _, c := range w.cells {
		all.Merge(c.extent)
	}
	for _, c := range w.recent {
		all.Merge(c.extent)
	}
	for i := range b.N {
		if w.cfg.Duration > 0 && times.at(i) == noTime {
			return badinput.Errorf("ridge: rows of no time for a window of %v: tell the time by AppendAt or Advance", w.cfg.Duration)
		}
		all.Add(b, i, d, t)
		if !all.InRange(w.cfg.Summary.Intercept) {
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
func (w *ring) add(b dataset.Block, i int) error {
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
func (w *ring) begin() *chunk {
	c := new(chunk)
	if n := len(w.spare); n > 0 {
		c, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	c.rows.Reset()
	c.times, c.gone, c.extent, c.end = c.times[:0], 0, accum.Extent{}, w.appended+int64(w.cfg.BlockRows)
	return c
}

// release takes the oldest chunk out, for its memory.
func (w *ring) release() {
	w.spare = append(w.spare, w.recent[0])
	w.recent = slices.Delete(w.recent, 0, 1)
}

// age makes a cell of the oldest chunk, and merges cells of which there are too many: those are to be made.
func (w *ring) age() error {
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

// waitingMost bounds the chunks whose sketches are to be made, which takes memory for their rows: many
// enough for as many cores as make a difference.
const waitingMost = 32

// making is that of a chunk, which waits from now on.
func (w *ring) making(c *chunk) *making {
	w.waiting = append(w.waiting, c)
	return &making{rows: c}
}

// make makes all cells of the window that are to be made.
func (w *ring) make() error {
	if len(w.waiting) == 0 {
		return nil
	}
	if err := makeCells(w.cells, accum.Config(w.cfg.Summary)); err != nil {
		return err
	}
	w.spare = append(w.spare, w.waiting[0]) // the memory of one is enough where rows come one by one
	clear(w.waiting)
	w.waiting = w.waiting[:0]
	return nil
}

// expire drops what has left the window: cells as wholes, kept rows one by one.
func (w *ring) expire() {
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
func (w *ring) past(row, at int64) bool {
	if w.cfg.Duration > 0 {
		return at <= before(w.now, w.cfg.Duration)
	}
	return row < w.appended-w.cfg.Rows
}

// covered are the cells that a summary is made of, and the one that the edge of the window goes
// through, if it goes through any: that is the oldest, and one of them unless the window keeps inside.
func (w *ring) covered() (cells []*cell, cut *cell) {
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
