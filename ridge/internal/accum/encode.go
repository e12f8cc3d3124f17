package accum

import (
	"fmt"
	"io"

	"github.com/fdridge/fdridge/internal/wire"
)

// The byte tables of the messages are at ridge.Summary.MarshalBinary.

// summaryHeader is the header of the message of a summary with one lane. It begins at byte 24. In format versions 2
// and later, a weightHeader follows. Then come the bytes that the caller stores, as many as the field Meta says.
type summaryHeader struct {
	Dim, Targets, Flags, Rows uint64
	Weight, Raw               float64
	Decays                    uint64
	Meta, Sketch              uint64 // lengths in bytes
}

// weightHeader is the part of the header that format version 2 has added.
type weightHeader struct{ Low, Error float64 }

const (
	headerSize       = 8 * 9
	weightHeaderSize = 8 * 2
)

// Flags of a summaryHeader.
const (
	flagIntercept = 1 << iota
	flagWeighted
	flagSparse
	flagUnwatched // version 2 and later
	flagsEnd
)

func (l *Lane) header(meta []byte) summaryHeader {
	weight, _ := l.Stage.Weight.Parts()
	h := summaryHeader{
		Dim:     uint64(l.cfg.Dim),
		Targets: uint64(l.cfg.Targets),
		Rows:    uint64(l.Stage.Rows),
		Weight:  weight,
		Raw:     l.raw,
		Decays:  uint64(l.Stage.Decays),
		Meta:    uint64(len(meta)),
		Sketch:  uint64(l.Sketch.BinarySize()),
	}
	if l.cfg.Intercept {
		h.Flags |= flagIntercept
	}
	if l.Stage.Weighted {
		h.Flags |= flagWeighted
	}
	if l.Sparse {
		h.Flags |= flagSparse
	}
	if l.lacksWitness {
		h.Flags |= flagUnwatched
	}
	return h
}

// content returns the number of bytes of a message without its preamble and its checksum.
func (h *summaryHeader) content(version uint32) int64 {
	d, t := int64(h.Dim), int64(h.Targets)
	size := headerSize +
		int64(h.Meta) +
		24*(d+t) +
		16*t +
		16*t*d +
		int64(h.Sketch)
	if version > 1 {
		size += weightHeaderSize + 16*(d+t) + 16*d + 1 + t
	}
	return size
}

// MaxMeta is the largest number of bytes that a caller may store in a message.
const MaxMeta = 1 << 30

// CheckMeta returns an error if meta is too long for a message.
func CheckMeta(meta []byte) error {
	if len(meta) > MaxMeta {
		return fmt.Errorf("ridge: Meta has %d bytes, at most %d can be written", len(meta), MaxMeta)
	}
	return nil
}

// BinarySize returns the number of bytes that [Accumulator.Write] writes.
func (a *Accumulator) BinarySize(meta []byte) int64 {
	if a.cfg.Lanes == 1 {
		return a.lanes[0].binarySize(meta)
	}
	h := a.lanesHeader(meta)
	return wire.Frame + h.content(a.lanes)
}

func (l *Lane) binarySize(meta []byte) int64 {
	h := l.header(meta)
	return wire.Frame + h.content(wire.Summary.Version())
}

// Write writes a message with all rows and meta.
func (a *Accumulator) Write(w io.Writer, meta []byte) (int64, error) {
	if err := CheckMeta(meta); err != nil {
		return 0, err
	}
	if a.cfg.Lanes > 1 {
		return a.writeLanes(w, meta)
	}
	return a.lanes[0].write(w, meta)
}

func (l *Lane) write(w io.Writer, meta []byte) (int64, error) {
	h := l.header(meta)
	m := wire.NewWriter(w, wire.Summary, h.content(wire.Summary.Version()))
	m.Struct(h)
	_, low := l.Stage.Weight.Parts()
	m.Struct(weightHeader{low, l.Stage.WeightError})
	m.Bytes(meta)
	m.Float64s(l.Stage.Origin)
	m.Sums(l.Stage.Sum)
	m.Float64s(l.Stage.SumError)
	m.Float64s(l.Stage.Moved)
	for _, some := range l.Stage.NonZero {
		b := [1]byte{}
		if some {
			b[0] = 1
		}
		m.Bytes(b[:])
	}
	m.Sums(l.sums.yy)
	m.Sums(l.sums.cross)
	_, err := l.Sketch.WriteTo(m)
	m.Fail(err)
	return m.Close()
}

// lanesHeader is the header of the message of a summary with several lanes. Each lane has a sketch of a part of the
// rows. The header begins at byte 24. Then come the bytes that the caller stores, as many as the field Meta says,
// and then the lanes.
type lanesHeader struct{ Lanes, LaneRows, After, Parts, Meta uint64 }

const lanesHeaderSize = 8 * 5

func (a *Accumulator) lanesHeader(meta []byte) lanesHeader {
	return lanesHeader{
		uint64(a.cfg.Lanes),
		uint64(a.cfg.LaneRows),
		uint64(a.cfg.LanesAfter),
		uint64(len(a.lanes)),
		uint64(len(meta)),
	}
}

// content returns the number of bytes of a message without its preamble and its checksum.
func (h *lanesHeader) content(lanes []*Lane) int64 {
	size := lanesHeaderSize + int64(h.Meta)
	for _, l := range lanes {
		size += l.binarySize(nil)
	}
	return size
}

// writeLanes writes the message of several lanes.
func (a *Accumulator) writeLanes(w io.Writer, meta []byte) (int64, error) {
	h := a.lanesHeader(meta)
	m := wire.NewWriter(w, wire.Lanes, h.content(a.lanes))
	m.Struct(h)
	m.Bytes(meta)
	for _, l := range a.lanes {
		_, err := l.write(m, nil)
		m.Fail(err)
	}
	return m.Close()
}
