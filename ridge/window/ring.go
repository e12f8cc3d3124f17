package window

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A window stores its rows in blocks of B rows. Let k = ⌈1/Share⌉, for the option Share:
//
//   - The newest k full blocks are stored as rows. When there are k+1 full blocks, the oldest block becomes a sketch
//     of level 0.
//   - Each level has at most k+1 sketches. When a level has k+2 sketches, its two oldest are merged into a sketch of
//     the next level.
//
// A sketch of level l summarizes at most B·2ˡ rows. If there is a sketch of level l, every lower level i has at least
// k sketches of exactly B·2ⁱ rows. So at least
//
//	k·B + Σ_{i<l} k·B·2ⁱ = k·B·2ˡ
//
// rows are newer than the sketch, and the sketch has at most 1/k of this number.
//
// The numbers and times of the rows alone decide what is merged. [makeCells] computes the merges in parallel at the end
// of a call.

// A ring stores the rows of a [Window]: sketches of older rows, and the newest rows themselves.
type ring struct {
	cfg   Config
	parts int // 1/Share, rounded up; 0 in the zero value
	clock
	appended int64 // number of rows appended

	cells   []*cell  // sketches, the oldest first
	recent  []*chunk // the newest rows, the oldest chunk first
	pending []*chunk // rows of cells whose sketches are not computed yet; empty between calls
	spare   []*chunk // chunks whose memory can be reused
	bad     error    // the error of a failed merge; the window cannot be used afterwards
}

func newRing(cfg Config) ring {
	return ring{cfg: cfg, parts: int(math.Ceil(1 / cfg.Share)), clock: clock{noTime}}
}

// errUnmadeWindow is the error of methods that are called on the zero value of Window.
var errUnmadeWindow = errtext.BadInput("ridge: the window was not made by New or Read")

// checkUsable returns an error if w is the zero value, or if a merge of its sketches has failed.
func (w *ring) checkUsable() error {
	if w.parts == 0 {
		return errUnmadeWindow
	}
	return w.bad
}

// append adds the rows of a block. The caller has checked that their times do not decrease.
func (w *ring) append(b dataset.Block, times rowTimes) error {
	if err := w.checkUsable(); err != nil {
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
			return errtext.BadInput(
				"ridge: rows without a time for a window of %v: set the time by AppendAt or Advance",
				w.cfg.Duration,
			)
		}
		all.Add(b, i, d, t)
		if !all.InRange(w.cfg.Summary.Intercept) {
			return &fd.RangeError{Row: i}
		}
	}
	for i := range b.N {
		w.now = times.at(i)
		w.expire() // drops rows, as Advance does
		if err := w.add(b, i); err != nil {
			w.bad = err
			return err
		}
	}
	w.bad = w.make()
	return w.bad
}

// add adds row i of a valid block.
func (w *ring) add(b dataset.Block, i int) error {
	if n := len(w.recent); n == 0 || w.recent[n-1].isFull(w.appended) {
		w.recent = append(w.recent, w.newChunk())
	}
	newest := w.recent[len(w.recent)-1]
	newest.add(b, i, w.cfg.Summary.Dim, w.cfg.Summary.Targets, w.now)
	w.appended++
	w.expire()
	if newest.isFull(w.appended) && len(w.recent) > w.parts {
		return w.compact()
	}
	return nil
}

func (w *ring) newChunk() *chunk {
	c := new(chunk)
	if n := len(w.spare); n > 0 {
		c = w.spare[n-1]
		w.spare = w.spare[:n-1]
	}
	c.rows.Reset()
	c.times = c.times[:0]
	c.gone = 0
	c.extent = accum.Extent{}
	c.end = w.appended + int64(w.cfg.BlockRows)
	return c
}

// release removes the oldest chunk of rows and keeps its memory for reuse.
func (w *ring) release() {
	w.spare = append(w.spare, w.recent[0])
	w.recent = slices.Delete(w.recent, 0, 1)
}

// compact replaces the oldest chunk of rows by a sketch of level 0. If a level then has more than w.parts+1
// sketches, compact merges the two oldest sketches of this level into a sketch of the next level. compact only
// records how to compute these sketches; [ring.make] computes them.
func (w *ring) compact() error {
	oldest := w.recent[0]
	w.recent = slices.Delete(w.recent, 0, 1)
	w.cells = append(
		w.cells,
		&cell{
			recipe: w.queue(oldest),
			end:    oldest.end,
			from:   oldest.times[oldest.gone],
			to:     oldest.times[len(oldest.times)-1],
		},
	)
	// last is the index after the last cell of the current level. Cells of higher levels come before it.
	for level, last := 0, len(w.cells); ; level++ {
		first := last
		for first > 0 && w.cells[first-1].level == level {
			first--
		}
		if last-first <= w.parts+1 {
			break
		}
		older := w.cells[first]
		newer := w.cells[first+1]
		w.cells[first] = &cell{
			recipe: &recipe{older: older, newer: newer},
			level:  level + 1,
			end:    newer.end,
			from:   older.from,
			to:     newer.to,
		}
		w.cells = slices.Delete(w.cells, first+1, first+2)
		last = first + 1
	}
	if len(w.pending) < maxPending {
		return nil
	}
	return w.make()
}

// maxPending limits the blocks in memory without a sketch.
const maxPending = 32

// queue returns a recipe for the sketch of c.
func (w *ring) queue(c *chunk) *recipe {
	w.pending = append(w.pending, c)
	return &recipe{rows: c}
}

// make computes the missing sketches of all cells. It then empties w.pending.
func (w *ring) make() error {
	if len(w.pending) == 0 {
		return nil
	}
	if err := makeCells(w.cells, accum.Config(w.cfg.Summary)); err != nil {
		return err
	}
	w.spare = append(w.spare, w.pending[0]) // one spare chunk is enough if rows are appended one at a time
	clear(w.pending)
	w.pending = w.pending[:0]
	return nil
}

// expire removes the stored rows that have left the window, and each cell whose rows have all left the window.
func (w *ring) expire() {
	gone := 0
	for gone < len(w.cells) &&
		w.hasLeft(w.cells[gone].end-1, w.cells[gone].to) {
		gone++
	}
	w.cells = slices.Delete(w.cells, 0, gone)
	for len(w.recent) > 0 {
		c := w.recent[0]
		first := c.firstRow(w.appended)
		for c.gone < c.rows.N &&
			w.hasLeft(first+int64(c.gone), c.times[c.gone]) {
			c.gone++
		}
		if c.live() > 0 {
			return
		}
		w.release()
	}
}

func (w *ring) hasLeft(row, t int64) bool {
	if w.cfg.Duration > 0 {
		return t <= before(w.now, w.cfg.Duration)
	}
	return row < w.appended-w.cfg.Rows
}

// covered returns the cells that a summary contains. edge is the oldest cell if some of its rows are outside the
// window. Otherwise edge is nil. If Config.Inside is true, cells does not contain edge.
func (w *ring) covered() (cells []*cell, edge *cell) {
	if len(w.cells) == 0 {
		return nil, nil
	}
	if c := w.cells[0]; w.hasLeft(c.end-c.sum.Rows(), c.from) {
		edge = c
	}
	if edge != nil && w.cfg.Inside {
		return w.cells[1:], edge
	}
	return w.cells, edge
}
