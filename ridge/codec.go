package ridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire"
)

// summaryHeader is a summary's message from byte 24 on. Meta follows, or, from version 2 on,
// weightHeader.
type summaryHeader struct {
	Dim, Targets, Flags, Rows uint64
	Weight, Raw               float64
	Decays                    uint64
	Meta, Sketch              uint64 // lengths
}

// weightHeader is what version 2 adds about the weight.
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

func (l *lane) header(meta []byte) summaryHeader {
	weight, _ := l.stage.Weight.Parts()
	h := summaryHeader{
		Dim: uint64(l.cfg.Dim), Targets: uint64(l.cfg.Targets), Rows: uint64(l.stage.Rows),
		Weight: weight, Raw: l.raw, Decays: uint64(l.stage.Decays),
		Meta: uint64(len(meta)), Sketch: uint64(l.sketch.BinarySize()),
	}
	if l.cfg.Intercept {
		h.Flags |= flagIntercept
	}
	if l.stage.Weighted {
		h.Flags |= flagWeighted
	}
	if l.sparse {
		h.Flags |= flagSparse
	}
	if l.unwatched {
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
// of the summary as it stands; 0 of the zero value, which they refuse.
func (s *Summary) BinarySize() int64 {
	if !s.made() {
		return 0
	}
	if s.cfg.Lanes == 1 {
		return s.lanes[0].binarySize(s.Meta)
	}
	h := s.lanesHeader()
	return wire.Frame + h.content(s.lanes)
}

func (l *lane) binarySize(meta []byte) int64 {
	h := l.header(meta)
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
// A summary of several lanes has a message of kind 5, format version 1, which holds one such
// message for each:
//
//	24      8         Lanes, more than 1
//	32      8         LaneRows
//	40      8         LanesAfter
//	48      8         k, the lanes that follow: Lanes, or 1 where they have yet to begin or were joined
//	56      8         u ≤ 2³⁰, length of Meta
//	64      u         Meta
//	        …         k messages of kind 2, without Meta
//	        4         CRC-32C of all bytes before
//
// What takes 16 bytes is a sum and its correction, which are to be added. The backend is not
// written.
//
// Version 1, which is still read, has Meta at byte 96 and neither the two numbers before
// it nor the bounds, the 1+t bytes and the witness. What they would say is taken to be
// the worst that can have been: with an intercept certificates are wide, and of rows that
// were weighted too nothing can be certified ([ErrUnproven]).
func (s *Summary) MarshalBinary() ([]byte, error) {
	if !s.made() {
		return nil, errUnmade
	}
	b := bytes.NewBuffer(make([]byte, 0, s.BinarySize()))
	if _, err := s.WriteTo(b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// errUnmade reports the zero value of a summary, or nil.
var errUnmade = fmt.Errorf("%w: a summary without dimensions, made by neither NewSummary nor ReadSummary", errShape)

// WriteTo writes what [Summary.MarshalBinary] returns, piece by piece, without a
// second copy of the sketch in memory.
func (s *Summary) WriteTo(w io.Writer) (int64, error) {
	if !s.made() {
		return 0, errUnmade
	}
	if err := s.writable(); err != nil {
		return 0, err
	}
	if len(s.Meta) > MaxMeta {
		return 0, fmt.Errorf("ridge: Meta has %d bytes, at most %d can be written", len(s.Meta), MaxMeta)
	}
	if s.cfg.Lanes > 1 {
		return s.writeLanes(w)
	}
	return s.lanes[0].writeTo(w, s.Meta)
}

func (l *lane) writeTo(w io.Writer, meta []byte) (int64, error) {
	h := l.header(meta)
	m := wire.NewWriter(w, wire.Summary, h.content(wire.Summary.Version()))
	m.Struct(h)
	_, low := l.stage.Weight.Parts()
	m.Struct(weightHeader{low, l.stage.WeightError})
	m.Bytes(meta)
	m.Float64s(l.stage.Origin)
	m.Sums(l.stage.Sum)
	m.Float64s(l.stage.SumError)
	m.Float64s(l.stage.Moved)
	for _, some := range l.stage.NonZero {
		b := [1]byte{}
		if some {
			b[0] = 1
		}
		m.Bytes(b[:])
	}
	m.Sums(l.sums.yy)
	m.Sums(l.sums.cross)
	_, err := l.sketch.WriteTo(m)
	m.Fail(err)
	return m.Close()
}

// UnmarshalBinary makes s the summary that [Summary.MarshalBinary] returned, which
// data must hold and nothing else. It is otherwise like [Summary.ReadFrom].
func (s *Summary) UnmarshalBinary(data []byte) error {
	read, err := only(data, s.cfg.Backend, readSummary)
	if err != nil {
		return err
	}
	s.become(read)
	return nil
}

// only reads the message that data are to hold, and nothing else.
func only[T any](data []byte, be engine.Backend, read func(io.Reader, engine.Backend) (*T, int64, error)) (*T, error) {
	r := bytes.NewReader(data)
	found, n, err := read(r, be)
	switch {
	case err == io.EOF:
		return nil, &fd.FormatError{Reason: "no message", Err: io.ErrUnexpectedEOF}
	case err != nil:
		return nil, err
	case r.Len() > 0:
		return nil, &fd.FormatError{Offset: n, Reason: fmt.Sprintf("%d bytes follow the message", r.Len())}
	}
	return found, nil
}

// ReadFrom makes s the summary that [Summary.WriteTo] wrote, on the terms of
// [fd.Sketch.ReadFrom]: it takes one message and leaves what follows, returns
// io.EOF where there is none and *[fd.FormatError] for one that is damaged,
// allocates no more than twice what came of the message and 64 KiB for each lane, and leaves s
// unchanged on every error. s, which may be the zero value, keeps its backend.
func (s *Summary) ReadFrom(r io.Reader) (int64, error) {
	read, n, err := readSummary(r, s.cfg.Backend)
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
	s.cfg, s.lanes, s.crew, s.Meta = o.cfg, o.lanes, o.crew, o.Meta
	s.penalty, s.ofWhole = nil, false
	s.changed()
}

func readSummary(r io.Reader, be engine.Backend) (*Summary, int64, error) {
	m := wire.NewReader(r)
	s := decode(m, be)
	return s, m.N(), formatError(m.Err())
}

// decode reads a summary, of one lane or of several; nil where m has an error then.
func decode(m *wire.Reader, be engine.Backend) *Summary {
	kind, version, size := m.PreambleOf(wire.Summary, wire.Lanes)
	if kind == wire.Lanes {
		return decodeLanes(m, be, size)
	}
	l, meta := decodeLane(m, be, version, size)
	if m.Err() != nil {
		return nil
	}
	return &Summary{cfg: l.cfg, lanes: []*lane{l}, Meta: meta}
}

// formatError is the error of a message in this package's type.
func formatError(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return (*fd.FormatError)(e)
	}
	return err
}
