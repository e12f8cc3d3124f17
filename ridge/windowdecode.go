package ridge

import (
	"fmt"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// decodeWindow reads a window; nil where m has an error then.
func decodeWindow(m *wire.Reader, be engine.Backend) *Window {
	_, size := m.Preamble(wire.Window)
	var h windowHeader
	m.Struct(&h)
	cfg := h.config(m)
	if m.Err() == nil && int64(h.Meta) > size {
		m.Fail(104, nil, "the length of Meta is %d", h.Meta)
	}
	if m.Err() != nil {
		return nil
	}
	meta := m.Bytes(int(h.Meta))
	at := m.N()
	template := readLane(m, be, "the summary of no rows")
	switch {
	case m.Err() != nil:
		return nil
	case template.stage.Rows > 0 || template.sketch.Rows() > 0:
		m.Fail(at, nil, "the summary of no rows has %d", template.stage.Rows)
	case m.N()-at != int64(h.Sketch):
		m.Fail(112, nil, "the length of a summary of no rows is %d, it was to be %d", m.N()-at, h.Sketch)
	}
	cfg.Summary = template.cfg
	w := newWindow(cfg)
	w.Meta, w.appended, w.now = meta, int64(h.Appended), h.Now
	for i := 0; i < int(h.Cells) && m.Err() == nil; i++ {
		w.readCell(m, be)
	}
	for i := 0; i < int(h.Chunks) && m.Err() == nil; i++ {
		w.readChunk(m, size)
	}
	if read := m.N() - wire.Start; m.Err() == nil && read != size {
		m.Fail(16, nil, "the length is %d, the parts make it %d", size+wire.Frame, read+wire.Frame)
	}
	m.Close()
	if m.Err() == nil {
		if why := w.number(int64(h.Left)); why != "" {
			m.Fail(wire.Start+windowHeaderSize, nil, "%s", why)
		}
	}
	if m.Err() != nil {
		return nil
	}
	return w
}

// readCell reads the next cell.
func (w *Window) readCell(m *wire.Reader, be engine.Backend) {
	at := m.N()
	var h cellHeader
	m.Struct(&h)
	l := readLane(m, be, fmt.Sprintf("sketch %d", len(w.cells)+1))
	switch {
	case m.Err() != nil:
		return
	case h.Level >= maxLevel:
		m.Fail(at, nil, "sketch %d is of level %d", len(w.cells)+1, h.Level)
		return
	case l.cfg != w.cfg.Summary:
		m.Fail(at, nil, "sketch %d is of another shape than the summary of no rows", len(w.cells)+1)
		return
	}
	w.cells = append(w.cells, newCell(&Summary{cfg: l.cfg, lanes: []*lane{l}}, int(h.Level), 0, h.From, h.To))
}

// readChunk reads the next rows that are kept as they are, of a message of so many bytes.
func (w *Window) readChunk(m *wire.Reader, size int64) {
	at := m.N()
	var h chunkHeader
	m.Struct(&h)
	d, t := w.cfg.Summary.Dim, w.cfg.Summary.Targets
	sparse := h.Flags&flagChunkSparse != 0
	switch {
	case m.Err() != nil:
	case h.Rows == 0 || h.Rows > uint64(w.cfg.BlockRows):
		m.Fail(at, nil, "block %d has %d rows, not between 1 and %d", len(w.recent)+1, h.Rows, w.cfg.BlockRows)
	case h.Flags >= flagsChunkEnd:
		m.Fail(at+8, nil, "the word of flags of block %d is %d", len(w.recent)+1, h.Flags)
	case h.Entries > uint64(size)/12 || (!sparse && h.Entries > 0):
		m.Fail(at+16, nil, "block %d has %d entries of sparse rows", len(w.recent)+1, h.Entries)
	case h.Rows > uint64(size)/8/uint64(d) && !sparse, h.Rows > uint64(size)/8/uint64(t):
		m.Fail(at, nil, "block %d has %d rows, more than the message has room for", len(w.recent)+1, h.Rows)
	}
	if m.Err() != nil {
		return
	}
	n := int(h.Rows)
	c := &chunk{times: m.Int64s(n)}
	c.rows.N, c.rows.Sparse = n, sparse
	c.rows.Y = m.Float64s(n * t)
	if h.Flags&flagChunkWeighted != 0 {
		c.rows.W = m.Float64s(n)
	}
	if sparse {
		c.rows.CSR = engine.CSR{Rows: n, Cols: d, RowPtr: m.Ints(n + 1), ColIdx: m.Int32s(int(h.Entries)), Val: m.Float64s(int(h.Entries))}
	} else {
		c.rows.X = m.Float64s(n * d)
	}
	if m.Err() == nil && sparse && !pointsWithin(c.rows.CSR.RowPtr, int(h.Entries)) {
		m.Fail(at, nil, "the rows of block %d do not end where their entries do", len(w.recent)+1)
	}
	if m.Err() != nil {
		return
	}
	b := c.block(d, t)
	if _, err := rows.CheckBlock(b, d, t, 0, 0); err != nil {
		m.Fail(at, err, "in block %d: %v", len(w.recent)+1, err)
		return
	}
	for i := range n {
		c.extent.add(b, i, d, t)
	}
	w.recent = append(w.recent, c)
}

// pointsWithin says that rows begin at 0, each where the one before ends, and end at entries.
func pointsWithin(rowPtr []int, entries int) bool {
	last := 0
	for i, at := range rowPtr {
		if at < last || (i == 0 && at != 0) {
			return false
		}
		last = at
	}
	return last == entries
}

// number gives the parts of a window that was read the numbers of their rows, of which the newest
// block still takes some, and says what is wrong with them together.
func (w *Window) number(left int64) (why string) {
	all, lanes := extent{}, make([]*lane, 0, len(w.cells))
	last := w.now
	end := w.appended
	for i := len(w.recent) - 1; i >= 0; i-- {
		c := w.recent[i]
		c.end = end
		if i == len(w.recent)-1 {
			c.end += left
		}
		end -= int64(c.rows.N)
		missing := int64(w.cfg.BlockRows-c.rows.N) - (c.end - end - int64(c.rows.N))
		if missing < 0 || (missing > 0 && (i > 0 || len(w.cells) > 0)) {
			return fmt.Sprintf("block %d has %d rows, and should have %d", i+1, c.rows.N, w.cfg.BlockRows)
		}
		for j := len(c.times) - 1; j >= 0; j-- {
			if c.times[j] > last {
				return fmt.Sprintf("the times of block %d decrease", i+1)
			}
			last = c.times[j]
		}
		all.merge(c.extent)
	}
	for i := len(w.cells) - 1; i >= 0; i-- {
		c := w.cells[i]
		c.end = end
		n := c.sum.Rows()
		end -= n
		if c.to > last || c.from > c.to {
			return fmt.Sprintf("the times of sketch %d decrease", i+1)
		}
		last = c.from
		if full := float64(w.cfg.BlockRows) * float64(uint64(1)<<c.level); float64(n) > full || n == 0 || (i > 0 && float64(n) < full) {
			return fmt.Sprintf("sketch %d has %d rows, one of its level has %g", i+1, n, full)
		}
		all.merge(c.extent)
		lanes = append(lanes, c.sum.lanes[0])
	}
	switch {
	case end < 0:
		return fmt.Sprintf("there are more rows than the %d that were appended", w.appended)
	case w.cfg.Duration > 0 && last == noTime && len(w.cells)+len(w.recent) > 0:
		return "rows of a window of a duration have no time"
	case !all.inRange(w.cfg.Summary.Intercept):
		return "the rows are too far from each other, or too large, to be merged"
	}
	if why := w.aged(); why != "" {
		return why
	}
	_, why = addUp(w.cfg.Summary, lanes, "sketches")
	return why
}

// aged says what is wrong with the cells and chunks of a window that was read, as none has them that
// came by its rows one by one.
func (w *Window) aged() (why string) {
	full := 0
	for _, c := range w.recent {
		if c.full(w.appended) {
			full++
		}
	}
	if full > w.parts || (len(w.cells) > 0 && full < w.parts) {
		return fmt.Sprintf("%d blocks of rows are full; of a window with sketches there are %d", full, w.parts)
	}
	level, of := 0, 0
	for i := len(w.cells) - 1; i >= 0; i-- {
		switch l := w.cells[i].level; {
		case l == level && of <= w.parts:
			of++
		case l == level+1 && of >= w.parts:
			level, of = l, 1
		default:
			return fmt.Sprintf("sketch %d is of level %d, and of level %d there are %d", i+1, l, level, of)
		}
	}
	appended, cells, recent := w.appended, len(w.cells), len(w.recent)
	if cells > 0 && w.past(w.cells[0].end-1, w.cells[0].to) || cells == 0 && recent > 0 && w.past(w.recent[0].first(appended), w.recent[0].times[0]) {
		return "the first rows have left the window"
	}
	return ""
}
