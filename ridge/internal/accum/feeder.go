package accum

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A feeder adds blocks to several lanes in parallel.
type feeder struct {
	cfg             Config
	lanes           []*Lane
	feeds           []laneFeed
	checks, appends *parallel.Loop

	block    dataset.Block // the current block
	firstRow int           // number that the first row of block has in errors
	row      int64         // number that the first row of block has in the summary
}

// A laneFeed adds rows to one lane.
type laneFeed struct {
	lane *Lane
	at   int64 // index of the lane
	view engine.CSR
	raw  float64 // sum of squares of the lane, including the current block
	// from is the index in the block of the first row of the current group. An error is at this row or a later row.
	from int
	all  dataset.Buffer // all sparse rows of the block for this lane, to be added together
}

// newFeeder returns the feeder of the given lanes.
func newFeeder(cfg Config, lanes []*Lane) *feeder {
	c := &feeder{cfg: cfg, lanes: lanes}
	for i, l := range lanes {
		c.feeds = append(c.feeds, laneFeed{lane: l, at: int64(i)})
	}
	c.checks = parallel.New(nil, len(lanes), func(i int) error {
		return c.eachGroup(&c.feeds[i], (*feeder).check)
	})
	c.appends = parallel.New(cfg.Backend, len(lanes), func(i int) error {
		return c.feedLane(&c.feeds[i])
	})
	return c
}

// earliest returns the error for the smallest row number.
func (c *feeder) earliest(errs []error) (first error) {
	from := math.MaxInt
	for i, err := range errs {
		if err != nil && c.feeds[i].from < from {
			first = err
			from = c.feeds[i].from
		}
	}
	return first
}

// check validates the rows b of a lane.
func (c *feeder) check(h *laneFeed, b dataset.Block) (err error) {
	h.raw, err = h.lane.Stage.Check(b, c.firstRow+h.from, h.raw)
	return err
}

// append adds the validated rows b to a lane.
func (c *feeder) append(h *laneFeed, b dataset.Block) error {
	h.lane.raw = h.raw
	return h.lane.append(b)
}

// feedLane adds the validated rows of the current block to one lane. Sparse rows that need centring are gathered
// first, so that one call of Stage.Load suffices: every call adds two dense rows for the means.
func (c *feeder) feedLane(h *laneFeed) error {
	if c.block.Sparse == nil ||
		!c.cfg.Intercept ||
		!h.lane.Sketch.KeepsSparse() {
		return c.eachGroup(h, (*feeder).append)
	}
	h.all.Reset()
	h.all.Sparse = true
	if err := c.eachGroup(h, (*feeder).gather); err != nil || h.all.N == 0 {
		return err
	}
	return c.append(h, h.all.Block(0, c.cfg.Dim))
}

// gather adds the rows b to h.all.
func (c *feeder) gather(h *laneFeed, b dataset.Block) error {
	for i := range b.N {
		h.all.AppendRow(b, i, c.cfg.Dim, c.cfg.Targets)
	}
	return nil
}

// eachGroup calls visit with each group of rows of the current block that belongs to the lane h.lane.
func (c *feeder) eachGroup(h *laneFeed, visit func(*feeder, *laneFeed, dataset.Block) error) error {
	end := c.row + int64(c.block.N)
	cut := func(lo, hi int64) error {
		lo, hi = max(lo, c.row), min(hi, end)
		if lo >= hi {
			return nil
		}
		h.from = int(lo - c.row)
		return visit(
			c,
			h,
			c.block.Cut(h.from, int(hi-c.row), c.cfg.Dim, c.cfg.Targets, &h.view),
		)
	}
	after := c.cfg.LanesAfter
	if h.at == 0 {
		if err := cut(0, after); err != nil {
			return err
		}
	}
	group := int64(c.cfg.LaneRows)
	lanes := int64(len(c.feeds))
	// In a round, each lane gets one group of rows. g is the first group of the round
	// that contains row max(c.row, after).
	g := max(c.row, after) / (group * lanes) * lanes
	for g += h.at; g*group < end; g += lanes {
		if err := cut(max(g*group, after), (g+1)*group); err != nil {
			return err
		}
	}
	return nil
}

// canMerge reports whether all lanes can still be merged without overflow after the current block has been added.
func (c *feeder) canMerge() bool {
	var e Extent
	for i := range c.feeds {
		h := &c.feeds[i]
		e.Merge(Extent{
			Squares: h.raw,
			Weight:  h.lane.Stage.Weight.Value(),
			Far:     h.lane.Stage.Reach(c.block),
		})
	}
	e.Weight += rows.TotalWeight(c.block)
	return e.Squares <= rows.MaxSquares && rows.Spreads(4*e.Far, e.Weight)
}
