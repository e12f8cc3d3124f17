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

func (s *Summary) header() summaryHeader {
	weight, _ := s.stage.Weight.Parts()
	h := summaryHeader{
		Dim: uint64(s.cfg.Dim), Targets: uint64(s.cfg.Targets), Rows: uint64(s.stage.Rows),
		Weight: weight, Raw: s.raw, Decays: uint64(s.stage.Decays),
		Meta: uint64(len(s.Meta)), Sketch: uint64(s.sketch.BinarySize()),
	}
	if s.cfg.Intercept {
		h.Flags |= flagIntercept
	}
	if s.stage.Weighted {
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
// What takes 16 bytes is a sum and its correction, which are to be added. The backend is not
// written.
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

// errUnmade reports the zero value of a summary, or nil.
var errUnmade = fmt.Errorf("%w: a summary without dimensions, made by neither NewSummary nor ReadSummary", errShape)

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
	_, low := s.stage.Weight.Parts()
	m.Struct(weightHeader{low, s.stage.WeightError})
	m.Bytes(s.Meta)
	m.Float64s(s.stage.Origin)
	m.Sums(s.stage.Sum)
	m.Float64s(s.stage.SumError)
	m.Float64s(s.stage.Moved)
	for _, some := range s.stage.NonZero {
		b := [1]byte{}
		if some {
			b[0] = 1
		}
		m.Bytes(b[:])
	}
	m.Sums(s.sums.yy)
	m.Sums(s.sums.cross)
	_, err := s.sketch.WriteTo(m)
	m.Fail(err)
	return m.Close()
}

// UnmarshalBinary makes s the summary that [Summary.MarshalBinary] returned, which
// data must hold and nothing else. It is otherwise like [Summary.ReadFrom].
func (s *Summary) UnmarshalBinary(data []byte) error {
	r := bytes.NewReader(data)
	read, n, err := readSummary(r, s.cfg.Backend)
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
	s.cfg, s.sketch, s.stage, s.sums = o.cfg, o.sketch, o.stage, o.sums
	s.raw, s.sparse, s.unwatched, s.Meta = o.raw, o.sparse, o.unwatched, o.Meta
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
