package accum

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Append adds all rows of b. If a row is invalid, it adds none. Errors number the rows of b from firstRow.
func (a *Accumulator) Append(firstRow int, b dataset.Block) error {
	if a.cfg.Lanes > 1 && a.Rows()+int64(b.N) > a.cfg.LanesAfter {
		return a.appendToLanes(firstRow, b)
	}
	l := a.lanes[0]
	raw, err := l.Stage.Check(b, firstRow, l.raw)
	if err != nil {
		return err
	}
	l.raw = raw
	return l.append(b)
}

// appendToLanes validates all rows of b, then adds them to the lanes in parallel.
func (a *Accumulator) appendToLanes(firstRow int, b dataset.Block) error {
	if err := rows.CheckShape(b, a.cfg.Dim, a.cfg.Targets, firstRow); err != nil {
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
	c.block = b
	c.firstRow = firstRow
	c.row = a.Rows()
	defer func() { c.block = dataset.Block{} }()
	for i := range c.feeds {
		c.feeds[i].raw = c.feeds[i].lane.raw
	}
	if err := c.earliest(c.checks.Run()); err != nil {
		return err
	}
	if !c.canMerge() {
		return &fd.RangeError{Row: firstRow + max(b.N-1, 0)}
	}
	a.feeder, a.lanes = c, c.lanes
	return c.earliest(c.appends.Run())
}

// Merge adds the rows of the lane o. Its numbers of features and targets, its sketch size and its intercept setting
// must be the same as in a. If a sum could overflow, Merge returns *[fd.RangeError] and changes nothing.
func (a *Accumulator) Merge(o *Lane) error {
	if !a.canAdd(o) {
		return &fd.RangeError{}
	}
	return a.lanes[0].merge(o)
}

// canAdd reports whether the rows of o can be added without overflow, and all lanes can still be merged afterwards.
func (a *Accumulator) canAdd(o *Lane) bool {
	e := o.extent()
	for _, l := range a.lanes {
		if l.Stage.Separates(o.Stage) {
			return false
		}
		e.Merge(l.extent())
	}
	return e.Squares <= rows.MaxSquares &&
		(len(a.lanes) == 1 || rows.Spreads(4*e.Far, e.Weight))
}

// Decay multiplies the weight of every row by beta, 0 < beta ≤ 1. The caller must make sure that the total weight
// stays at least [LeastWeight]. If the weight of a single lane would fall below LeastWeight, Decay first merges all
// lanes.
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

// fades reports whether a decay by beta would make the weight of a lane so small that its mean could be lost by
// underflow. Without an intercept there are no means, so the result is false.
func (a *Accumulator) fades(beta float64) bool {
	return a.cfg.Intercept &&
		len(a.lanes) > 1 &&
		beta > 0 &&
		beta <= 1 &&
		slices.ContainsFunc(a.lanes, func(l *Lane) bool {
			w := l.Stage.Weight.Value()
			return w > 0 && !(beta*w >= LeastWeight)
		})
}
