package ridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/wire"
)

// summaryHeader is a summary's message from byte 24 on, up to Meta or, from version 2
// on, to weightHeader.
type summaryHeader struct {
	Dim, Targets, Flags, Rows uint64
	Weight, Raw               float64
	Decays                    uint64
	Meta, Sketch              uint64 // lengths
}

// weightHeader is what version 2 has more of the weight.
type weightHeader struct{ Low, Error float64 }

const (
	headerSize       = 8 * 9
	weightHeaderSize = 8 * 2
)

// Flags of a header.
const (
	flagIntercept = 1 << iota
	flagWeighted
	flagSparse
	flagUnwatched // from version 2 on
	flagsEnd
)

func (s *Summary) header() summaryHeader {
	weight, _ := s.stage.weight.Parts()
	h := summaryHeader{
		Dim: uint64(s.cfg.Dim), Targets: uint64(s.cfg.Targets), Rows: uint64(s.stage.rows),
		Weight: weight, Raw: s.raw, Decays: uint64(s.stage.decays),
		Meta: uint64(len(s.Meta)), Sketch: uint64(s.sketch.BinarySize()),
	}
	if s.cfg.Intercept {
		h.Flags |= flagIntercept
	}
	if s.stage.weighted {
		h.Flags |= flagWeighted
	}
	if s.sparse {
		h.Flags |= flagSparse
	}
	if s.unwatched {
		h.Flags |= flagUnwatched
	}
	return h
}

// content is the size of all between the preamble and the checksum.
func (h *summaryHeader) content(version uint32) int64 {
	d, t := int64(h.Dim), int64(h.Targets)
	size := headerSize + int64(h.Meta) + 24*(d+t) + 16*t + 16*t*d + int64(h.Sketch)
	if version > 1 {
		size += weightHeaderSize + 16*(d+t) + 16*d + 1 + t
	}
	return size
}

// MaxMeta is the most bytes of [Summary.Meta] that can be written: 1 GiB.
const MaxMeta = 1 << 30

// BinarySize is how many bytes [Summary.MarshalBinary] and [Summary.WriteTo] make
// of the summary as it stands.
func (s *Summary) BinarySize() int64 {
	h := s.header()
	return wire.Frame + h.content(wire.Summary.Version())
}

// MarshalBinary returns all that the summary is, so that appending, merging and
// solving go on, bit for bit, as if it had never been written. Format version 2,
// little-endian:
//
//	offset  bytes
//	0       8         magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4         format version: 2
//	12      4         kind of message: 2, a summary
//	16      8         length of the message, checksum included
//	24      8         d, the number of features
//	32      8         t, the number of targets
//	40      8         flags: 1 intercept, 2 rows came weighted, 4 rows came sparse, 8 some without a witness
//	48      8         n, rows seen
//	56      8         Σw, their weight, without correction
//	64      8         sum of squares of all that was read
//	72      8         decays
//	80      8         u ≤ 2³⁰, length of Meta
//	88      8         v, length of the sketch's message
//	96      8         correction of Σw
//	104     8         bound on what decays have done to Σw
//	112     u         Meta
//	        8·(d+t)   origin of the means
//	        16·(d+t)  Σw·(row − origin)
//	        8·(d+t)   bounds on what these are off by
//	        8·(d+t)   bounds on the norm of what centring has put wrong in each column
//	        1+t       1 where an entry of the features, of each target, wasn't zero, else 0
//	        16·t      ‖Y‖² of each target
//	        16·t·d    c = AᵀY, one target after the other
//	        16·d      Kh, the witness
//	        v         the sketch, a message as of [fd.Sketch.MarshalBinary]
//	        4         CRC-32C (Castagnoli) of all bytes before
//
// What takes 16 bytes is a sum and its correction, which are added. The backend
// is no part of it.
//
// Version 1, which is still read, has Meta at byte 96 and neither the two numbers before
// it nor the bounds, the 1+t bytes and the witness. What they would say is taken to be
// the worst that can have been: with an intercept certificates are wide, and of rows that
// were weighted too nothing can be certified ([ErrUnproven]).
func (s *Summary) MarshalBinary() ([]byte, error) {
	if s.sketch == nil {
		return nil, errUnmade
	}
	b := bytes.NewBuffer(make([]byte, 0, s.BinarySize()))
	if _, err := s.WriteTo(b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var errUnmade = fmt.Errorf("%w: a summary without dimensions, made by neither NewSummary nor ReadSummary", ErrShape)

// WriteTo writes what [Summary.MarshalBinary] returns, piece by piece, without a
// second copy of the sketch in memory.
func (s *Summary) WriteTo(w io.Writer) (int64, error) {
	if s.sketch == nil {
		return 0, errUnmade
	}
	if len(s.Meta) > MaxMeta {
		return 0, fmt.Errorf("ridge: Meta has %d bytes, at most %d can be written", len(s.Meta), MaxMeta)
	}
	h := s.header()
	m := wire.NewWriter(w, wire.Summary, h.content(wire.Summary.Version()))
	m.Struct(h)
	_, low := s.stage.weight.Parts()
	m.Struct(weightHeader{low, s.stage.weightError})
	m.Bytes(s.Meta)
	m.Float64s(s.stage.origin)
	m.Sums(s.stage.sum)
	m.Float64s(s.stage.sumError)
	m.Float64s(s.stage.moved)
	for _, some := range s.stage.some {
		b := [1]byte{}
		if some {
			b[0] = 1
		}
		m.Bytes(b[:])
	}
	m.Sums(s.yy)
	m.Sums(s.cross)
	_, err := s.sketch.WriteTo(m)
	m.Fail(err)
	return m.Close()
}

// UnmarshalBinary makes s the summary that [Summary.MarshalBinary] returned, which
// data must hold and nothing else. It is otherwise like [Summary.ReadFrom].
func (s *Summary) UnmarshalBinary(data []byte) error {
	r := bytes.NewReader(data)
	read, n, err := readSummary(r, s.be)
	switch {
	case err == io.EOF:
		return &fd.FormatError{Reason: "no message", Err: io.ErrUnexpectedEOF}
	case err != nil:
		return err
	case r.Len() > 0:
		return &fd.FormatError{Offset: n, Reason: fmt.Sprintf("%d bytes follow the message", r.Len())}
	}
	s.become(read)
	return nil
}

// ReadFrom makes s the summary that [Summary.WriteTo] wrote, on the terms of
// [fd.Sketch.ReadFrom]: it takes one message and leaves what follows, returns
// io.EOF where there is none and *[fd.FormatError] for one that is damaged,
// allocates no more than twice what came of the message and 64 KiB, and leaves s
// unchanged on every error. s, which may be the zero value, keeps its backend.
func (s *Summary) ReadFrom(r io.Reader) (int64, error) {
	read, n, err := readSummary(r, s.be)
	if err != nil {
		return n, err
	}
	s.become(read)
	return n, nil
}

// ReadSummary returns the next summary in r, for the backend be; nil is
// engine.Default(). See [Summary.ReadFrom].
func ReadSummary(r io.Reader, be engine.Backend) (*Summary, error) {
	s, _, err := readSummary(r, be)
	return s, err
}

// become makes s what o is, which is of no more use.
func (s *Summary) become(o *Summary) {
	s.cfg, s.be, s.sketch, s.stage = o.cfg, o.be, o.sketch, o.stage
	s.cross, s.yy, s.raw, s.sparse, s.Meta = o.cross, o.yy, o.raw, o.sparse, o.Meta
	s.unwatched, s.probe, s.spec = o.unwatched, o.probe, nil
}

func readSummary(r io.Reader, be engine.Backend) (*Summary, int64, error) {
	m := wire.NewReader(r)
	s := decode(m, be)
	if err := m.Err(); err != nil {
		if e, ok := errors.AsType[*wire.Error](err); ok {
			err = (*fd.FormatError)(e)
		}
		return nil, m.N(), err
	}
	return s, m.N(), nil
}

func decode(m *wire.Reader, be engine.Backend) *Summary {
	var h summaryHeader
	version, size := m.Preamble(wire.Summary)
	m.Struct(&h)
	h.check(m, version, size)
	if m.Err() != nil {
		return nil
	}
	s := &Summary{
		cfg:    SummaryConfig{Dim: int(h.Dim), Targets: int(h.Targets), Intercept: h.Flags&flagIntercept != 0},
		raw:    h.Raw,
		sparse: h.Flags&flagSparse != 0, unwatched: h.Flags&flagUnwatched != 0,
	}
	s.stage = &stage{
		d: s.cfg.Dim, t: s.cfg.Targets, intercept: s.cfg.Intercept,
		rows: int64(h.Rows), weighted: h.Flags&flagWeighted != 0, decays: int64(h.Decays),
	}
	var w weightHeader
	if version > 1 {
		m.Struct(&w)
	}
	s.stage.weight, s.stage.weightError = neumaier.FromParts(h.Weight, w.Low), w.Error
	s.Meta = m.Bytes(int(h.Meta))
	at := m.N()
	s.decodeSums(m, version)
	s.sketch = readSketch(m, be, int64(h.Sketch))
	m.Close()
	if m.Err() != nil {
		return nil
	}
	s.checkWeight(m)
	s.checkSums(m, at)
	if m.Err() == nil && version == 1 {
		s.assumeWorst()
	}
	c := s.sketch.Config()
	s.cfg.Size, s.cfg.Shrink, s.cfg.ShrinkRows, s.cfg.Backend, s.be = c.Size, c.Shrink, c.ShrinkRows, c.Backend, c.Backend
	return s
}

// decodeSums reads what lies between Meta and the sketch.
func (s *Summary) decodeSums(m *wire.Reader, version uint32) {
	d, t, st := s.cfg.Dim, s.cfg.Targets, s.stage
	st.origin, st.sum = m.Float64s(d+t), m.Sums(d+t)
	if version == 1 {
		s.yy, s.cross = m.Sums(t), m.Sums(t*d)
	} else {
		st.sumError, st.moved = m.Float64s(d+t), m.Float64s(d+t)
		at := m.N()
		for i, b := range m.Bytes(1 + t) {
			if b > 1 {
				m.Fail(at+int64(i), nil, "whether entries are not zero is %d, not 0 or 1", b)
			}
			st.some = append(st.some, b == 1)
		}
		s.yy, s.cross = m.Sums(t), m.Sums((t+1)*d)
	}
	if m.Err() != nil {
		return
	}
	st.mean = make([]float64, d+t)
	if st.intercept && st.weight.Value() > 0 {
		st.average()
	}
}

// assumeWorst takes for a message of format version 1 what it doesn't tell to be the
// worst that can have been. Rows that all count once have been moved, from origins that
// are rows too, by no more than Σ‖row − origin‖² ≤ 2(1+n)Σ‖row‖²; in n merges at most
// each sum was rounded once by such a distance. Of weighted rows nothing is known: the
// weight of the row that became an origin may have been next to nothing.
func (s *Summary) assumeWorst() {
	st, n := s.stage, float64(s.stage.rows)
	s.unwatched = true
	s.cross = append(s.cross, make([]neumaier.Sum, s.cfg.Dim)...)
	st.sumError, st.moved = make([]float64, st.d+st.t), make([]float64, st.d+st.t)
	for range 1 + st.t {
		st.some = append(st.some, n > 0)
	}
	if !st.intercept || n == 0 {
		return
	}
	far := math.Sqrt(2*(1+n)*s.raw) * inflate
	off := 4 * blockRow * ulp * n * far
	if st.weighted {
		off = math.Inf(1)
	}
	for j := range st.moved {
		st.moved[j], st.sumError[j] = off, off*math.Sqrt(n)
	}
}

// readSketch reads the sketch that is part of a summary's message, of size bytes.
func readSketch(m *wire.Reader, be engine.Backend, size int64) *fd.Sketch {
	if m.Err() != nil {
		return nil
	}
	at := m.N()
	sketch, err := fd.ReadSketch(m, be)
	switch e, ok := errors.AsType[*fd.FormatError](err); {
	case ok:
		m.Fail(at+e.Offset, e.Err, "in the sketch: %s", e.Reason)
	case err != nil:
		m.Stop(err)
	case m.N()-at != size:
		m.Fail(88, nil, "the length of the sketch is %d, it was to be %d", m.N()-at, size)
	}
	return sketch
}

// check finds what is wrong with the header, before anything is made of it.
func (h *summaryHeader) check(m *wire.Reader, version uint32, size int64) {
	if m.Err() != nil {
		return
	}
	within := func(offset int64, what string, v, lo, hi uint64) {
		if v < lo || v > hi {
			m.Fail(offset, nil, "%s is %d, not between %d and %d", what, v, lo, hi)
		}
	}
	within(24, "the number of features", h.Dim, 1, maxCross)
	within(32, "the number of targets", h.Targets, 1, maxCross)
	if hi, td := bits.Mul64(h.Dim, h.Targets); hi != 0 || td > maxCross {
		m.Fail(24, fd.ErrSize, "summary too large for this machine: t·d = %d·%d", h.Targets, h.Dim)
		return
	}
	flags := uint64(flagsEnd - 1)
	if version == 1 {
		flags = flagUnwatched - 1
	}
	within(40, "the word of flags", h.Flags, 0, flags)
	within(48, "the number of rows", h.Rows, 0, math.MaxInt64)
	within(72, "the number of decays", h.Decays, 0, math.MaxInt64)
	within(80, "the length of Meta", h.Meta, 0, MaxMeta)
	within(88, "the length of the sketch", h.Sketch, 0, uint64(size))
	if m.Err() == nil && h.content(version) != size {
		m.Fail(16, nil, "the length is %d, the counts make it %d", size+wire.Frame, h.content(version)+wire.Frame)
	}
	switch n := float64(h.Rows); {
	case !(h.Weight >= 0 && h.Weight <= math.MaxFloat64),
		h.Flags&flagWeighted == 0 && h.Weight != n, h.Rows == 0 && h.Weight != 0:
		m.Fail(56, nil, "the weight of %d rows is %v", h.Rows, h.Weight)
	case !(h.Raw >= 0 && h.Raw <= maxSquares), h.Rows == 0 && h.Raw != 0:
		m.Fail(64, nil, "the sum of squares of %d rows is %v", h.Rows, h.Raw)
	}
}

// maxCross is the most entries of c whose sums, with corrections, can be addressed.
const maxCross = min(1<<44, math.MaxInt/16)

// What [Summary.Append] admits keeps c and ‖Y‖² below maxSum, the means and their
// origin below maxMean, round-off included.
const (
	maxSum  = 8 * maxSquares
	maxMean = 0x1p501
)

// checkWeight finds a correction of the weight, or a bound on its round-off, that no
// rows have.
func (s *Summary) checkWeight(m *wire.Reader) {
	w, low := s.stage.weight.Parts()
	if off := s.stage.weightError; !(math.Abs(low) <= 1e-6*w) || !(off >= 0 && off <= math.MaxFloat64) || (!s.stage.weighted && (low != 0 || off != 0)) {
		m.Fail(24+headerSize, nil, "the weight of %v is corrected by %v and off by %v", w, low, off)
	}
}

// checkSums finds numbers that no rows sum to, and a sketch that is not of them;
// the sums start at offset at of the message.
func (s *Summary) checkSums(m *wire.Reader, at int64) {
	within := func(what string, i int, width int64, limit float64, v ...float64) {
		for _, v := range v {
			if !(math.Abs(v) <= limit) {
				m.Fail(at+int64(i)*width, nil, "%s: number %d is %v", what, i, v)
			}
		}
	}
	sums := func(what string, limit float64, x []neumaier.Sum) {
		for i, v := range x {
			sum, low := v.Parts()
			within(what, i, 16, limit, sum, low, v.Value())
		}
	}
	st := s.stage
	for i, v := range st.origin {
		within("the origin of the means", i, 8, maxMean, v)
	}
	at += 8 * int64(len(st.origin))
	sums("the sums of the means", math.MaxFloat64, st.sum)
	for i, v := range st.mean {
		within("the means", i, 16, maxMean, v)
	}
	at += 16 * int64(len(st.sum))
	for _, bounds := range [][]float64{st.sumError, st.moved} {
		for i, v := range bounds {
			if !(v >= 0) {
				m.Fail(at+8*int64(i), nil, "a bound on round-off is %v", v)
			}
		}
		at += 8 * int64(len(bounds))
	}
	at += int64(len(st.some))
	sums("the squared norms of the targets", maxSum, s.yy)
	for i, v := range s.yy {
		if v.Value() < 0 {
			m.Fail(at+16*int64(i), nil, "the squared norm of target %d is %v", i, v.Value())
		}
	}
	at += 16 * int64(len(s.yy))
	sums("the products with the targets", maxSum, s.cross)
	at += 16 * int64(len(s.cross))
	n := s.sketch.Rows()
	if s.sketch.Dim() != st.d || n < st.rows || (n > st.rows && !st.intercept) {
		m.Fail(at, nil, "the sketch has %d rows of dimension %d, the summary %d of %d", n, s.sketch.Dim(), st.rows, st.d)
	}
}
