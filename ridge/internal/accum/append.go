package accum

import (
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Append adds the rows of a block. Errors count rows from first; on an error of the rows nothing is changed.
func (a *Accumulator) Append(first int, b dataset.Block) error {
	if a.cfg.Lanes > 1 && a.Rows()+int64(b.N) > a.cfg.LanesAfter {
		return a.deal(first, b)
	}
	l := a.lanes[0]
	raw, err := l.Stage.Check(b, first, l.raw)
	if err != nil {
		return err
	}
	l.raw = raw
	return l.append(b)
}

// deal gives the rows of a block to their lanes. On an error of the rows nothing is changed.
func (a *Accumulator) deal(first int, b dataset.Block) error {
	if err := rows.CheckShape(b, a.cfg.Dim, a.cfg.Targets, first); err != nil {
		return err
	}
	c := a.crew
	if c == nil { // the lanes have yet to begin
		lanes := slices.Clone(a.lanes)
		for len(lanes) < a.cfg.Lanes {
			l, err := newLane(a.cfg)
			if err != nil {
				return err
			}
			lanes = append(lanes, l)
		}
		c = newCrew(a.cfg, lanes)
	}
	c.block, c.first, c.row = b, first, a.Rows()
	defer func() { c.block = dataset.Block{} }()
	for i := range c.hands {
		c.hands[i].raw = c.hands[i].lane.raw
	}
	if err := c.earliest(c.checks.Run()); err != nil {
		return err
	}
	if !c.inRange() {
		return &fd.RangeError{Row: first + max(b.N-1, 0)}
	}
	a.crew, a.lanes = c, c.lanes
	return c.earliest(c.appends.Run())
}

// Merge adds the rows of o, which has the same dimensions, size and intercept. If the sums could leave the
// range of float64 the error is *[fd.RangeError], and nothing is changed.
func (a *Accumulator) Merge(o *Lane) error {
	if !a.admits(o) {
		return &fd.RangeError{}
	}
	return a.lanes[0].merge(o)
}

// admits reports whether the rows of o can be added, and then be merged with those of all lanes.
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

// Decay multiplies the weight of every row by beta, 0 < beta ≤ 1. The caller keeps the sum of the weights at
// [LeastWeight] or more. If beta leaves one of several lanes less, the lanes are joined first.
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

// fades reports whether a decay leaves the rows of one of several lanes next to no weight. Their mean, and
// how far they are from the rows of other lanes, would then be lost.
func (a *Accumulator) fades(beta float64) bool {
	return a.cfg.Intercept && len(a.lanes) > 1 && beta > 0 && beta <= 1 && slices.ContainsFunc(a.lanes, func(l *Lane) bool {
		w := l.Stage.Weight.Value()
		return w > 0 && !(beta*w >= LeastWeight)
	})
}
