package ridge

import (
	"bytes"
	"io"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// MaxMeta is the largest length of [Summary.Meta] that can be written: 1 GiB.
const MaxMeta = accum.MaxMeta

// BinarySize returns the number of bytes that [Summary.MarshalBinary] and [Summary.WriteTo] write for s as it is
// now. It returns 0 for the zero value, which cannot be written.
func (s *Summary) BinarySize() int64 {
	if !s.isValid() {
		return 0
	}
	return s.sum.BinarySize(s.Meta)
}

// MarshalBinary returns the complete state of the summary. A decoded summary gives the same bits as s in all further
// operations. Format version 2, little-endian:
//
//	offset  bytes
//	0       8         magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4         format version: 2
//	12      4         kind of message: 2, a summary
//	16      8         length of the message, checksum included
//	24      8         d, the number of features
//	32      8         t, the number of targets
//	40      8         flags: 1 intercept, 2 weighted rows, 4 sparse rows, 8 the witness does not cover all rows
//	48      8         n, rows appended
//	56      8         Σw, the sum of their weights, without correction
//	64      8         sum of squares of all rows read
//	72      8         number of decays
//	80      8         u ≤ 2³⁰, length of Meta
//	88      8         v, length of the sketch's message
//	96      8         correction of Σw
//	104     8         bound on the round-off of decays in Σw
//	112     u         Meta
//	        8·(d+t)   origin of the means
//	        16·(d+t)  Σw·(row − origin)
//	        8·(d+t)   bounds on the errors of these sums
//	        8·(d+t)   bounds on the norm of the round-off of centring in each column
//	        1+t       1 if an entry of the features, or of each target, is nonzero, else 0
//	        16·t      ‖Y‖² of each target
//	        16·t·d    c = AᵀY, one target after the other
//	        16·d      the witness AᵀAh for a fixed vector h, see docs/math.md §15
//	        v         the sketch, a message of [fd.Sketch.MarshalBinary]
//	        4         CRC-32C (Castagnoli) of all bytes before
//
// A summary with several parallel sketches ([SummaryConfig.Lanes]) has a message of kind 5, format version 1. It
// contains one message as above per lane:
//
//	24      8         Lanes, more than 1
//	32      8         LaneRows
//	40      8         LanesAfter
//	48      8         k, the number of lanes that follow: Lanes, or 1 if only one is in use
//	56      8         u ≤ 2³⁰, length of Meta
//	64      u         Meta
//	        …         k messages of kind 2, without Meta
//	        4         CRC-32C of all bytes before
//
// A number of 16 bytes is a sum and its correction, to be added. The backend is not written.
//
// Version 1 can still be read. It has Meta at byte 96, and lacks the numbers at bytes 96 and 104, the bounds, the 1+t
// bytes and the witness. The missing bounds are replaced by the worst possible values, so that certificates with an
// intercept are wide. With an intercept and weights, nothing can be certified ([ErrUnproven]).
func (s *Summary) MarshalBinary() ([]byte, error) {
	if !s.isValid() {
		return nil, errZeroValue
	}
	b := bytes.NewBuffer(make([]byte, 0, s.BinarySize()))
	if _, err := s.WriteTo(b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteTo writes the same message as [Summary.MarshalBinary], but does not need memory for a second copy of the
// sketch.
func (s *Summary) WriteTo(w io.Writer) (int64, error) {
	if !s.isValid() {
		return 0, errZeroValue
	}
	if err := s.checkWritable(); err != nil {
		return 0, err
	}
	return s.sum.Write(w, s.Meta)
}

// UnmarshalBinary replaces s by the summary in data, which must be one message of [Summary.MarshalBinary]. See
// [Summary.ReadFrom].
func (s *Summary) UnmarshalBinary(data []byte) error {
	read, err := accum.ReadOnly(data, s.cfg.Backend, decode)
	if err != nil {
		return err
	}
	s.replaceBy(read)
	return nil
}

// ReadFrom replaces s by the next summary in r, written by [Summary.WriteTo]. It reads exactly one message. s may
// be the zero value. The backend of s is unchanged.
//
// The error is io.EOF if r has no further message, and *[fd.FormatError] if the message is damaged. After an error
// s is unchanged. ReadFrom allocates at most twice the number of bytes read, plus 64 KiB for each sketch in the
// message. See also [fd.Sketch.ReadFrom].
func (s *Summary) ReadFrom(r io.Reader) (int64, error) {
	read, n, err := accum.Read(r, s.cfg.Backend, decode)
	if err != nil {
		return n, err
	}
	s.replaceBy(read)
	return n, nil
}

// ReadSummary reads the next summary from r, see [Summary.ReadFrom]. The summary uses the backend be, or
// engine.Default() if be is nil.
func ReadSummary(r io.Reader, be engine.Backend) (*Summary, error) {
	s, _, err := accum.Read(r, be, decode)
	return s, err
}

// replaceBy moves the state of read into s.
func (s *Summary) replaceBy(read *Summary) {
	s.sum, s.Meta = read.sum, read.Meta
	s.penalty, s.holdsGram = nil, false
	s.invalidate()
}

// decode reads a summary from the message m. It returns nil if m has an error.
func decode(m *wire.Reader, be engine.Backend) *Summary {
	sum, meta := accum.Decode(m, be)
	if sum == nil {
		return nil
	}
	return summaryOf(sum, meta)
}
