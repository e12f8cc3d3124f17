package window

import (
	"bytes"
	"io"
	"math"
	"time"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
)

// fadingHeader holds bytes 24 to 95, see [Fading.MarshalBinary].
type fadingHeader struct {
	HalfLife, Appended       uint64
	Now, Unit, From, To      int64
	Meta, SummarySize, Flags uint64
}

const fadingHeaderSize = 8 * 9

// flagByRows is a flag in a message. It is set if the half-life is a number of rows.
const flagByRows = 1

// BinarySize returns the number of bytes that [Fading.MarshalBinary] and [Fading.WriteTo] write for f. It returns 0
// for the zero value of Fading, which cannot be written.
func (f *Fading) BinarySize() int64 {
	if f.sum == nil {
		return 0
	}
	return wire.Frame + f.content()
}

func (f *Fading) content() int64 {
	return fadingHeaderSize + int64(len(f.meta)) + f.sum.BinarySize(nil)
}

// MarshalBinary returns the complete state of f. A decoded Fading gives the same bits as f in all further operations.
// Format version 1, little-endian:
//
//	offset  bytes
//	0       8         magic: 89 'F' 'D' 'R' 0D 0A 1A 0A
//	8       4         format version: 1
//	12      4         kind of message: 7, a fading summary
//	16      8         length of the message, checksum included
//	24      8         the half-life h, in nanoseconds; or in rows, see flags
//	32      8         rows appended
//	40      8         the time: nanoseconds since 1970, signed, like the next three; −2⁶³ if none was set
//	48      8         the time for which the summary has the weights: less than h before its last row
//	56      16        the times of its first and its last row
//	72      8         u ≤ 2³⁰, length of Meta
//	80      8         v, length of the summary
//	88      8         flags: 1 the half-life and all times are counted in rows: the time
//	                  of a row is its number among those appended, from 0 on
//	96      u         Meta
//	        v         the summary, a message of [ridge.Summary.MarshalBinary], without Meta
//	        4         CRC-32C (Castagnoli) of all bytes before
//
// The backend is not written.
func (f *Fading) MarshalBinary() ([]byte, error) {
	if f.cfg.halfLife() == 0 {
		return nil, errUnmadeFading
	}
	b := bytes.NewBuffer(make([]byte, 0, f.BinarySize()))
	if _, err := f.WriteTo(b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteTo writes the message that [Fading.MarshalBinary] returns. It does not hold the whole message in memory.
func (f *Fading) WriteTo(to io.Writer) (int64, error) {
	if f.cfg.halfLife() == 0 {
		return 0, errUnmadeFading
	}
	if err := accum.CheckMeta(f.meta); err != nil {
		return 0, err
	}
	m := wire.NewWriter(to, wire.Fading, f.content())
	h := fadingHeader{
		HalfLife:    uint64(f.cfg.halfLife()),
		Appended:    uint64(f.appended),
		Now:         f.now,
		Unit:        f.unit,
		From:        f.from,
		To:          f.to,
		Meta:        uint64(len(f.meta)),
		SummarySize: uint64(f.sum.BinarySize(nil)),
	}
	if f.cfg.countsRows() {
		h.Flags = flagByRows
	}
	m.Struct(h)
	m.Bytes(f.meta)
	_, err := f.sum.Write(m, nil)
	m.Fail(err)
	return m.Close()
}

// UnmarshalBinary replaces f by the Fading in data, which must be one message of [Fading.MarshalBinary]. See
// [Fading.ReadFrom].
func (f *Fading) UnmarshalBinary(data []byte) error {
	read, err := accum.ReadOnly(data, f.cfg.Summary.Backend, decodeFading)
	if err == nil {
		*f = *read
	}
	return err
}

// ReadFrom reads one message of [Fading.WriteTo] from r, and replaces f by the Fading in this message. f may be the
// zero value. The backend of f is unchanged. For errors and memory, see [ridge.Summary.ReadFrom].
func (f *Fading) ReadFrom(r io.Reader) (int64, error) {
	read, n, err := accum.Read(r, f.cfg.Summary.Backend, decodeFading)
	if err == nil {
		*f = *read
	}
	return n, err
}

// decodeFading reads a message from m and returns the Fading in it. If m has an error, it returns nil.
func decodeFading(m *wire.Reader, be engine.Backend) *Fading {
	_, size := m.Preamble(wire.Fading)
	return decodeFadingContent(m, be, size)
}

// decodeFadingContent reads the part of a Fading's message that follows the preamble. size is the number of bytes
// of this part, without the checksum. If m has an error, the result is nil.
func decodeFadingContent(m *wire.Reader, be engine.Backend, size int64) *Fading {
	var h fadingHeader
	m.Struct(&h)
	switch {
	case m.Err() != nil:
	case h.HalfLife == 0 || h.HalfLife > math.MaxInt64:
		m.Fail(24, nil, "the half-life is %d", h.HalfLife)
	case h.Appended > accum.MaxRows:
		m.Fail(32, nil, "%d rows were appended", h.Appended)
	case h.Meta > accum.MaxMeta || int64(h.Meta) > size:
		m.Fail(72, nil, "the length of Meta is %d", h.Meta)
	case h.Flags > flagByRows:
		m.Fail(88, nil, "the word of flags is %d", h.Flags)
	}
	if m.Err() != nil {
		return nil
	}
	f := &Fading{
		clock:    clock{h.Now},
		unit:     h.Unit,
		appended: int64(h.Appended),
		from:     h.From,
		to:       h.To,
	}
	if h.Flags == flagByRows {
		f.cfg.HalfLifeRows = int64(h.HalfLife)
	} else {
		f.cfg.HalfLife = time.Duration(h.HalfLife)
	}
	f.meta = m.Bytes(int(h.Meta))
	at := m.N()
	f.sum = accum.DecodePart(m, be, "the summary")
	if read := m.N() - at; m.Err() == nil && read != int64(h.SummarySize) {
		m.Fail(80, nil, "the length of the summary is %d, it was to be %d", read, h.SummarySize)
	}
	if read := m.N() - wire.Start; m.Err() == nil && read != size {
		m.Fail(16, nil, "the length is %d, the parts make it %d", size+wire.Frame, read+wire.Frame)
	}
	m.Close()
	if m.Err() == nil {
		f.checkTimes(m)
	}
	if m.Err() != nil {
		return nil
	}
	f.cfg.Summary = ridge.SummaryConfig(f.sum.Config())
	return f
}

// checkTimes reports times that are impossible for the rows.
func (f *Fading) checkTimes(m *wire.Reader) {
	n := f.sum.Rows()
	last := f.appended - 1 // the current time, if rows are counted
	if last < 0 {
		last = noTime
	}
	switch {
	case f.cfg.countsRows() &&
		(f.now != last || n > 0 && (f.to != last || f.from != f.appended-n)):
		m.Fail(40, nil, "the numbers of the rows are not those of %d rows of %d that were appended", n, f.appended)
	case n > f.appended:
		m.Fail(32, nil, "%d rows were appended, the summary has %d", f.appended, n)
	case n == 0 && (f.unit != noTime || f.from != noTime || f.to != noTime):
		m.Fail(48, nil, "a summary of no rows has times")
	case n > 0 &&
		(f.from == noTime || f.from > f.to || f.to > f.now):
		m.Fail(56, nil, "the times of the rows decrease")
	case n > 0 &&
		(f.unit < f.from || f.unit > f.to || uint64(f.to)-uint64(f.unit) >= uint64(f.cfg.halfLife())):
		m.Fail(48, nil, "the time of the weights is not within a half-life before the last row")
	}
}
