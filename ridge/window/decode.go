package window

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// UnmarshalBinary replaces w by the window in data, which must be one message of [Window.MarshalBinary]. See
// [Window.ReadFrom].
func (w *Window) UnmarshalBinary(data []byte) error {
	read, err := accum.ReadOnly(data, w.cfg.Summary.Backend, decodeWindow)
	if err == nil {
		*w = *read
	}
	return err
}

// ReadFrom reads one message of [Window.WriteTo] from r, and replaces w by the window in this message. It reads no
// bytes after the message. w may be the zero value. The backend of w is unchanged. After an error, w is unchanged.
// ReadFrom allocates at most twice the size of the message, plus 64 KiB for each sketch.
func (w *Window) ReadFrom(r io.Reader) (int64, error) {
	read, n, err := accum.Read(r, w.cfg.Summary.Backend, decodeWindow)
	if err == nil {
		*w = *read
	}
	return n, err
}

// decodeWindow reads a message from m and returns the window in it. If m has an error, it returns nil.
func decodeWindow(m *wire.Reader, be engine.Backend) *Window {
	_, size := m.Preamble(wire.Window)
	return decodeWindowContent(m, be, size)
}

// decodeWindowContent reads the part of a window's message that follows the preamble. size is the number of bytes
// of this part, without the checksum. If m has an error, the result is nil.
func decodeWindowContent(m *wire.Reader, be engine.Backend, size int64) *Window {
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
	template := accum.DecodeLane(m, be, "the summary of no rows")
	switch {
	case m.Err() != nil:
		return nil
	case !template.Empty():
		m.Fail(at, nil, "the summary of no rows has %d", template.Rows())
	case m.N()-at != int64(h.Sketch):
		m.Fail(112, nil, "the length of a summary of no rows is %d, it was to be %d", m.N()-at, h.Sketch)
	}
	cfg.Summary = ridge.SummaryConfig(template.Config())
	w := &Window{ring: newRing(cfg)}
	w.meta = meta
	w.appended = int64(h.Appended)
	w.now = h.Now
	for i := 0; i < int(h.Cells) && m.Err() == nil; i++ {
		w.readCell(m, be)
	}
	for i := 0; i < int(h.Chunks) && m.Err() == nil; i++ {
		w.readChunk(m, size)
	}
	read := m.N() - wire.Start
	if m.Err() == nil && read != size {
		m.Fail(16, nil, "the length is %d, the parts make it %d", size+wire.Frame, read+wire.Frame)
	}
	m.Close()
	if m.Err() == nil {
		if why := w.setRowNumbers(int64(h.Left)); why != "" {
			m.Fail(wire.Start+windowHeaderSize, nil, "%s", why)
		}
	}
	if m.Err() != nil {
		return nil
	}
	return w
}

func (w *Window) readCell(m *wire.Reader, be engine.Backend) {
	at := m.N()
	var h cellHeader
	m.Struct(&h)
	sum := accum.DecodeLane(m, be, fmt.Sprintf("sketch %d", len(w.cells)+1))
	switch {
	case m.Err() != nil:
		return
	case h.Level >= maxLevel:
		m.Fail(at, nil, "sketch %d is of level %d", len(w.cells)+1, h.Level)
		return
	case ridge.SummaryConfig(sum.Config()) != w.cfg.Summary:
		m.Fail(at, nil, "sketch %d is of another shape than the summary of no rows", len(w.cells)+1)
		return
	}
	w.cells = append(w.cells, &cell{
		sum:    sum,
		level:  int(h.Level),
		from:   h.From,
		to:     h.To,
		extent: sum.Extent(),
	})
}

// readChunk reads a chunk and adds it to w. size is the number of bytes of the message, for the validation.
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
		c.rows.CSR = engine.CSR{
			Rows:   n,
			Cols:   d,
			RowPtr: m.Ints(n + 1),
			ColIdx: m.Int32s(int(h.Entries)),
			Val:    m.Float64s(int(h.Entries)),
		}
	} else {
		c.rows.X = m.Float64s(n * d)
	}
	if m.Err() == nil &&
		sparse &&
		!pointsWithin(c.rows.CSR.RowPtr, int(h.Entries)) {
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
		c.extent.Add(b, i, d, t)
	}
	w.recent = append(w.recent, c)
}

// pointsWithin reports whether rowPtr ascends from 0 to entries.
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

// setRowNumbers sets the numbers of the rows in the cells and blocks of w. room is the number of rows that still
// fit in the last block. If the message is inconsistent, setRowNumbers returns the reason. Otherwise it returns "".
func (w *Window) setRowNumbers(room int64) (why string) {
	all := accum.Extent{}
	sums := make([]*accum.Accumulator, 0, len(w.cells))
	last := w.now
	end := w.appended
	for i := len(w.recent) - 1; i >= 0; i-- {
		c := w.recent[i]
		c.end = end
		if i == len(w.recent)-1 {
			c.end += room
		}
		end -= int64(c.rows.N)
		missing := int64(w.cfg.BlockRows-c.rows.N) -
			(c.end - end - int64(c.rows.N))
		if missing < 0 || (missing > 0 && (i > 0 || len(w.cells) > 0)) {
			return fmt.Sprintf("block %d has %d rows, but needs %d", i+1, c.rows.N, w.cfg.BlockRows)
		}
		for j := len(c.times) - 1; j >= 0; j-- {
			if c.times[j] > last {
				return fmt.Sprintf("the times of block %d decrease", i+1)
			}
			last = c.times[j]
		}
		all.Merge(c.extent)
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
		full := float64(w.cfg.BlockRows) * float64(uint64(1)<<c.level)
		if float64(n) > full ||
			n == 0 ||
			(i > 0 && float64(n) < full) {
			return fmt.Sprintf("sketch %d has %d rows, one of its level has %g", i+1, n, full)
		}
		all.Merge(c.extent)
		sums = append(sums, c.sum)
	}
	switch {
	case end < 0:
		return fmt.Sprintf("there are more rows than the %d that were appended", w.appended)
	case w.cfg.Duration > 0 &&
		last == noTime &&
		len(w.cells)+len(w.recent) > 0:
		return "rows of a window of a duration have no time"
	case !all.InRange(w.cfg.Summary.Intercept):
		return "the rows are too far from each other, or too large, to be merged"
	}
	if why := w.checkAges(); why != "" {
		return why
	}
	return accum.Mergeable(accum.Config(w.cfg.Summary), sums, "sketches")
}

// checkAges checks whether appending rows to an empty window can lead to the sketches and blocks of rows of w. If
// it cannot, checkAges returns the reason. Otherwise it returns "".
func (w *Window) checkAges() (why string) {
	full := 0
	for _, c := range w.recent {
		if c.isFull(w.appended) {
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
	appended := w.appended
	cells := len(w.cells)
	recent := len(w.recent)
	if cells > 0 && w.hasLeft(w.cells[0].end-1, w.cells[0].to) ||
		cells == 0 && recent > 0 && w.hasLeft(w.recent[0].firstRow(appended), w.recent[0].times[0]) {
		return "the first rows have left the window"
	}
	return ""
}

// config reports invalid fields of the header to m.
func (h *windowHeader) config(m *wire.Reader) Config {
	m.Within(24, "the number of rows of the window", h.Rows, 0, math.MaxInt64)
	m.Within(32, "the duration of the window", h.Duration, 0, math.MaxInt64)
	if (h.Rows > 0) == (h.Duration > 0) {
		m.Fail(24, nil, "the window is of %d rows and of %d nanoseconds; one must be 0", h.Rows, h.Duration)
	}
	if !(h.Share >= 1.0/MaxParts && h.Share <= 1) {
		m.Fail(40, nil, "the share is %v", h.Share)
	}
	m.Within(48, "the number of rows of a block", h.BlockRows, 1, math.MaxInt32)
	m.Within(56, "the word of flags", h.Flags, 0, flagInside)
	m.Within(64, "the number of rows appended", h.Appended, 0, accum.MaxRows)
	m.Within(80, "the number of sketches", h.Cells, 0, maxLevel*(MaxParts+1))
	m.Within(88, "the number of blocks", h.Chunks, 0, MaxParts+1)
	m.Within(96, "the number of rows that a block still takes", h.Left, 0, min(h.Chunks, 1)*(h.BlockRows-1))
	m.Within(104, "the length of Meta", h.Meta, 0, accum.MaxMeta)
	return Config{
		Rows:      int64(h.Rows),
		Duration:  time.Duration(h.Duration),
		Share:     h.Share,
		Inside:    h.Flags&flagInside != 0,
		BlockRows: int(h.BlockRows),
	}
}

// maxLevel exceeds the level of every cell.
const maxLevel = 63
