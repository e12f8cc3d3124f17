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

// summaryHeader is a summary's message from byte 24 on, up to Meta.
type summaryHeader struct {
	Dim, Targets, Flags, Rows uint64
	Weight, Raw               float64
	Decays                    uint64
	Meta, Sketch              uint64 // lengths
}

const headerSize = 8 * 9

// Flags of a header.
const (
	flagIntercept = 1 << iota
	flagWeighted
	flagSparse
	flagsEnd
)

func (s *Summary) header() summaryHeader {
	h := summaryHeader{
		Dim: uint64(s.cfg.Dim), Targets: uint64(s.cfg.Targets), Rows: uint64(s.stage.rows),
		Weight: s.stage.weight, Raw: s.raw, Decays: uint64(s.stage.decays),
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
	return h
}

// content is the size of all between the preamble and the checksum.
func (h *summaryHeader) content() int64 {
	d, t := int64(h.Dim), int64(h.Targets)
	return headerSize + int64(h.Meta) + 24*(d+t) + 16*t + 16*t*d + int64(h.Sketch)
}

// MaxMeta is the most bytes of [Summary.Meta] that can be written: 1 MiB.
const MaxMeta = 1 << 20

// BinarySize is how many bytes [Summary.MarshalBinary] and [Summary.WriteTo] make
// of the summary as it stands.
func (s *Summary) BinarySize() int64 {
	h := s.header()
	return wire.Frame + h.content()
}

// MarshalBinary returns all that the summary is, so that appending, merging and
// solving go on, bit for bit, as if it had never been written. Format version 1,
// little-endian:
//
//	offset  bytes
//	0       8         magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4         format version: 1
//	12      4         kind of message: 2, a summary
//	16      8         length of the message, checksum included
//	24      8         d, the number of features
//	32      8         t, the number of targets
//	40      8         flags: 1 intercept, 2 rows came weighted, 4 rows came sparse
//	48      8         n, rows seen
//	56      8         Σw, their weight
//	64      8         sum of squares of all that was read
//	72      8         decays
//	80      8         u ≤ 2²⁰, length of Meta
//	88      8         v, length of the sketch's message
//	96      u         Meta
//	        8·(d+t)   origin of the means
//	        16·(d+t)  Σw·(row − origin)
//	        16·t      ‖Y‖² of each target
//	        16·t·d    c = AᵀY, one target after the other
//	        v         the sketch, a message as of [fd.Sketch.MarshalBinary]
//	        4         CRC-32C (Castagnoli) of all bytes before
//
// What takes 16 bytes is a sum and its correction, which are added. The backend
// is no part of it.
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
	m := wire.NewWriter(w, wire.Summary, h.content())
	m.Struct(h)
	m.Bytes(s.Meta)
	m.Float64s(s.stage.origin)
	m.Sums(s.stage.sum)
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
	s.spec = nil
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
	size := m.Preamble(wire.Summary)
	m.Struct(&h)
	h.check(m, size)
	if m.Err() != nil {
		return nil
	}
	d, t := int(h.Dim), int(h.Targets)
	s := &Summary{
		cfg:    SummaryConfig{Dim: d, Targets: t, Intercept: h.Flags&flagIntercept != 0},
		raw:    h.Raw,
		sparse: h.Flags&flagSparse != 0,
		Meta:   m.Bytes(int(h.Meta)),
	}
	s.stage = &stage{
		d: d, t: t, intercept: s.cfg.Intercept,
		rows: int64(h.Rows), weight: h.Weight, weighted: h.Flags&flagWeighted != 0, decays: int64(h.Decays),
		origin: m.Float64s(d + t), sum: m.Sums(d + t),
	}
	s.yy, s.cross = m.Sums(t), m.Sums(t*d)
	s.sketch = readSketch(m, be, int64(h.Sketch))
	m.Close()
	if m.Err() != nil {
		return nil
	}
	s.stage.mean, s.stage.block = make([]float64, d+t), make([]float64, d+t)
	if s.cfg.Intercept && s.stage.weight > 0 {
		s.stage.average()
	}
	s.checkSums(m, 24+headerSize+int64(h.Meta))
	c := s.sketch.Config()
	s.cfg.Size, s.cfg.Shrink, s.cfg.ShrinkRows, s.cfg.Backend, s.be = c.Size, c.Shrink, c.ShrinkRows, c.Backend, c.Backend
	return s
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
func (h *summaryHeader) check(m *wire.Reader, size int64) {
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
	within(40, "the word of flags", h.Flags, 0, flagsEnd-1)
	within(48, "the number of rows", h.Rows, 0, math.MaxInt64)
	within(72, "the number of decays", h.Decays, 0, math.MaxInt64)
	within(80, "the length of Meta", h.Meta, 0, MaxMeta)
	within(88, "the length of the sketch", h.Sketch, 0, uint64(size))
	if m.Err() == nil && h.content() != size {
		m.Fail(16, nil, "the length is %d, the counts make it %d", size+wire.Frame, h.content()+wire.Frame)
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
