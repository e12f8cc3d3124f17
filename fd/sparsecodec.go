package fd

import (
	"errors"
	"math"

	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/wire"
)

// sparseHeader holds the numbers that precede the sparse rows in a message of format version 3 or 4. It follows the
// sketchHeader.
type sparseHeader struct{ Most, Rows, Entries uint64 }

const sparseHeaderSize = 3 * 8

func (w *sparseRows) header() sparseHeader {
	return sparseHeader{uint64(w.most), uint64(w.Rows), uint64(len(w.Val))}
}

// content returns the number of bytes that the sparse rows take in a message of the given version.
func (h sparseHeader) content(version uint32) int64 {
	n := sparseHeaderSize + 8*int64(h.Rows+1) + 12*int64(h.Entries)
	if version == versionCentred {
		n += 16 * int64(h.Rows)
	}
	return n
}

// rows returns the value of Config.SparseRows for this header.
func (h sparseHeader) rows() int {
	if h.Most == 0 {
		return -1
	}
	return int(h.Most)
}

// writeSparse writes the sparse rows. It writes nothing if the message has format version 1 or 2.
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

// read reads the message part that writeSparse wrote.
func (w *sparseRows) read(m *wire.Reader, h sparseHeader, version uint32) {
	w.Rows = int(h.Rows)
	w.RowPtr = m.Ints(w.Rows + 1)
	w.ColIdx = m.Int32s(int(h.Entries))
	w.Val = m.Float64s(int(h.Entries))
	if version == versionCentred {
		w.times = m.Float64s(w.Rows)
		w.centre = m.Ints(w.Rows)
	} else if m.Err() == nil {
		w.times = make([]float64, w.Rows)
		w.centre = make([]int, w.Rows)
	}
}

// check calls m.Fail if a number in the sparse header w is invalid. The header h of the sketch must be valid.
func (w *sparseHeader) check(m *wire.Reader, h *sketchHeader, version uint32) {
	if m.Err() != nil {
		return
	}
	kept := min(h.Size, h.Dim)
	most := uint64(math.MaxInt)
	if h.Driver != uint64(Gram) || kept == h.Dim {
		most = 0
	}
	m.Within(120, "the limit of sparse rows", w.Most, 0, most)
	if m.Err() == nil &&
		!addressable(int(kept), int(w.Most), 1) {
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
		rows = h.Count // checkCentres checks that each centre has a row
	}
	m.Within(128, "the number of sparse rows", w.Rows, 0, min(live, rows))
	s := Sketch{cfg: Config{Dim: int(h.Dim)}, p: int(h.ShrinkRows)}
	m.Within(136, "the number of entries of sparse rows", w.Entries, 0, uint64(s.maxEntries()))
}

// checkSparse calls m.Fail if Append would not have stored the sparse rows in this form, or if an older format
// version suffices.
func (s *Sketch) checkSparse(m *wire.Reader, version uint32) {
	if version != s.version() {
		m.Fail(8, nil, "format version %d, but the sketch requires version %d", version, s.version())
		return
	}
	w := &s.sparse
	at := int64(24+headerSize+sparseHeaderSize) +
		8*int64(s.kept) +
		8*int64(s.rows)*int64(s.cfg.Dim)
	columns := at + 8*int64(w.Rows+1)
	values := columns + 4*int64(len(w.ColIdx))
	if w.Rows == 0 && version < versionSparse {
		return
	}
	if w.RowPtr[0] != 0 || w.RowPtr[w.Rows] != len(w.Val) {
		m.Fail(
			at,
			nil,
			"the entries of sparse rows are from %d to %d, not from 0 to %d",
			w.RowPtr[0],
			w.RowPtr[w.Rows],
			len(w.Val),
		)
		return
	}
	s.checkCentres(m, values+8*int64(len(w.Val)), version)
	if m.Err() != nil {
		return
	}
	var total twofold.Total
	for i := range w.Rows {
		idx, val, err := CheckRow(i, &w.CSR)
		if err != nil || len(idx) > s.cfg.Dim/SparseShare {
			m.Fail(
				at+8*int64(i),
				err,
				"sparse row %d must have at most %d entries, in increasing columns below %d",
				i,
				s.cfg.Dim/SparseShare,
				s.cfg.Dim,
			)
			return
		}
		norm2 := squares(val)
		e, ok := errors.AsType[*NonFiniteError](checkFinite(i, 0, nil, val, norm2))
		if ok {
			m.Fail(values+8*int64(w.RowPtr[i]+e.Col), e, "entry %d of sparse row %d is %v", e.Col, i, e.Value)
			return
		}
		if w.centre[i] == 0 { // with a centre, norm2 covers only a part of the appended row
			total.Add(norm2)
		}
		if !(total.Value() <= largest && norm2 <= largest) {
			m.Fail(values+8*int64(w.RowPtr[i]), &RangeError{Row: i}, "%v", &RangeError{Row: i})
			return
		}
	}
}

// checkCentres calls m.Fail if Append would not have stored the centres of the sparse rows, and the factors of
// these centres, in this form. The argument at is the position of the factors in the message, in bytes. The centres
// follow the factors.
func (s *Sketch) checkCentres(m *wire.Reader, at int64, version uint32) {
	w := &s.sparse
	if version != versionCentred {
		return
	}
	var c centre
	last := 0 // centres have the same order as their rows
	for i, slot := range w.centre {
		f := w.times[i]
		switch {
		case slot > 0 && slot < last:
			m.Fail(
				at+8*int64(w.Rows+i),
				nil,
				"the centre of sparse row %d is row %d, less than the centre of an earlier row",
				i,
				slot,
			)
			return
		case slot != 0 && (slot <= s.kept || slot > s.rows):
			m.Fail(
				at+8*int64(w.Rows+i),
				nil,
				"the centre of sparse row %d is row %d, not 0 and not between %d and %d",
				i,
				slot,
				s.kept+1,
				s.rows,
			)
			return
		case slot == 0 && f != 0 || slot > 0 && f == 0:
			m.Fail(at+8*int64(i), nil, "sparse row %d has the multiple %v of centre %d", i, f, slot)
			return
		}
		if slot > 0 {
			last = slot
			v := s.centreOf(i, &c).timesSquares(f)
			if c.isFaint() || !(v <= largest && f*f <= largest) {
				m.Fail(
					at+8*int64(i),
					&RangeError{Row: i},
					"sparse row %d has the multiple %v of a centre of squared norm %v",
					i,
					f,
					c.norm2,
				)
				return
			}
		}
	}
	rows := int64(s.rows - s.countCentres() + w.Rows)
	if rows > s.count {
		m.Fail(72, nil, "%d rows were appended, but %d are left", s.count, rows)
	}
}
