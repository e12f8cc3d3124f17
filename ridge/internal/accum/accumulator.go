package accum

import (
	"github.com/fdridge/fdridge/internal/neumaier"
)

// An Accumulator adds up rows in one or several lanes. One goroutine may write at a time; any number may
// read while none writes.
type Accumulator struct {
	cfg   Config
	lanes []*Lane // those with rows come first
	crew  *crew   // feeds the lanes; nil if there is one
}

// New makes an empty accumulator. The errors are those of [fd.New] and of fields of cfg.
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

// View returns an accumulator of the configuration cfg that has the rows of l, which it shares: it is to
// be read, not to be written.
func View(cfg Config, l *Lane) *Accumulator { return &Accumulator{cfg: cfg, lanes: []*Lane{l}} }

// Config returns the configuration in force.
func (a *Accumulator) Config() Config { return a.cfg }

// Lanes returns the number of lanes that have begun.
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

// RelativeWeight bounds the relative round-off of the weight w > 0 of the first lane.
func (a *Accumulator) RelativeWeight(w float64) float64 { return a.lanes[0].Stage.RelativeWeight(w) }

// Empty reports whether no rows were added. A sketch of a damaged message may have rows that are not counted.
func (a *Accumulator) Empty() bool {
	return a.Rows() == 0 && a.lanes[0].Sketch.Rows() == 0
}
