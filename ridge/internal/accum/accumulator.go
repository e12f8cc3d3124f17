package accum

import (
	"github.com/fdridge/fdridge/internal/neumaier"
)

// An Accumulator adds up rows in one or several [Lane] values. Only one goroutine may write at a time. Any
// number of goroutines may read while none writes.
type Accumulator struct {
	cfg    Config
	lanes  []*Lane // lanes with rows come first
	feeder *feeder // adds blocks to several lanes; nil if there is one lane
}

// New returns an empty accumulator. It returns an error if a field of cfg is invalid, see [fd.New].
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

// View returns a read-only accumulator with the configuration cfg and the rows of l.
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
	var w neumaier.Sum
	for _, l := range a.lanes {
		w.Merge(l.Stage.Weight)
	}
	return w.Value()
}

// RelativeWeight bounds the relative round-off of w > 0, the weight of the first lane.
func (a *Accumulator) RelativeWeight(w float64) float64 { return a.lanes[0].Stage.RelativeWeight(w) }

// Empty reports whether no rows were added. The sketch is checked too, because a damaged message may contain
// rows that are not counted.
func (a *Accumulator) Empty() bool {
	return a.Rows() == 0 && a.lanes[0].Sketch.Rows() == 0
}
