package ridge

import (
	"bytes"
	"io"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// MaxMeta is the most bytes of [Summary.Meta] that can be written: 1 GiB.
const MaxMeta = accum.MaxMeta

// BinarySize is how many bytes [Summary.MarshalBinary] and [Summary.WriteTo] make
// of the summary as it stands; 0 of the zero value, which they refuse.
func (s *Summary) BinarySize() int64 {
	if !s.made() {
		return 0
	}
	return s.sum.BinarySize(s.Meta)
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

// WriteTo writes what [Summary.MarshalBinary] returns, piece by piece, without a
// second copy of the sketch in memory.
func (s *Summary) WriteTo(w io.Writer) (int64, error) {
	if !s.made() {
		return 0, errUnmade
	}
	if err := s.writable(); err != nil {
		return 0, err
	}
	return s.sum.Write(w, s.Meta)
}

// UnmarshalBinary makes s the summary that [Summary.MarshalBinary] returned, which
// data must hold and nothing else. It is otherwise like [Summary.ReadFrom].
func (s *Summary) UnmarshalBinary(data []byte) error {
	read, err := accum.ReadOnly(data, s.cfg.Backend, decode)
	if err != nil {
		return err
	}
	s.become(read)
	return nil
}

// ReadFrom makes s the summary that [Summary.WriteTo] wrote, on the terms of
// [fd.Sketch.ReadFrom]: it takes one message and leaves what follows, returns
// io.EOF where there is none and *[fd.FormatError] for one that is damaged,
// allocates no more than twice what came of the message and 64 KiB for each lane, and leaves s
// unchanged on every error. s, which may be the zero value, keeps its backend.
func (s *Summary) ReadFrom(r io.Reader) (int64, error) {
	read, n, err := accum.Read(r, s.cfg.Backend, decode)
	if err != nil {
		return n, err
	}
	s.become(read)
	return n, nil
}

// ReadSummary returns the next summary in r, for the backend be; nil is
// engine.Default(). See [Summary.ReadFrom].
func ReadSummary(r io.Reader, be engine.Backend) (*Summary, error) {
	s, _, err := accum.Read(r, be, decode)
	return s, err
}

// become makes s what o is, which is of no more use.
func (s *Summary) become(o *Summary) {
	s.sum, s.Meta = o.sum, o.Meta
	s.penalty, s.ofWhole = nil, false
	s.changed()
}

// decode reads a summary; nil if m has an error then.
func decode(m *wire.Reader, be engine.Backend) *Summary {
	sum, meta := accum.Decode(m, be)
	if sum == nil {
		return nil
	}
	return SummaryOf(sum, meta)
}
