package ridge

import (
	"math"
	"slices"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// MaxLanes is the most lanes of a summary.
const MaxLanes = 1 << 10

// WithLanes is c with the lanes that the dispatcher chooses for n rows, -1 if unknown, where c
// says none: see [engine.Tuning.LanesFor]. The errors are those of [engine.DefaultTuning].
func (c SummaryConfig) WithLanes(n int64) (SummaryConfig, error) {
	if c.Lanes != 0 || c.Dim <= 0 || c.Size <= 0 {
		return c, nil
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return c, err
	}
	m, p, err := fd.Config{Dim: c.Dim, Size: c.Size, Shrink: c.Shrink, ShrinkRows: max(c.ShrinkRows, 0), Store: c.Store}.Buffer()
	if err != nil {
		return c, err
	}
	c.Lanes, c.LanesAfter = tuning.LanesFor(n, c.Dim, m+p)
	c.Lanes = min(c.Lanes, MaxLanes)
	return c, nil
}

// laneRows is LaneRows where the configuration does not say: what gives every lane some of a
// block of 8 MiB, but no less than eight rows at a time or 64 KiB of them.
func laneRows(d, lanes int) int {
	const block, least = 8 << 20, 64 << 10
	return max(min(block/8/d, 8192)/lanes, min(least/8/d, 8), 1)
}

// A crew feeds the lanes of a summary side by side.
type crew struct {
	cfg             SummaryConfig
	lanes           []*lane
	hands           []hand
	checks, appends *parallel

	block dataset.Block // of which the lanes take their rows
	first int           // number of its first row in errors
	row   int64         // number of its first row in the summary
}

// A hand is a lane at work on a block.
type hand struct {
	lane *lane
	at   int64 // which lane it is
	view engine.CSR
	raw  float64        // of the lane, when it will have the rows
	from int            // row of the block at hand: an error is of this row or one behind it
	all  dataset.Buffer // sparse rows of the block that are staged together
}

// newCrew makes the crew of some lanes.
func newCrew(cfg SummaryConfig, lanes []*lane) *crew {
	c := &crew{cfg: cfg, lanes: lanes}
	for i, l := range lanes {
		c.hands = append(c.hands, hand{lane: l, at: int64(i)})
	}
	c.checks = newParallel(nil, len(lanes), func(i int) error { return c.pieces(&c.hands[i], (*crew).check) })
	c.appends = newParallel(cfg.Backend, len(lanes), func(i int) error { return c.deliver(&c.hands[i]) })
	return c
}

// deal gives the rows of a block to their lanes. On an error of the rows nothing is changed.
func (s *Summary) deal(first int, b dataset.Block) error {
	if err := rows.CheckShape(b, s.cfg.Dim, s.cfg.Targets, first); err != nil {
		return err
	}
	c := s.crew
	if c == nil { // the lanes have yet to begin
		lanes := slices.Clone(s.lanes)
		for len(lanes) < s.cfg.Lanes {
			l, err := newLane(s.cfg)
			if err != nil {
				return err
			}
			lanes = append(lanes, l)
		}
		c = newCrew(s.cfg, lanes)
	}
	c.block, c.first, c.row = b, first, s.Rows()
	defer func() { c.block = dataset.Block{} }()
	for i := range c.hands {
		c.hands[i].raw = c.hands[i].lane.raw
	}
	if err := c.earliest(c.checks.run()); err != nil {
		return err
	}
	if !c.inRange() {
		return &fd.RangeError{Row: first + max(b.N-1, 0)}
	}
	s.changed()
	s.crew, s.lanes = c, c.lanes
	return c.earliest(c.appends.run())
}

// earliest is of several errors that of the first row.
func (c *crew) earliest(errs []error) (first error) {
	from := math.MaxInt
	for i, err := range errs {
		if err != nil && c.hands[i].from < from {
			first, from = err, c.hands[i].from
		}
	}
	return first
}

// check looks at rows that a lane is to have.
func (c *crew) check(h *hand, b dataset.Block) (err error) {
	h.raw, err = h.lane.stage.Check(b, c.first+h.from, h.raw)
	return err
}

// append gives a lane rows that were found to be good.
func (c *crew) append(h *hand, b dataset.Block) error {
	h.lane.raw = h.raw
	return h.lane.append(b)
}

// deliver gives a lane its rows of the block at hand, which were found to be good. Of sparse rows that are
// centred each staged block takes two dense rows beside them, its mean and the row that joins it to those
// before: so they are staged together, though they come in groups.
func (c *crew) deliver(h *hand) error {
	if c.block.Sparse == nil || !c.cfg.Intercept || !h.lane.sketch.KeepsSparse() {
		return c.pieces(h, (*crew).append)
	}
	h.all.Reset()
	h.all.Sparse = true
	if err := c.pieces(h, (*crew).gather); err != nil || h.all.N == 0 {
		return err
	}
	return c.append(h, h.all.Block(0, c.cfg.Dim))
}

// gather adds rows to those of a lane that are staged together.
func (c *crew) gather(h *hand, b dataset.Block) error {
	for i := range b.N {
		h.all.AppendRow(b, i, c.cfg.Dim, c.cfg.Targets)
	}
	return nil
}

// pieces cuts from the block at hand the rows of a lane, group by group.
func (c *crew) pieces(h *hand, use func(*crew, *hand, dataset.Block) error) error {
	end := c.row + int64(c.block.N)
	cut := func(lo, hi int64) error {
		if lo, hi = max(lo, c.row), min(hi, end); lo >= hi {
			return nil
		}
		h.from = int(lo - c.row)
		return use(c, h, c.block.Cut(h.from, int(hi-c.row), c.cfg.Dim, c.cfg.Targets, &h.view))
	}
	after := c.cfg.LanesAfter
	if h.at == 0 {
		if err := cut(0, after); err != nil {
			return err
		}
	}
	group, lanes := int64(c.cfg.LaneRows), int64(len(c.hands))
	g := max(c.row, after) / (group * lanes) * lanes // the first group of its round
	for g += h.at; g*group < end; g += lanes {
		if err := cut(max(g*group, after), (g+1)*group); err != nil {
			return err
		}
	}
	return nil
}

// inRange says that all lanes, with the rows of the block at hand, can be merged: the sum of
// squares of all is in range, and so are the distances between their origins, which are at most
// twice as far from each other as the farthest is from zero, squared and weighted.
func (c *crew) inRange() bool {
	var raw, weight, far float64
	for i := range c.hands {
		h := &c.hands[i]
		raw += h.raw
		weight += h.lane.stage.Weight.Value()
		far = max(far, h.lane.stage.Reach(c.block))
	}
	for i := range c.block.N {
		weight += c.block.Weight(i)
	}
	return raw <= rows.MaxSquares && rows.Spreads(4*far, weight)
}

// admits says that the rows of o can be added, and then be merged with those of all lanes.
func (s *Summary) admits(o *lane) bool {
	raw, weight, far := o.raw, o.stage.Weight.Value(), o.stage.Reach(dataset.Block{})
	for _, l := range s.lanes {
		if l.stage.Separates(o.stage) {
			return false
		}
		raw += l.raw
		weight += l.stage.Weight.Value()
		far = max(far, l.stage.Reach(dataset.Block{}))
	}
	return raw <= rows.MaxSquares && (len(s.lanes) == 1 || rows.Spreads(4*far, weight))
}

// Join merges the lanes for good, which frees their memory: later reads find what they would
// have found without it, but rows that are appended later go to lanes that begin anew. Where the
// other lanes have not begun, see LanesAfter, there is one from then on.
func (s *Summary) Join() error {
	if !s.made() {
		return errUnmade
	}
	if s.Rows() <= s.cfg.LanesAfter {
		s.cfg.Lanes, s.cfg.LaneRows, s.cfg.LanesAfter = 1, 0, 0
		s.lanes[0].cfg = s.cfg
	}
	all, err := s.all()
	if err != nil {
		return err
	}
	s.lanes, s.crew, s.joined = []*lane{all}, nil, nil
	return nil
}

// Joined says that there is one lane, so that none has to be merged when s is read, which takes the
// memory of half as many more: the others have not begun, or [Summary.Join] has merged them.
func (s *Summary) Joined() bool { return s != nil && len(s.lanes) <= 1 }

// fades says that a decay leaves the rows of one of several lanes next to no weight: their mean could
// then not be told, nor how far they are from the rows of other lanes.
func (s *Summary) fades(beta float64) bool {
	return s.cfg.Intercept && len(s.lanes) > 1 && beta > 0 && beta <= 1 && slices.ContainsFunc(s.lanes, func(l *lane) bool {
		w := l.stage.Weight.Value()
		return w > 0 && !(beta*w >= leastWeight)
	})
}

// joinLanes merges lanes in pairs, these in pairs, and so on: an order that depends on nothing
// but their number. The lanes are left as they are. On an error the sketch returned knows it.
func joinLanes(cfg SummaryConfig, lanes []*lane) (*lane, error) {
	if len(lanes) == 1 {
		return lanes[0], nil
	}
	half := (len(lanes) + 1) / 2
	var left, right *lane
	var failed [2]error
	var both sync.WaitGroup
	both.Go(func() { left, failed[0] = joinLanes(cfg, lanes[:half]) })
	right, failed[1] = joinLanes(cfg, lanes[half:])
	both.Wait()
	switch {
	case failed[0] != nil:
		return left, failed[0]
	case failed[1] != nil:
		return right, failed[1]
	}
	into := left
	if half == 1 { // a lane, which is to stay as it is
		var err error
		if into, err = newLane(cfg); err != nil {
			return left, err
		}
		if err := into.merge(left); err != nil {
			return into, err
		}
	}
	return into, into.merge(right)
}
