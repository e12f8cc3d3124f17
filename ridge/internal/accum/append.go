package accum

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Append adds the rows of a block. Errors number the rows from first. If a row is invalid, Append changes
// nothing.
func (a *Accumulator) Append(first int, b dataset.Block) error {
	if a.cfg.Lanes > 1 && a.Rows()+int64(b.N) > a.cfg.LanesAfter {
		return a.appendToLanes(first, b)
	}
	l := a.lanes[0]
	raw, err := l.Stage.Check(b, first, l.raw)
	if err != nil {
		return err
	}
	l.raw = raw
	return l.append(b)
}

// appendToLanes distributes the rows of a block over the lanes. If a row is invalid, it changes nothing.
func (a *Accumulator) appendToLanes(first int, b dataset.Block) error {
	if err := rows.CheckShape(b, a.cfg.Dim, a.cfg.Targets, first); err != nil {
		return err
	}
	c := a.feeder
	if c == nil { // the lanes are not in use yet
		lanes := slices.Clone(a.lanes)
		for len(lanes) < a.cfg.Lanes {
			l, err := newLane(a.cfg)
			if err != nil {
				return err
			}
			lanes = append(lanes, l)
		}
		c = newFeeder(a.cfg, lanes)
	}
	c.block, c.first, c.row = b, first, a.Rows()
	defer func() { c.block = dataset.Block{} }()
	for i := range c.feeds {
		c.feeds[i].raw = c.feeds[i].lane.raw
	}
	if err := c.earliest(c.checks.Run()); err != nil {
		return err
	}
	if !c.canMerge() {
		return &fd.RangeError{Row: first + max(b.N-1, 0)}
	}
	a.feeder, a.lanes = c, c.lanes
	return c.earliest(c.appends.Run())
}

// Merge adds the rows of o, whose dimensions, size and intercept setting must be the same. If the sums could
// overflow, Merge returns *[fd.RangeError] and changes nothing.
func (a *Accumulator) Merge(o *Lane) error {
	if !a.admits(o) {
		return &fd.RangeError{}
	}
	return a.lanes[0].merge(o)
}

// admits reports whether the rows of o can be added without overflow, also when the lanes are merged later.
func (a *Accumulator) admits(o *Lane) bool {
	e := o.extent()
	for _, l := range a.lanes {
		if l.Stage.Separates(o.Stage) {
			return false
		}
		e.Merge(l.extent())
	}
	return e.Squares <= rows.MaxSquares && (len(a.lanes) == 1 || rows.Spreads(4*e.Far, e.Weight))
}

// Decay multiplies the weight of every row by beta, 0 < beta ≤ 1. The sum of the weights must not fall below
// [LeastWeight]. If the weight of a single lane would fall below LeastWeight, Decay first merges the lanes.
func (a *Accumulator) Decay(beta float64) error {
	if a.fades(beta) {
		if err := a.Join(); err != nil {
			return err
		}
	}
	for _, l := range a.lanes {
		if err := l.decay(beta); err != nil {
			return err
		}
	}
	return nil
}

// fades reports whether a decay by beta leaves one of several lanes with a weight below [LeastWeight]. The
// mean of such a lane would be lost to underflow.
func (a *Accumulator) fades(beta float64) bool {
	return a.cfg.Intercept && len(a.lanes) > 1 && beta > 0 && beta <= 1 && slices.ContainsFunc(a.lanes, func(l *Lane) bool {
		w := l.Stage.Weight.Value()
		return w > 0 && !(beta*w >= LeastWeight)
	})
}
