package ridge

import (
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A lane is what some rows come to: all of them, or those that were dealt to it.
type lane struct {
	cfg    SummaryConfig
	sketch *fd.Sketch
	stage  *rows.Stage
	sums   sums
	raw    float64 // sum of squares of all that was read, against overflow

	sparse    bool // some rows came sparse, and are centred only implicitly
	unwatched bool // some rows came without a witness: read from format version 1
}

func newLane(cfg SummaryConfig) (*lane, error) {
	sketch, err := fd.New(fd.Config{Dim: cfg.Dim, Size: cfg.Size, Shrink: cfg.Shrink, ShrinkRows: cfg.ShrinkRows, Backend: cfg.Backend, Store: cfg.Store})
	if err != nil {
		return nil, err
	}
	return &lane{
		cfg: cfg, sketch: sketch,
		stage: rows.NewStage(cfg.Dim, cfg.Targets, cfg.Intercept),
		sums:  newSums(cfg.Dim, cfg.Targets),
	}, nil
}

// append adds the rows of a block that was found to be good, staged some at a time.
func (l *lane) append(b dataset.Block) error {
	most := rows.RowsPerStage(l.cfg.Dim, b.Sparse != nil)
	for lo := 0; lo < b.N; lo += most {
		if err := l.accumulate(l.stage.Load(l.stage.Cut(b, lo, min(lo+most, b.N)), l.sketch.KeepsSparse())); err != nil {
			return err
		}
	}
	l.sparse = l.sparse || b.Sparse != nil
	return nil
}

// accumulate adds staged rows.
func (l *lane) accumulate(st rows.Staged) error {
	return l.sums.add(l.cfg.Backend, l.sketch, st)
}

// merge adds the rows of o.
func (l *lane) merge(o *lane) error {
	if err := l.sketch.Merge(o.sketch); err != nil {
		return err
	}
	l.sums.merge(&o.sums)
	l.raw += o.raw
	l.sparse = l.sparse || o.sparse
	l.unwatched = l.unwatched || o.unwatched
	return l.accumulate(l.stage.Merge(o.stage))
}

// decay multiplies the weight of every row by beta.
func (l *lane) decay(beta float64) error {
	if err := l.sketch.Decay(beta); err != nil {
		return err
	}
	l.sums.decay(beta)
	l.raw *= beta
	l.stage.Decay(beta)
	return nil
}

// interceptOf is ȳ − xᵀx̄ for weights x of target j.
func (l *lane) interceptOf(x []float64, j int) float64 {
	if !l.cfg.Intercept {
		return 0
	}
	d, mean := l.cfg.Dim, l.stage.Means()
	return mean[d+j] - vec.Dot(x, mean[:d])
}
