package accum

import (
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Lane holds the sums of some rows: of all of them, or of its share of them. Outside of this package
// it is read only.
type Lane struct {
	Sketch *fd.Sketch
	Stage  *rows.Stage // means, weight, and bounds on what centring has put wrong
	Sparse bool        // some rows came sparse, and are centred only implicitly

	cfg       Config
	sums      sums
	raw       float64 // sum of squares of all that was read, against overflow
	unwatched bool    // some rows came without a witness: read from format version 1
}

func newLane(cfg Config) (*Lane, error) {
	sketch, err := fd.New(fd.Config{Dim: cfg.Dim, Size: cfg.Size, Shrink: cfg.Shrink, ShrinkRows: cfg.ShrinkRows, Backend: cfg.Backend, Store: cfg.Store})
	if err != nil {
		return nil, err
	}
	return &Lane{
		cfg: cfg, Sketch: sketch,
		Stage: rows.NewStage(cfg.Dim, cfg.Targets, cfg.Intercept),
		sums:  newSums(cfg.Dim, cfg.Targets),
	}, nil
}

// append adds the rows of a block that was checked. It stages some of them at a time.
func (l *Lane) append(b dataset.Block) error {
	most := rows.RowsPerStage(l.cfg.Dim, b.Sparse != nil)
	for lo := 0; lo < b.N; lo += most {
		if err := l.accumulate(l.Stage.Load(l.Stage.Cut(b, lo, min(lo+most, b.N)), l.Sketch.KeepsSparse())); err != nil {
			return err
		}
	}
	l.Sparse = l.Sparse || b.Sparse != nil
	return nil
}

// accumulate adds staged rows.
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
	l.unwatched = l.unwatched || o.unwatched
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

// Intercept returns ȳ − xᵀx̄, the intercept of target j for the weights x; 0 if none is fitted.
func (l *Lane) Intercept(x []float64, j int) float64 {
	if !l.cfg.Intercept {
		return 0
	}
	d, mean := l.cfg.Dim, l.Stage.Means()
	return mean[d+j] - vec.Dot(x, mean[:d])
}

// Scaled returns the sums of the same rows in columns that are divided by scale. norms bounds the norm
// of each column. The sketch is that of l, unscaled.
func (l *Lane) Scaled(scale, norms []float64) *Lane {
	scaled := *l
	scaled.Stage = l.Stage.Scaled(scale, norms)
	scaled.sums = l.sums.scaled(scale)
	return &scaled
}
