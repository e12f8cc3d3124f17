package accum

import (
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Lane holds the sums over some or all rows. Only this package changes a Lane.
type Lane struct {
	Sketch *fd.Sketch
	Stage  *rows.Stage // means, weight, and bounds on the round-off of centring
	// Sparse is true if some rows were sparse. Passes do not centre sparse rows, but subtract the means from the
	// products.
	Sparse bool

	cfg  Config
	sums sums
	raw  float64 // sum of squares of all rows before centring, to detect overflow
	// lacksWitness is true if rows come from a message of format version 1. Such a message has no product Aᵀ(Ah)
	// with a fixed vector h, by which a later pass recognises the rows A.
	lacksWitness bool
}

func newLane(cfg Config) (*Lane, error) {
	sketch, err := fd.New(
		fd.Config{
			Dim:        cfg.Dim,
			Size:       cfg.Size,
			Shrink:     cfg.Shrink,
			ShrinkRows: cfg.ShrinkRows,
			Backend:    cfg.Backend,
			Store:      cfg.Store,
		},
	)
	if err != nil {
		return nil, err
	}
	return &Lane{
		cfg:    cfg,
		Sketch: sketch,
		Stage:  rows.NewStage(cfg.Dim, cfg.Targets, cfg.Intercept),
		sums:   newSums(cfg.Dim, cfg.Targets),
	}, nil
}

// append adds the rows of a validated block.
func (l *Lane) append(b dataset.Block) error {
	most := rows.RowsPerStage(l.cfg.Dim, b.Sparse != nil)
	for lo := 0; lo < b.N; lo += most {
		cut := l.Stage.Cut(b, lo, min(lo+most, b.N))
		err := l.accumulate(l.Stage.Load(cut, l.Sketch.KeepsSparse()))
		if err != nil {
			return err
		}
	}
	l.Sparse = l.Sparse || b.Sparse != nil
	return nil
}

// accumulate adds the rows st to the sketch and to the sums.
func (l *Lane) accumulate(st rows.Staged) error {
	return l.sums.add(l.cfg.Backend, l.Sketch, st)
}

// merge adds the rows of o.
func (l *Lane) merge(o *Lane) error {
	if err := l.Sketch.Merge(o.Sketch); err != nil {
		return err
	}
	l.sums.merge(&o.sums)
	l.raw += o.raw
	l.Sparse = l.Sparse || o.Sparse
	l.lacksWitness = l.lacksWitness || o.lacksWitness
	return l.accumulate(l.Stage.Merge(o.Stage))
}

// decay multiplies the weight of every row by beta.
func (l *Lane) decay(beta float64) error {
	if err := l.Sketch.Decay(beta); err != nil {
		return err
	}
	l.sums.decay(beta)
	l.raw *= beta
	l.Stage.Decay(beta)
	return nil
}

// Scaled returns the sums that the rows would have if each column j were divided by scale[j]. norms bounds the
// norms of the columns. The result shares the sketch of l, whose columns are not divided.
func (l *Lane) Scaled(scale, norms []float64) *Lane {
	scaled := *l
	scaled.Stage = l.Stage.Scaled(scale, norms)
	scaled.sums = l.sums.scaled(scale)
	return &scaled
}
