package accum

import (
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/internal/parallel"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A crew feeds the lanes of a summary side by side.
type crew struct {
	cfg             Config
	lanes           []*Lane
	hands           []hand
	checks, appends *parallel.Loop

	block dataset.Block // of which the lanes take their rows
	first int           // number of its first row in errors
	row   int64         // number of its first row in the summary
}

// A hand is a lane at work on a block.
type hand struct {
	lane *Lane
	at   int64 // which lane it is
	view engine.CSR
	raw  float64        // of the lane, when it will have the rows
	from int            // row of the block at hand: an error is of this row or one behind it
	all  dataset.Buffer // sparse rows of the block that are staged together
}

// newCrew makes the crew of some lanes.
func newCrew(cfg Config, lanes []*Lane) *crew {
	c := &crew{cfg: cfg, lanes: lanes}
	for i, l := range lanes {
		c.hands = append(c.hands, hand{lane: l, at: int64(i)})
	}
	c.checks = parallel.New(nil, len(lanes), func(i int) error { return c.pieces(&c.hands[i], (*crew).check) })
	c.appends = parallel.New(cfg.Backend, len(lanes), func(i int) error { return c.deliver(&c.hands[i]) })
	return c
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
	h.raw, err = h.lane.Stage.Check(b, c.first+h.from, h.raw)
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
	if c.block.Sparse == nil || !c.cfg.Intercept || !h.lane.Sketch.KeepsSparse() {
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
	var e Extent
	for i := range c.hands {
		h := &c.hands[i]
		e.Merge(Extent{Squares: h.raw, Weight: h.lane.Stage.Weight.Value(), Far: h.lane.Stage.Reach(c.block)})
	}
	for i := range c.block.N {
		e.Weight += c.block.Weight(i)
	}
	return e.Squares <= rows.MaxSquares && rows.Spreads(4*e.Far, e.Weight)
}
