package accum

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Read decodes the next message in r by the function decode. The second result is the number of bytes read. The
// error is *[fd.FormatError] for a damaged message, and io.EOF at the end of r.
func Read[T any](
	r io.Reader,
	be engine.Backend,
	decode func(*wire.Reader, engine.Backend) T,
) (found T, n int64, err error) {
	m := wire.NewReader(r)
	read := decode(m, be)
	switch e, ok := errors.AsType[*wire.Error](m.Err()); {
	case ok:
		return found, m.N(), (*fd.FormatError)(e)
	case m.Err() != nil:
		return found, m.N(), m.Err()
	}
	return read, m.N(), nil
}

// ReadOnly decodes data, which must hold exactly one message.
func ReadOnly[T any](
	data []byte,
	be engine.Backend,
	decode func(*wire.Reader, engine.Backend) T,
) (none T, err error) {
	r := bytes.NewReader(data)
	found, n, err := Read(r, be, decode)
	switch {
	case err == io.EOF:
		return none, &fd.FormatError{Reason: "no message", Err: io.ErrUnexpectedEOF}
	case err != nil:
		return none, err
	case r.Len() > 0:
		return none, &fd.FormatError{
			Offset: n,
			Reason: fmt.Sprintf("%d bytes follow the message", r.Len()),
		}
	}
	return found, nil
}

// Decode reads a message that [Accumulator.Write] has written. It returns nil if m has an error.
func Decode(m *wire.Reader, be engine.Backend) (a *Accumulator, meta []byte) {
	kind, version, size := m.PreambleOf(wire.Summary, wire.Lanes)
	return DecodeContent(m, be, kind, version, size)
}

// DecodeContent decodes a message like [Decode], but the caller has already read the preamble of the message.
func DecodeContent(
	m *wire.Reader,
	be engine.Backend,
	kind wire.Kind,
	version uint32,
	size int64,
) (a *Accumulator, meta []byte) {
	if kind == wire.Lanes {
		return decodeLanes(m, be, size)
	}
	l, meta := decodeLane(m, be, version, size)
	if m.Err() != nil {
		return nil, nil
	}
	return View(l.cfg, l), meta
}

// DecodePart decodes a message that is nested in the message m. The nested message must have no Meta. In errors,
// name is the name of the nested message. If m has an error, the result is nil.
func DecodePart(m *wire.Reader, be engine.Backend, name string) *Accumulator {
	return decodePart(m, name, func(part *wire.Reader) (*Accumulator, []byte) {
		return Decode(part, be)
	})
}

// DecodeLane is like [DecodePart], for a message with one lane.
func DecodeLane(m *wire.Reader, be engine.Backend, name string) *Accumulator {
	l := readLane(m, be, name)
	if m.Err() != nil {
		return nil
	}
	return View(l.cfg, l)
}

// readLane decodes one lane from a message that is nested in the message m.
func readLane(m *wire.Reader, be engine.Backend, name string) *Lane {
	return decodePart(m, name, func(part *wire.Reader) (*Lane, []byte) {
		version, size := part.Preamble(wire.Summary)
		return decodeLane(part, be, version, size)
	})
}

// decodePart decodes a message that is nested in m and has no Meta. Errors contain name and the position in m.
func decodePart[T any](
	m *wire.Reader,
	name string,
	decode func(*wire.Reader) (T, []byte),
) T {
	at := m.N()
	part := wire.NewReader(m)
	found, meta := decode(part)
	if len(meta) > 0 {
		part.Fail(80, nil, "it has Meta, which a part must not have")
	}
	if e, ok := errors.AsType[*wire.Error](part.Err()); ok {
		m.Fail(at+e.Offset, e.Err, "in %s: %s", name, e.Reason)
	} else {
		m.Stop(part.Err())
	}
	return found
}

// decodeLanes reads a message with several lanes from m. The caller has read the preamble, and passes the size of
// the content that the preamble states. The result is nil if m has an error.
func decodeLanes(
	m *wire.Reader,
	be engine.Backend,
	size int64,
) (a *Accumulator, meta []byte) {
	var h lanesHeader
	m.Struct(&h)
	switch {
	case m.Err() != nil:
		return nil, nil
	case h.Lanes < 2 || h.Lanes > MaxLanes:
		m.Fail(24, nil, "the number of lanes is %d, not between 2 and %d", h.Lanes, MaxLanes)
	case h.LaneRows < 1 || h.LaneRows > math.MaxInt32:
		m.Fail(32, nil, "LaneRows is %d, not between 1 and 2³¹−1", h.LaneRows)
	case h.After > math.MaxInt64:
		m.Fail(40, nil, "LanesAfter is %d", h.After)
	case h.Parts != 1 && h.Parts != h.Lanes:
		m.Fail(48, nil, "%d of %d lanes follow", h.Parts, h.Lanes)
	case h.Meta > MaxMeta || int64(h.Meta) > size:
		m.Fail(56, nil, "the length of Meta is %d", h.Meta)
	}
	if m.Err() != nil {
		return nil, nil
	}
	meta = m.Bytes(int(h.Meta))
	a = new(Accumulator)
	for i := 0; i < int(h.Parts) && m.Err() == nil; i++ {
		at := m.N()
		l := readLane(m, be, fmt.Sprintf("lane %d", i+1))
		switch {
		case m.Err() != nil:
		case i > 0 && l.cfg != a.lanes[0].cfg:
			m.Fail(at, nil, "lane %d and lane 1 differ in shape", i+1)
		default:
			a.lanes = append(a.lanes, l)
		}
	}
	read := m.N() - wire.Start
	if m.Err() == nil && read != size {
		m.Fail(16, nil, "the length is %d, but the lanes give %d", size+wire.Frame, read+wire.Frame)
	}
	m.Close()
	if m.Err() != nil {
		return nil, nil
	}
	a.cfg = a.lanes[0].cfg
	a.cfg.Lanes = int(h.Lanes)
	a.cfg.LaneRows = int(h.LaneRows)
	a.cfg.LanesAfter = int64(h.After)
	for _, l := range a.lanes {
		l.cfg = a.cfg
	}
	if h.Parts > 1 {
		a.feeder = newFeeder(a.cfg, a.lanes)
		a.checkTogether(m, meta)
	}
	if m.Err() != nil {
		return nil, nil
	}
	return a, meta
}

// checkTogether records an error in m if the lanes cannot belong to one accumulator, although each lane is valid.
func (a *Accumulator) checkTogether(m *wire.Reader, meta []byte) {
	at := wire.Start + lanesHeaderSize + int64(len(meta))
	for i, l := range a.lanes {
		a.feeder.feeds[i].raw = l.raw
	}
	all, reason := addUp(a.cfg, a.lanes, "lanes")
	switch {
	case reason != "":
		m.Fail(at, nil, "%s", reason)
	case all.Stage.Rows <= a.cfg.LanesAfter:
		m.Fail(
			40,
			nil,
			"LanesAfter is %d, but all %d lanes are in use after %d rows",
			a.cfg.LanesAfter,
			len(a.lanes),
			all.Stage.Rows,
		)
	case !a.feeder.canMerge():
		m.Fail(at, nil, "the lanes, of total weight %v, are too far apart to be merged", all.Stage.Weight.Value())
	}
}

// addUp adds up the counts and sums of the lanes, without their sketches. If the lanes cannot be merged, reason
// says why, and calls the lanes by the word noun.
func addUp(cfg Config, lanes []*Lane, noun string) (all *Lane, reason string) {
	all = &Lane{
		cfg:   cfg,
		Stage: rows.NewStage(cfg.Dim, cfg.Targets, cfg.Intercept),
		sums:  newSums(cfg.Dim, cfg.Targets),
	}
	var sketched, shrinks, squares float64
	for _, l := range lanes {
		if l.Stage.Rows > MaxRows-all.Stage.Rows {
			return nil, fmt.Sprintf("the %s have more than %d rows", noun, int64(MaxRows))
		}
		all.Stage.Merge(l.Stage)
		all.sums.merge(&l.sums)
		sketched += float64(l.Sketch.Rows())
		shrinks += float64(l.Sketch.Shrinks())
		squares += l.squares()
	}
	switch most := float64(MaxRows); {
	case !(sketched <= most && shrinks <= most):
		return nil, fmt.Sprintf("the sketches of the %s have %g rows, shrunk %g times", noun, sketched, shrinks)
	case !(squares <= 2*rows.MaxSquares):
		return nil, fmt.Sprintf("the %s, with squares that sum to %v, are too far apart to be merged", noun, squares)
	}
	for _, sums := range [][]twofold.Total{all.sums.yy, all.sums.cross} {
		for i, v := range sums {
			if !(math.Abs(v.Value()) <= maxSum) {
				return nil, fmt.Sprintf(
					"the squares of the targets, or their products, of all %s: number %d is %v",
					noun,
					i,
					v.Value(),
				)
			}
		}
	}
	return all, ""
}

// Mergeable returns "" if all lanes of parts can form one accumulator with the configuration cfg. Otherwise it
// returns the reason why they cannot. noun is the word for lanes in this reason.
func Mergeable(cfg Config, parts []*Accumulator, noun string) (reason string) {
	var lanes []*Lane
	for _, a := range parts {
		lanes = append(lanes, a.lanes...)
	}
	_, reason = addUp(cfg, lanes, noun)
	return reason
}
