package fd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/wire"
)

// sketchHeader is the header of a message, which begins at byte 24. The rows of the sketch follow it. For the
// format, see [Sketch.MarshalBinary].
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

// BinarySize returns the number of bytes that [Sketch.MarshalBinary] and [Sketch.WriteTo] write for the current
// sketch. It is the sum of these numbers, for d columns:
//
//   - 124 + 8·d·r for the r dense rows in the buffer
//   - 8 for each row that remained after the last shrink
//   - 8·d·(d+1) if the sketch keeps AᵀA, not rows, and rows have been added to AᵀA
//   - 32 if there are sparse rows, or if Config.SparseRows is not the default
//   - 8 for each sparse row, and 12 for each entry of the sparse rows
//   - 16 for each sparse row, if any sparse row has a centre
func (s *Sketch) BinarySize() int64 {
	if s.cfg.Dim == 0 {
		return 0 // an unset sketch cannot be written
	}
	return wire.Frame + s.content()
}

func (s *Sketch) content() int64 {
	size := headerSize +
		8*int64(s.kept) +
		16*int64(len(s.sums)) +
		8*int64(s.cfg.Dim)*int64(s.rows)
	if version := s.version(); version >= versionSparse {
		size += s.sparse.header().content(version)
	}
	return size
}

// The format versions.
const (
	versionRows    = 1 // dense rows
	versionScatter = 2 // AᵀA, and dense rows not yet added to it
	versionSparse  = 3 // dense and sparse rows
	versionCentred = 4 // dense and sparse rows, some of them with a centre
)

// version returns the oldest format version that can hold the current sketch.
func (s *Sketch) version() uint32 {
	switch {
	case s.keepsScatter:
		return versionScatter
	case s.sparse.hasCentres():
		return versionCentred
	case s.sparse.Rows > 0 ||
		s.cfg.SparseRows != s.cfg.defaultSparseRows(s.m, s.p):
		return versionSparse
	}
	return versionRows
}

// MarshalBinary returns the full state of the sketch. A sketch that is read back gives the same bits as s in
// all further operations.
//
// Format version 1, little-endian:
//
//	offset  bytes
//	0       8         magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4         format version: 1
//	12      4         kind of message: 1, a sketch
//	16      8         length of the message, checksum included
//	24      8         d, the dimension
//	32      8         m as configured; min(m, d) rows are kept
//	40      8         p, rows appended between two shrinks
//	48      8         shrink driver: 0 Gram, 1 SVD
//	56      8         rows in the buffer b ≤ min(m, d) + p
//	64      8         k ≤ min(m, d, b), number of rows that a shrink left orthogonal
//	72      8         n, rows appended
//	80      8         shrinks
//	88      8         η
//	96      8         round-off bound
//	104     16        ‖A‖²_F: sum and correction, which are added
//	120     8·k       squared norms of the orthogonal rows
//	        8·b·d     rows in the buffer
//	        4         CRC-32C (Castagnoli) of all bytes before
//
// A sketch that keeps K = AᵀA ([Storage]) has format version 2. These fields differ:
//
//	8       4          format version: 2
//	40      8          p, rows collected before they are added to K
//	56      8          rows in the buffer b ≤ p, not yet added to K
//	64      8          1 if K follows, 0 if no rows have been added to it
//	80      8          blocks of rows added to K
//	112     8·d·(d+1)  K's lower triangle, row by row: each entry a sum and its correction, which are added
//
// A sketch with sparse rows in its buffer has format version 3. A sketch also has format version 3 if its limit
// r of sparse rows differs from the default, which is [engine.Tuning.SparseRows] of d, m and p:
//
//	8       4          format version: 3
//	120     8          r; 0 if sparse rows are stored as dense rows
//	128     8          number q of sparse rows in the buffer
//	136     8          number z of their entries
//	144     8·k        squared norms of the orthogonal rows
//	        8·l·d      dense rows in the buffer, l ≤ min(m, d) + p, l + q ≤ min(m, d) + max(p, r)
//	        8·(q+1)    index of each sparse row's first entry, then z
//	        4·z        columns of the entries, row by row
//	        8·z        values of the entries
//
// If a sparse row has a centre ([Sketch.AppendCentred]), the format version is 4. These fields differ from version 3:
//
//	8       4          format version: 4
//	56      8          dense rows in the buffer, centres included
//	        8·q        after the values: the factor κ of each sparse row; 0 if it has no centre
//	        8·q        centre of each sparse row: the number of a dense row, counted from 1; 0 if it has none
//
// Counts are unsigned integers, numbers are IEEE 754 doubles. The message does not depend on the backend.
func (s *Sketch) MarshalBinary() ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, s.BinarySize()))
	if _, err := s.WriteTo(b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteTo writes the message that [Sketch.MarshalBinary] returns. It makes no second copy of the sketch in memory.
func (s *Sketch) WriteTo(w io.Writer) (int64, error) {
	if err := s.checkReady(); err != nil {
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

// UnmarshalBinary replaces s by the sketch in data, which must be a single message of [Sketch.MarshalBinary]. If
// data is empty, damaged or longer than the message, the error is a *[FormatError]. For the backend of s, its zero
// value and newer versions, see [Sketch.ReadFrom].
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

// ReadFrom replaces s by the next sketch in r, written by [Sketch.WriteTo]. It reads exactly one message, so
// that several messages can follow each other. At the end of r it returns io.EOF. s may be the zero value. s
// keeps its backend; the zero value gets engine.Default().
//
// A damaged message is a *[FormatError]. The FormatError wraps [ErrVersion] if a newer program wrote the
// message. Errors of r are returned unchanged. On every error s is unchanged.
//
// Sizes are checked before memory is allocated. The total allocation is at most twice the part of the message that was
// read, plus 64 KiB. If r is a regular file or has a method Len, like bytes.Reader, the rows are in memory once.
// Otherwise they are briefly in memory twice. The first Append or Merge allocates the buffers for further rows.
//
// ReadFrom checks that counts are consistent and that numbers are finite and within the range of Append. It does not
// check that the kept rows are orthogonal. The checksum protects against accidents, not against forgery.
func (s *Sketch) ReadFrom(r io.Reader) (int64, error) {
	read, n, err := readSketch(r, s.cfg.Backend)
	if err == nil {
		*s = *read
	}
	return n, err
}

// ReadSketch reads the next sketch from r. The sketch uses the backend be, or engine.Default() if be is nil. The
// format, the errors and the use of memory are as for [Sketch.ReadFrom].
func ReadSketch(r io.Reader, be engine.Backend) (*Sketch, error) {
	s, _, err := readSketch(r, be)
	return s, err
}

func readSketch(r io.Reader, be engine.Backend) (*Sketch, int64, error) {
	var err error
	be, err = engine.OrDefault(be)
	if err != nil {
		return nil, 0, err
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

// decode reads a sketch from a message. It allocates memory only for the rows in the message. The method allocate
// later allocates memory for more rows.
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
		cfg: Config{
			Dim:        int(h.Dim),
			Size:       int(h.Size),
			Shrink:     Driver(h.Driver),
			ShrinkRows: int(h.ShrinkRows),
			Backend:    be,
			Store:      StoreRows,
		},
		m: int(min(h.Size, h.Dim)),
		p: int(h.ShrinkRows),
		matrix: matrix{
			ld:   int(h.Dim),
			rows: int(h.Rows),
			kept: int(h.Kept),
		},
		account: account{
			eta:      h.Eta,
			roundOff: h.RoundOff,
			frob:     twofold.TotalFromParts(h.Frob, h.FrobLow),
			count:    int64(h.Count),
			shrinks:  int64(h.Shrinks),
		},
	}
	entries := 0
	if version == versionScatter {
		s.cfg.Store, s.keepsScatter, s.m, s.kept = StoreScatter, true, s.cfg.Dim, 0
		entries = int(h.Kept) * s.cfg.Dim * (s.cfg.Dim + 1) / 2
	}
	s.cfg.SparseRows = s.cfg.defaultSparseRows(s.m, s.p)
	counted := s.content() + 16*int64(entries)
	if version >= versionSparse {
		s.cfg.SparseRows = waiting.rows()
		counted += waiting.content(version)
	}
	s.sparse = newSparseRows(s.cfg)
	if size != counted {
		m.Fail(16, nil, "the length is %d, but the counts require %d", size+wire.Frame, counted+wire.Frame)
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

// largest is the largest sum of squares that a message may contain. It is twice the limit for appended rows,
// because round-off may increase the sum.
const largest = 2 * MaxSquares

// maxRows is the largest number of rows that a message may contain. It also limits the number of shrinks.
const maxRows = 1 << 62

// check reports an error if a field of the header is invalid. decode calls it before it allocates memory of the
// sizes in the header.
func (h *sketchHeader) check(m *wire.Reader, scatter bool) {
	m.Within(24, "the dimension", h.Dim, 1, math.MaxInt)
	m.Within(32, "the size", h.Size, 1, math.MaxInt)
	m.Within(40, "the number of rows between shrinks", h.ShrinkRows, 1, math.MaxInt)
	m.Within(48, "the shrink driver", h.Driver, uint64(Gram), uint64(SVD))
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
	m.Within(72, "the number of rows appended", h.Count, 0, maxRows)
	m.Within(80, "the number of shrinks", h.Shrinks, 0, maxRows)
	if scatter {
		m.Within(56, "the number of live rows", h.Rows, 0, min(h.ShrinkRows, h.Count))
		m.Within(64, "the flag for a scatter matrix", h.Kept, 0, min(1, h.Shrinks, h.Count))
	} else {
		m.Within(56, "the number of live rows", h.Rows, 0, min(kept+h.ShrinkRows, h.Count))
		m.Within(64, "the number of orthogonal rows", h.Kept, 0, min(kept, h.Rows))
	}
	if h.Shrinks == 0 {
		m.Within(64, "the number of orthogonal rows without shrinks", h.Kept, 0, 0)
	}
	frob := twofold.TotalFromParts(h.Frob, h.FrobLow)
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

// checkNumbers reports numbers that Append would not have accepted.
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
		if v := s.sums[i].Value(); !(math.Abs(sum) <= largest &&
			math.Abs(low) <= largest &&
			math.Abs(v) <= largest) {
			m.Fail(at+16*int64(i), nil, "entry %d of the scatter matrix is %v, corrected by %v", i, sum, low)
			return
		}
	}
	// k is the position of diagonal entry i in the lower triangle s.sums, which is stored row by row. For
	// i = 0, 1, 2, 3, … it is 0, 2, 5, 9, ….
	for i, k := 0, 0; k < len(s.sums); i, k = i+1, k+i+2 {
		if !(s.sums[k].Value() >= 0) {
			m.Fail(at+16*int64(k), nil, "entry %d of the diagonal of the scatter matrix is %v", i, s.sums[k].Value())
			return
		}
	}
	at += 16 * int64(len(s.sums))
	var total twofold.Total
	centres := s.centres()
	for i := range s.rows {
		row := s.row(i)
		norm2 := squares(row)
		e, ok := errors.AsType[*NonFiniteError](checkFinite(i, 0, nil, row, norm2))
		if ok {
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
