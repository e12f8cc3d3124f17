package fd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/wire"
)

// sketchHeader is a sketch's message from byte 24 on, up to its rows.
type sketchHeader struct {
	Dim, Size, ShrinkRows, Driver uint64
	Rows, Kept, Count, Shrinks    uint64
	Eta, RoundOff, Frob, FrobLow  float64
}

const headerSize = 12 * 8

func (s *Sketch) header() sketchHeader {
	frob, low := s.frob.Parts()
	kept := s.kept
	if s.sums != nil {
		kept = 1
	}
	return sketchHeader{
		uint64(s.cfg.Dim), uint64(s.cfg.Size), uint64(s.p), uint64(s.cfg.Shrink),
		uint64(s.rows), uint64(kept), uint64(s.count), uint64(s.shrinks),
		s.eta, s.roundOff, frob, low,
	}
}

// BinarySize is how many bytes [Sketch.MarshalBinary] and [Sketch.WriteTo] make of
// the sketch as it stands: 124 + 8·d·rows, and 8 more for each row that a shrink left or
// 8·d·(d+1) for AᵀA; where there are sparse rows 32, 8 for each of them and 12 for each entry, and
// where any has a centre 16 more for each.
func (s *Sketch) BinarySize() int64 {
	if s.cfg.Dim == 0 {
		return 0 // it cannot be written
	}
	return wire.Frame + s.content()
}

func (s *Sketch) content() int64 {
	size := headerSize + 8*int64(s.kept) + 16*int64(len(s.sums)) + 8*int64(s.cfg.Dim)*int64(s.rows)
	if version := s.version(); version >= versionSparse {
		size += s.sparse.header().content(version)
	}
	return size
}

// The format versions: of a sketch that keeps rows, of one that keeps AᵀA, of one that keeps
// sparse rows, too, and of one that keeps some less a centre.
const (
	versionRows    = 1
	versionScatter = 2
	versionSparse  = 3
	versionCentred = 4
)

// version is the format version of the sketch as it stands: the oldest that holds all of it.
func (s *Sketch) version() uint32 {
	switch {
	case s.keeps:
		return versionScatter
	case s.sparse.centred():
		return versionCentred
	case s.sparse.Rows > 0 || s.cfg.SparseRows != s.cfg.unsaid(s.m, s.p):
		return versionSparse
	}
	return versionRows
}

// MarshalBinary returns all that the sketch is, so that appending, merging and
// reading go on, bit for bit, as if it had never been written. Format version 1,
// little-endian:
//
//	offset  bytes
//	0       8         magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4         format version: 1
//	12      4         kind of message: 1, a sketch
//	16      8         length of the message, checksum included
//	24      8         d, the dimension
//	32      8         m as asked for; min(m, d) rows are kept
//	40      8         p, rows taken between two shrinks
//	48      8         shrink driver: 0 Gram, 1 SVD
//	56      8         live rows r ≤ min(m, d) + p
//	64      8         k ≤ min(m, d, r), how many of them a shrink left orthogonal
//	72      8         n, rows appended
//	80      8         shrinks
//	88      8         η
//	96      8         round-off bound
//	104     16        ‖A‖²_F: sum and correction, which are added
//	120     8·k       squared norms of the orthogonal rows
//	        8·r·d     live rows
//	        4         CRC-32C (Castagnoli) of all bytes before
//
// A sketch that keeps K = AᵀA itself ([Storage]) has format version 2, in which these differ:
//
//	8       4          format version: 2
//	40      8          p, rows that are collected before they are added to K
//	56      8          live rows r ≤ p, which wait for that
//	64      8          1 where K follows, 0 where no rows have been added to it
//	80      8          blocks of rows added to K
//	120     8·d·(d+1)  K's lower triangle, row by row: each entry a sum and its correction, which are added
//
// A sketch in which sparse rows wait for a shrink has format version 3, and so has one of which r,
// how many do so, is not what [engine.Tuning.SparseRows] makes of d, m and p where nothing is set:
//
//	8       4          format version: 3
//	120     8          r; 0 where sparse rows are written out
//	128     8          sparse rows q that wait
//	136     8          entries z in them
//	144     8·k        squared norms of the orthogonal rows
//	        8·l·d      live rows but for the sparse ones, l ≤ min(m, d) + p, l + q ≤ min(m, d) + max(p, r)
//	        8·(q+1)    where the entries of each sparse row begin, and where the last one's end: 0 to z
//	        4·z        their columns, row by row
//	        8·z        their values
//
// Where any of them is less a multiple of a centre ([Sketch.AppendCentred]) it has format version 4,
// which is version 3 but for
//
//	8       4          format version: 4
//	56      8          live rows, of which some are centres
//	        8·q        behind the values, the multiple κ of each sparse row; 0 where it has no centre
//	        8·q        its centre: which of the live rows, counted from 1; 0 where it has none
//
// Counts are unsigned integers, numbers IEEE 754 doubles. The backend is no part
// of it: what one has written, every other reads.
func (s *Sketch) MarshalBinary() ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, s.BinarySize()))
	if _, err := s.WriteTo(b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteTo writes what [Sketch.MarshalBinary] returns, piece by piece, without a
// second copy of the sketch in memory.
func (s *Sketch) WriteTo(w io.Writer) (int64, error) {
	if err := s.ready(); err != nil {
		return 0, err
	}
	m := wire.NewVersionWriter(w, wire.Sketch, s.version(), s.content())
	m.Struct(s.header())
	if s.version() >= versionSparse {
		m.Struct(s.sparse.header())
	}
	m.Float64s(s.norm2[:s.kept])
	m.Sums(s.sums)
	for i := range s.rows {
		m.Float64s(s.row(i))
	}
	s.writeSparse(m)
	return m.Close()
}

// UnmarshalBinary makes s the sketch that [Sketch.MarshalBinary] returned, which
// data must hold and nothing else. It is otherwise like [Sketch.ReadFrom].
func (s *Sketch) UnmarshalBinary(data []byte) error {
	r := bytes.NewReader(data)
	read, n, err := readSketch(r, s.cfg.Backend)
	switch {
	case err == io.EOF:
		return &FormatError{0, "no message", io.ErrUnexpectedEOF}
	case err != nil:
		return err
	case r.Len() > 0:
		return &FormatError{n, fmt.Sprintf("%d bytes follow the message", r.Len()), nil}
	}
	*s = *read
	return nil
}

// ReadFrom makes s the sketch that [Sketch.WriteTo] wrote. Unlike other readers of
// this name it doesn't read to the end of r: it takes one message and leaves what
// follows, so that messages may stand one after another; it returns io.EOF where
// there is none. s, which may be the zero value, keeps its backend; without one it
// gets engine.Default().
//
// A message that is damaged or not one at all is a *[FormatError], with
// [ErrVersion] in its chain where a newer program wrote it. Errors of r are
// returned as they are. On every error s is unchanged.
//
// Sizes are checked before memory is taken for them. In all no more is allocated
// than twice what came of the message and 64 KiB; the rows are in memory once where
// r is a regular file or has Len, as a bytes.Reader has, and twice for a moment
// elsewhere. The buffers for further rows are taken by the first Append or Merge.
//
// Counts must be consistent, numbers finite and within what Append admits. That the
// kept rows are orthogonal is not checked: the checksum protects against accidents,
// not against forgery.
func (s *Sketch) ReadFrom(r io.Reader) (int64, error) {
	read, n, err := readSketch(r, s.cfg.Backend)
	if err != nil {
		return n, err
	}
	*s = *read
	return n, nil
}

// ReadSketch returns the next sketch in r, for the backend be; nil is
// engine.Default(). See [Sketch.ReadFrom].
func ReadSketch(r io.Reader, be engine.Backend) (*Sketch, error) {
	s, _, err := readSketch(r, be)
	return s, err
}

func readSketch(r io.Reader, be engine.Backend) (*Sketch, int64, error) {
	if be == nil {
		var err error
		if be, err = engine.Default(); err != nil {
			return nil, 0, err
		}
	}
	m := wire.NewReader(r)
	s := decode(m, be)
	if err := m.Err(); err != nil {
		if e, ok := errors.AsType[*wire.Error](err); ok {
			err = (*FormatError)(e)
		}
		return nil, m.N(), err
	}
	return s, m.N(), nil
}

// decode reads a sketch without room for more rows than it has, see reserve.
func decode(m *wire.Reader, be engine.Backend) *Sketch {
	var h sketchHeader
	version, size := m.Preamble(wire.Sketch)
	m.Struct(&h)
	h.check(m, version == versionScatter)
	var waiting sparseHeader
	if version >= versionSparse {
		m.Struct(&waiting)
		waiting.check(m, &h, version)
	}
	if m.Err() != nil {
		return nil
	}
	s := &Sketch{
		cfg: Config{Dim: int(h.Dim), Size: int(h.Size), Shrink: Driver(h.Driver), ShrinkRows: int(h.ShrinkRows), Backend: be, Store: StoreRows},
		m:   int(min(h.Size, h.Dim)), p: int(h.ShrinkRows),
		matrix: matrix{ld: int(h.Dim), rows: int(h.Rows), kept: int(h.Kept)},
		account: account{
			eta: h.Eta, roundOff: h.RoundOff, frob: neumaier.FromParts(h.Frob, h.FrobLow),
			count: int64(h.Count), shrinks: int64(h.Shrinks),
		},
	}
	entries := 0
	if version == versionScatter {
		s.cfg.Store, s.keeps, s.m, s.kept = StoreScatter, true, s.cfg.Dim, 0
		entries = int(h.Kept) * s.cfg.Dim * (s.cfg.Dim + 1) / 2
	}
	s.cfg.SparseRows = s.cfg.unsaid(s.m, s.p)
	counted := s.content() + 16*int64(entries)
	if version >= versionSparse {
		s.cfg.SparseRows = waiting.rows()
		counted += waiting.content(version)
	}
	s.sparse = newSparseRows(s.cfg)
	if size != counted {
		m.Fail(16, nil, "the length is %d, the counts make it %d", size+wire.Frame, counted+wire.Frame)
	}
	s.norm2 = m.Float64s(s.kept)
	if entries > 0 {
		s.sums = m.Sums(entries)
	}
	s.buf = m.Float64s(s.rows * s.cfg.Dim)
	if version >= versionSparse {
		s.sparse.read(m, waiting, version)
	}
	m.Close()
	if m.Err() == nil {
		s.checkNumbers(m)
		s.checkSparse(m, version)
	}
	return s
}

// largest bounds every number of a sketch: what Append admits, and round-off.
const largest = 2 * MaxSquares

// maxRows is how many rows, and shrinks, a sketch may be said to have had: two such numbers can be added.
const maxRows = 1 << 62

// check finds what is wrong with the header, before anything is made of it.
func (h *sketchHeader) check(m *wire.Reader, scatter bool) {
	within := func(offset int64, what string, v, lo, hi uint64) {
		if v < lo || v > hi {
			m.Fail(offset, nil, "%s is %d, not between %d and %d", what, v, lo, hi)
		}
	}
	within(24, "the dimension", h.Dim, 1, math.MaxInt)
	within(32, "the size", h.Size, 1, math.MaxInt)
	within(40, "the number of rows between shrinks", h.ShrinkRows, 1, math.MaxInt)
	within(48, "the shrink driver", h.Driver, uint64(Gram), uint64(SVD))
	if m.Err() != nil {
		return
	}
	kept := min(h.Size, h.Dim)
	if scatter {
		kept = h.Dim
	}
	if !addressable(int(kept), int(h.ShrinkRows), int(h.Dim)) {
		m.Fail(24, ErrSize, "sketch too large for this machine: (m+p)·d = (%d+%d)·%d", kept, h.ShrinkRows, h.Dim)
		return
	}
	within(72, "the number of rows appended", h.Count, 0, maxRows)
	within(80, "the number of shrinks", h.Shrinks, 0, maxRows)
	if scatter {
		within(56, "the number of live rows", h.Rows, 0, min(h.ShrinkRows, h.Count))
		within(64, "whether there is a scatter matrix", h.Kept, 0, min(1, h.Shrinks, h.Count))
	} else {
		within(56, "the number of live rows", h.Rows, 0, min(kept+h.ShrinkRows, h.Count))
		within(64, "the number of orthogonal rows", h.Kept, 0, min(kept, h.Rows))
	}
	if h.Shrinks == 0 {
		within(64, "without shrinks the number of orthogonal rows", h.Kept, 0, 0)
	}
	frob := neumaier.FromParts(h.Frob, h.FrobLow)
	for _, c := range []struct {
		offset int64
		what   string
		value  float64
	}{
		{88, "the shrinkage", h.Eta}, {96, "the round-off bound", h.RoundOff},
		{104, "the squared norm", h.Frob}, {112, "the correction of the squared norm", math.Abs(h.FrobLow)},
		{104, "the corrected squared norm", frob.Value()},
	} {
		if !(c.value >= 0 && c.value <= largest) {
			m.Fail(c.offset, nil, "%s is %v, not between 0 and %v", c.what, c.value, largest)
		}
	}
}

// checkNumbers finds numbers that Append would not have admitted.
func (s *Sketch) checkNumbers(m *wire.Reader) {
	at := int64(24 + headerSize)
	for i, v := range s.norm2 {
		if !(v >= 0 && v <= largest) {
			m.Fail(at+8*int64(i), nil, "squared norm %d is %v", i, v)
			return
		}
	}
	at += 8 * int64(s.kept)
	for i := range s.sums {
		sum, low := s.sums[i].Parts()
		if v := s.sums[i].Value(); !(math.Abs(sum) <= largest && math.Abs(low) <= largest && math.Abs(v) <= largest) {
			m.Fail(at+16*int64(i), nil, "entry %d of the scatter matrix is %v, corrected by %v", i, sum, low)
			return
		}
	}
	for i, k := 0, 0; k < len(s.sums); i, k = i+1, k+i+2 { // 0, 2, 5, 9, …: no more than were read
		if !(s.sums[k].Value() >= 0) {
			m.Fail(at+16*int64(k), nil, "entry %d of the diagonal of the scatter matrix is %v", i, s.sums[k].Value())
			return
		}
	}
	at += 16 * int64(len(s.sums))
	var total neumaier.Sum
	centres := s.centres()
	for i := range s.rows {
		row := s.row(i)
		norm2 := squares(row)
		if e, ok := errors.AsType[*NonFiniteError](finite(i, 0, nil, row, norm2)); ok {
			m.Fail(at+8*int64(i*s.cfg.Dim+e.Col), e, "%v", e)
			return
		}
		if centres == nil || !centres[i] {
			total.Add(norm2)
		}
		if !(total.Value() <= largest && norm2 <= largest) {
			m.Fail(at+8*int64(i*s.cfg.Dim), &RangeError{Row: i}, "%v", &RangeError{Row: i})
			return
		}
	}
}
