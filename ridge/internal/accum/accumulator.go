package accum

import (
	"github.com/fdridge/fdridge/internal/twofold"
)

// An Accumulator sums rows in one or several lanes. Each lane holds the sums over a part of the rows. A method
// that adds rows or merges lanes must not run concurrently with another method.
type Accumulator struct {
	cfg    Config
	lanes  []*Lane // lanes with rows come first
	feeder *feeder // adds blocks to several lanes; nil if there is one lane
}

// New returns an empty accumulator, or an error if a field of cfg is invalid.
func New(cfg Config) (*Accumulator, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	first, err := newLane(cfg)
	if err != nil {
		return nil, err
	}
	return &Accumulator{cfg: cfg, lanes: []*Lane{first}}, nil
}

// View wraps the lane l in an accumulator that must not be modified.
func View(cfg Config, l *Lane) *Accumulator { return &Accumulator{cfg: cfg, lanes: []*Lane{l}} }

// Config returns the configuration in use.
func (a *Accumulator) Config() Config { return a.cfg }

// Lanes returns the number of lanes in use.
func (a *Accumulator) Lanes() int { return len(a.lanes) }

// Rows returns the number of rows.
func (a *Accumulator) Rows() int64 {
	var n int64
	for _, l := range a.lanes {
		n += l.Stage.Rows
	}
	return n
}

// Weight returns Σw, the sum of the weights of the rows.
func (a *Accumulator) Weight() float64 {
	var w twofold.Total
	for _, l := range a.lanes {
		w.Merge(l.Stage.Weight)
	}
	return w.Value()
}

// RelativeWeight returns a bound on the relative round-off of w, the sum of the row weights in the first lane.
// w must be positive.
func (a *Accumulator) RelativeWeight(w float64) float64 { return a.lanes[0].Stage.RelativeWeight(w) }

// Empty reports whether no rows were added. It also checks the sketch, because a damaged message may hold
// sketched rows that are not counted.
func (a *Accumulator) Empty() bool {
	return a.Rows() == 0 && a.lanes[0].Sketch.Rows() == 0
}
