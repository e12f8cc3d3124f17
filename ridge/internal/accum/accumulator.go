package accum

import (
	"github.com/fdridge/fdridge/internal/twofold"
)

// An Accumulator adds up sums over rows. The rows are divided among one or several lanes, and each lane holds the
// sums over its rows. While a method adds rows or merges lanes, no other method may be called.
type Accumulator struct {
	cfg   Config
	lanes []*Lane // lanes with rows come first
	// adds blocks to several lanes in parallel; nil if there is one lane
	feeder *feeder
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

// View returns an accumulator with a single lane, l. The accumulator must not be modified.
func View(cfg Config, l *Lane) *Accumulator {
	return &Accumulator{cfg: cfg, lanes: []*Lane{l}}
}

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

// Weight returns the sum of the weights of the rows.
func (a *Accumulator) Weight() float64 {
	var w twofold.Total
	for _, l := range a.lanes {
		w.Merge(l.Stage.Weight)
	}
	return w.Value()
}

// Empty reports whether no rows were added. It examines the count of rows and also the sketch, the small matrix
// that stands for the rows. In a damaged message, the count may be 0 although the sketch has rows.
func (a *Accumulator) Empty() bool {
	return a.Rows() == 0 && a.lanes[0].Sketch.Rows() == 0
}
