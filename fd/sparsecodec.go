package fd

import (
	"errors"
	"math"

	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/wire"
)

// sparseHeader is what a sketch's message of format version 3 or 4 has of its sparse rows, behind
// sketchHeader.
type sparseHeader struct{ Most, Rows, Entries uint64 }

const sparseHeaderSize = 3 * 8

func (w *sparseRows) header() sparseHeader {
	return sparseHeader{uint64(w.most), uint64(w.Rows), uint64(len(w.Val))}
}

// content is how many bytes the message of that version has of sparse rows.
func (h sparseHeader) content(version uint32) int64 {
	n := sparseHeaderSize + 8*int64(h.Rows+1) + 12*int64(h.Entries)
	if version == versionCentred {
		n += 16 * int64(h.Rows)
	}
	return n
}

// rows is SparseRows of the sketch's Config.
func (h sparseHeader) rows() int {
	if h.Most == 0 {
		return -1
	}
	return int(h.Most)
}

// writeSparse writes what follows the other rows, which is nothing before format version 3.
func (s *Sketch) writeSparse(m *wire.Writer) {
	version := s.version()
	if version < versionSparse {
		return
	}
	if w := &s.sparse; w.Rows > 0 {
		m.Ints(w.RowPtr)
	} else {
		m.Ints([]int{0})
	}
	m.Int32s(s.sparse.ColIdx)
	m.Float64s(s.sparse.Val)
	if version == versionCentred {
		m.Float64s(s.sparse.times)
		m.Ints(s.sparse.centre)
	}
}

// read reads what writeSparse wrote.
func (w *sparseRows) read(m *wire.Reader, h sparseHeader, version uint32) {
	w.Rows = int(h.Rows)
	w.RowPtr = m.Ints(w.Rows + 1)
	w.ColIdx = m.Int32s(int(h.Entries))
	w.Val = m.Float64s(int(h.Entries))
	if version == versionCentred {
		w.times, w.centre = m.Float64s(w.Rows), m.Ints(w.Rows)
	} else if m.Err() == nil {
		w.times, w.centre = make([]float64, w.Rows), make([]int, w.Rows)
	}
}

// check finds what is wrong with the header, before anything is made of it: h is known to be good.
func (w *sparseHeader) check(m *wire.Reader, h *sketchHeader, version uint32) {
	if m.Err() != nil {
		return
	}
	within := func(offset int64, what string, v, hi uint64) {
		if v > hi {
			m.Fail(offset, nil, "%s is %d, not between 0 and %d", what, v, hi)
		}
	}
	kept := min(h.Size, h.Dim)
	most := uint64(math.MaxInt)
	if h.Driver != uint64(Gram) || kept == h.Dim {
		most = 0
	}
	within(120, "the number of sparse rows kept", w.Most, most)
	if m.Err() == nil && !addressable(int(kept), int(w.Most), 1) {
		m.Fail(120, ErrSize, "sketch too large for this machine: (m+r)² = (%d+%d)²", kept, w.Most)
	}
	if m.Err() != nil {
		return
	}
	live := kept + max(h.ShrinkRows, w.Most) - h.Rows
	if w.Most == 0 {
		live = 0
	}
	rows := h.Count - h.Rows
	if version == versionCentred {
		rows = h.Count // as each centre among the others has a row that it is of, see checkCentres
	}
	within(128, "the number of sparse rows", w.Rows, min(live, rows))
	s := Sketch{cfg: Config{Dim: int(h.Dim)}, p: int(h.ShrinkRows)}
	within(136, "the number of entries of sparse rows", w.Entries, uint64(s.entries()))
}

// checkSparse finds sparse rows that Append would not have kept, and a message of a format version
// that it needs not have.
func (s *Sketch) checkSparse(m *wire.Reader, version uint32) {
	if version != s.version() {
		m.Fail(8, nil, "format version %d of a sketch that has %d", version, s.version())
		return
	}
	w := &s.sparse
	at := int64(24+headerSize+sparseHeaderSize) + 8*int64(s.kept) + 8*int64(s.rows)*int64(s.cfg.Dim)
	columns := at + 8*int64(w.Rows+1)
	values := columns + 4*int64(len(w.ColIdx))
	if w.Rows == 0 && version < versionSparse {
		return
	}
	if w.RowPtr[0] != 0 || w.RowPtr[w.Rows] != len(w.Val) {
		m.Fail(at, nil, "the entries of sparse rows are from %d to %d, not from 0 to %d", w.RowPtr[0], w.RowPtr[w.Rows], len(w.Val))
		return
	}
	s.checkCentres(m, values+8*int64(len(w.Val)), version)
	if m.Err() != nil {
		return
	}
	var total neumaier.Sum
	for i := range w.Rows {
		idx, val, err := CheckRow(i, &w.CSR)
		if err != nil || len(idx) > s.cfg.Dim/SparseShare {
			m.Fail(at+8*int64(i), err, "sparse row %d is not one of at most %d entries in columns that increase, below %d", i, s.cfg.Dim/SparseShare, s.cfg.Dim)
			return
		}
		norm2 := squares(val)
		if e, ok := errors.AsType[*NonFiniteError](finite(i, 0, nil, val, norm2)); ok {
			m.Fail(values+8*int64(w.RowPtr[i]+e.Col), e, "entry %d of sparse row %d is %v", e.Col, i, e.Value)
			return
		}
		if w.centre[i] == 0 { // the sum is one of rows, and these are parts of such
			total.Add(norm2)
		}
		if !(total.Value() <= largest && norm2 <= largest) {
			m.Fail(values+8*int64(w.RowPtr[i]), &RangeError{Row: i}, "%v", &RangeError{Row: i})
			return
		}
	}
}

// checkCentres finds rows that Append would not have kept less a centre, at offset at of the message.
func (s *Sketch) checkCentres(m *wire.Reader, at int64, version uint32) {
	w := &s.sparse
	if version != versionCentred {
		return
	}
	var c centre
	last := 0 // slot: centres come behind each other, as their rows do
	for i, slot := range w.centre {
		f := w.times[i]
		switch {
		case slot > 0 && slot < last:
			m.Fail(at+8*int64(w.Rows+i), nil, "the centre of sparse row %d is row %d, before that of a row before it", i, slot)
			return
		case slot != 0 && (slot <= s.kept || slot > s.rows):
			m.Fail(at+8*int64(w.Rows+i), nil, "the centre of sparse row %d is row %d, not 0 and not between %d and %d", i, slot, s.kept+1, s.rows)
			return
		case slot == 0 && f != 0 || slot > 0 && f == 0:
			m.Fail(at+8*int64(i), nil, "sparse row %d is less %v times row %d", i, f, slot)
			return
		}
		if slot > 0 {
			last = slot
			if v := s.centreOf(i, &c).timesSquares(f); c.faint() || !(v <= largest && f*f <= largest) {
				m.Fail(at+8*int64(i), &RangeError{Row: i}, "sparse row %d is less %v times a row of squared norm %v", i, f, c.norm2)
				return
			}
		}
	}
	centres := 0
	for _, is := range s.centres() {
		if is {
			centres++
		}
	}
	if rows := int64(s.rows - centres + w.Rows); rows > s.count {
		m.Fail(72, nil, "%d rows were appended, of which %d are left", s.count, rows)
	}
}
