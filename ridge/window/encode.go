package window

import (
	"bytes"
	"io"

	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// windowHeader holds bytes 24 to 119, see [Window.MarshalBinary].
type windowHeader struct {
	Rows, Duration                    uint64
	Share                             float64
	BlockRows, Flags, Appended        uint64
	Now                               int64
	Cells, Chunks, Left, Meta, Sketch uint64
}

const windowHeaderSize = 8 * 12

// flagInside is set if Config.Inside is true.
const flagInside = 1

// cellHeader precedes the summary of each cell.
type cellHeader struct {
	Level    uint64
	From, To int64
}

const cellHeaderSize = 8 * 3

// chunkHeader precedes the rows of each chunk.
type chunkHeader struct{ Rows, Flags, Entries uint64 }

const chunkHeaderSize = 8 * 3

// Flags of a chunk.
const (
	flagChunkSparse = 1 << iota
	flagChunkWeighted
	flagsChunkEnd
)

func (w *Window) header(size int64) windowHeader {
	h := windowHeader{
		Rows:      uint64(w.cfg.Rows),
		Duration:  uint64(w.cfg.Duration),
		Share:     w.cfg.Share,
		BlockRows: uint64(w.cfg.BlockRows),
		Appended:  uint64(w.appended),
		Now:       w.now,
		Cells:     uint64(len(w.cells)),
		Chunks:    uint64(len(w.recent)),
		Meta:      uint64(len(w.meta)),
		Sketch:    uint64(size),
	}
	if w.cfg.Inside {
		h.Flags = flagInside
	}
	if n := len(w.recent); n > 0 {
		h.Left = uint64(w.recent[n-1].end - w.appended)
	}
	return h
}

// header returns the header of chunk c in a message. The header counts only the rows that are in the window.
func (c *chunk) header() chunkHeader {
	h := chunkHeader{Rows: uint64(c.live())}
	if c.rows.Sparse {
		h.Flags |= flagChunkSparse
		h.Entries = uint64(len(c.rows.CSR.Val) - c.rows.CSR.RowPtr[c.gone])
	}
	if len(c.rows.W) > 0 {
		h.Flags |= flagChunkWeighted
	}
	return h
}

// content returns the number of bytes after the header.
func (h *chunkHeader) content(d, t int) int64 {
	n := int64(h.Rows)
	size := 8 * n * int64(1+t)
	if h.Flags&flagChunkWeighted != 0 {
		size += 8 * n
	}
	if h.Flags&flagChunkSparse != 0 {
		return size + 8*(n+1) + 12*int64(h.Entries)
	}
	return size + 8*n*int64(d)
}

// content returns the number of bytes before the checksum.
func (w *Window) content(template *accum.Accumulator) int64 {
	size := windowHeaderSize + int64(len(w.meta)) + template.BinarySize(nil)
	for _, c := range w.cells {
		size += cellHeaderSize + c.sum.BinarySize(nil)
	}
	for _, c := range w.recent {
		h := c.header()
		size += chunkHeaderSize + h.content(w.cfg.Summary.Dim, w.cfg.Summary.Targets)
	}
	return size
}

// BinarySize returns the number of bytes that [Window.MarshalBinary] and [Window.WriteTo] write for w.
func (w *Window) BinarySize() int64 {
	template, err := accum.New(accum.Config(w.cfg.Summary))
	if err != nil {
		return 0
	}
	return wire.Frame + w.content(template)
}

// MarshalBinary returns the complete state of the window. A decoded window gives the same bits as w in all further
// operations. Format version 1, little-endian:
//
//	offset  bytes
//	0       8         magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4         format version: 1
//	12      4         kind of message: 6, a window
//	16      8         length of the message, checksum included
//	24      8         N, the number of rows of the window; 0 for a duration
//	32      8         T, the duration in nanoseconds; 0 for a number of rows
//	40      8         Share
//	48      8         B, BlockRows
//	56      8         flags: 1 Inside
//	64      8         rows appended
//	72      8         the time: nanoseconds since 1970, signed; −2⁶³ if none was set
//	80      8         number of sketches
//	88      8         number of blocks of rows
//	96      8         number of rows that still fit in the last block; 0 without blocks
//	104     8         u ≤ 2³⁰, length of Meta
//	112     8         v, length of the next summary
//	120     u         Meta
//	        v         a summary of no rows, a message of [ridge.Summary.MarshalBinary] like all summaries below
//	                  for each sketch, the oldest first:
//	        8         its level l: it has B·2ˡ rows; the oldest may have fewer
//	        16        the times of its first and last row
//	        …         its summary, without Meta
//	                  for each block, the oldest first:
//	        8         n, its number of rows in the window
//	        8         flags: 1 sparse, 2 weighted
//	        8         z, number of entries of sparse rows, otherwise 0
//	        8·n       times
//	        8·n·t     targets, row by row
//	        8·n       weights, if weighted
//	        8·n·d     features, row by row, if not sparse; else
//	        8·(n+1)   start of the entries of each row, and end of the last one: 0 to z
//	        4·z       their columns
//	        8·z       their values
//	        4         CRC-32C (Castagnoli) of all bytes before
//
// The backend is not written.
func (w *Window) MarshalBinary() ([]byte, error) {
	if err := w.checkUsable(); err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, w.BinarySize()))
	if _, err := w.WriteTo(b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteTo writes the message that [Window.MarshalBinary] returns. It does not hold the whole message in memory.
func (w *Window) WriteTo(to io.Writer) (int64, error) {
	if err := w.checkUsable(); err != nil {
		return 0, err
	}
	if err := accum.CheckMeta(w.meta); err != nil {
		return 0, err
	}
	template, err := accum.New(accum.Config(w.cfg.Summary))
	if err != nil {
		return 0, err
	}
	m := wire.NewWriter(to, wire.Window, w.content(template))
	m.Struct(w.header(template.BinarySize(nil)))
	m.Bytes(w.meta)
	write := func(sum *accum.Accumulator) {
		_, err := sum.Write(m, nil)
		m.Fail(err)
	}
	write(template)
	for _, c := range w.cells {
		m.Struct(cellHeader{uint64(c.level), c.from, c.to})
		write(c.sum)
	}
	for _, c := range w.recent {
		c.write(m, w.cfg.Summary.Dim, w.cfg.Summary.Targets)
	}
	return m.Close()
}

// write writes the header of chunk c, and its rows that are in the window.
func (c *chunk) write(m *wire.Writer, d, t int) {
	m.Struct(c.header())
	b := c.block(d, t)
	m.Int64s(c.times[c.gone:])
	m.Float64s(b.Y)
	m.Float64s(b.W)
	if b.Sparse == nil {
		m.Float64s(b.X)
		return
	}
	begin := b.Sparse.RowPtr[0]
	for _, at := range b.Sparse.RowPtr {
		m.Ints([]int{at - begin})
	}
	end := b.Sparse.RowPtr[b.N]
	m.Int32s(b.Sparse.ColIdx[begin:end])
	m.Float64s(b.Sparse.Val[begin:end])
}
