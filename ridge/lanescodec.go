package ridge

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// lanesHeader is the message of several lanes from byte 24 on. Meta follows, and the lanes.
type lanesHeader struct{ Lanes, LaneRows, After, Parts, Meta uint64 }

const lanesHeaderSize = 8 * 5

func (s *Summary) lanesHeader() lanesHeader {
	return lanesHeader{uint64(s.cfg.Lanes), uint64(s.cfg.LaneRows), uint64(s.cfg.LanesAfter), uint64(len(s.lanes)), uint64(len(s.Meta))}
}

// content is the size of all between the preamble and the checksum.
func (h *lanesHeader) content(lanes []*lane) int64 {
	size := lanesHeaderSize + int64(h.Meta)
	for _, l := range lanes {
		size += l.binarySize(nil)
	}
	return size
}

// writeLanes writes the message of several lanes.
func (s *Summary) writeLanes(w io.Writer) (int64, error) {
	h := s.lanesHeader()
	m := wire.NewWriter(w, wire.Lanes, h.content(s.lanes))
	m.Struct(h)
	m.Bytes(s.Meta)
	for _, l := range s.lanes {
		_, err := l.writeTo(m, nil)
		m.Fail(err)
	}
	return m.Close()
}

// decodeLanes reads the message of several lanes whose content has so many bytes, from behind
// the preamble on; nil where m has an error then.
func decodeLanes(m *wire.Reader, be engine.Backend, size int64) *Summary {
	var h lanesHeader
	m.Struct(&h)
	switch {
	case m.Err() != nil:
		return nil
	case h.Lanes < 2 || h.Lanes > MaxLanes:
		m.Fail(24, nil, "the number of lanes is %d, not between 2 and %d", h.Lanes, MaxLanes)
	case h.LaneRows < 1 || h.LaneRows > math.MaxInt32:
		m.Fail(32, nil, "%d rows in a row go to a lane", h.LaneRows)
	case h.After > math.MaxInt64:
		m.Fail(40, nil, "lanes begin after %d rows", h.After)
	case h.Parts != 1 && h.Parts != h.Lanes:
		m.Fail(48, nil, "%d of %d lanes follow", h.Parts, h.Lanes)
	case h.Meta > MaxMeta || int64(h.Meta) > size:
		m.Fail(56, nil, "the length of Meta is %d", h.Meta)
	}
	if m.Err() != nil {
		return nil
	}
	s := &Summary{Meta: m.Bytes(int(h.Meta))}
	for i := 0; i < int(h.Parts) && m.Err() == nil; i++ {
		at := m.N()
		l := readPart(m, be, i)
		switch {
		case m.Err() != nil:
		case i > 0 && l.cfg != s.lanes[0].cfg:
			m.Fail(at, nil, "lane %d is of another shape than lane 1", i+1)
		default:
			s.lanes = append(s.lanes, l)
		}
	}
	if read := m.N() - wire.Start; m.Err() == nil && read != size {
		m.Fail(16, nil, "the length is %d, the lanes make it %d", size+wire.Frame, read+wire.Frame)
	}
	m.Close()
	if m.Err() != nil {
		return nil
	}
	s.cfg = s.lanes[0].cfg
	s.cfg.Lanes, s.cfg.LaneRows, s.cfg.LanesAfter = int(h.Lanes), int(h.LaneRows), int64(h.After)
	for _, l := range s.lanes {
		l.cfg = s.cfg
	}
	if h.Parts > 1 {
		s.crew = newCrew(s.cfg, s.lanes)
		s.checkTogether(m)
	}
	if m.Err() != nil {
		return nil
	}
	return s
}

// checkTogether refuses lanes of which each could be of some rows, and which could not be those of
// one summary.
func (s *Summary) checkTogether(m *wire.Reader) {
	at := wire.Start + lanesHeaderSize + int64(len(s.Meta))
	for i, l := range s.lanes {
		s.crew.hands[i].raw = l.raw
	}
	all, why := addUp(s.cfg, s.lanes, "lanes")
	switch {
	case why != "":
		m.Fail(at, nil, "%s", why)
	case all.stage.Rows <= s.cfg.LanesAfter:
		m.Fail(40, nil, "lanes begin after %d rows, and all %d have begun after %d", s.cfg.LanesAfter, len(s.lanes), all.stage.Rows)
	case !s.crew.inRange():
		m.Fail(at, nil, "the lanes, of the weight %v, are too far from each other to be merged", all.stage.Weight.Value())
	}
}

// addUp adds up what is counted of several lanes, and says why these, of which each could be of some
// rows, could not be merged: there are more rows than are counted, or sums that no rows have.
func addUp(cfg SummaryConfig, lanes []*lane, name string) (all *lane, why string) {
	all = &lane{cfg: cfg, stage: rows.NewStage(cfg.Dim, cfg.Targets, cfg.Intercept), sums: newSums(cfg.Dim, cfg.Targets)}
	var sketched, shrinks, squares float64
	for _, l := range lanes {
		if l.stage.Rows > maxRows-all.stage.Rows {
			return nil, fmt.Sprintf("the %s have more than %d rows", name, int64(maxRows))
		}
		all.stage.Merge(l.stage)
		all.sums.merge(&l.sums)
		sketched, shrinks, squares = sketched+float64(l.sketch.Rows()), shrinks+float64(l.sketch.Shrinks()), squares+l.squares()
	}
	switch most := float64(maxRows); {
	case !(sketched <= most && shrinks <= most):
		return nil, fmt.Sprintf("the sketches of the %s have %g rows, shrunk %g times", name, sketched, shrinks)
	case !(squares <= 2*rows.MaxSquares):
		return nil, fmt.Sprintf("the %s, of squares that come to %v, are too far from each other to be merged", name, squares)
	}
	for _, sums := range [][]neumaier.Sum{all.sums.yy, all.sums.cross} {
		for i, v := range sums {
			if !(math.Abs(v.Value()) <= maxSum) {
				return nil, fmt.Sprintf("the squares of the targets, or their products, of all %s: number %d is %v", name, i, v.Value())
			}
		}
	}
	return all, ""
}

// readPart reads the message of lane i.
func readPart(m *wire.Reader, be engine.Backend, i int) *lane {
	return readLane(m, be, fmt.Sprintf("lane %d", i+1))
}

// readLane reads the message of a summary of one lane and without Meta, called name in errors.
func readLane(m *wire.Reader, be engine.Backend, name string) *lane {
	at := m.N()
	part := wire.NewReader(m)
	version, size := part.Preamble(wire.Summary)
	l, meta := decodeLane(part, be, version, size)
	if len(meta) > 0 {
		part.Fail(80, nil, "it has Meta")
	}
	if e, ok := errors.AsType[*wire.Error](part.Err()); ok {
		m.Fail(at+e.Offset, e.Err, "in %s: %s", name, e.Reason)
	} else {
		m.Stop(part.Err())
	}
	return l
}
