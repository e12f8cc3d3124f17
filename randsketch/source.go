package randsketch

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
)

// AppendSource appends the rows of one pass over src. A sketch without targets ignores the targets of src. Any other
// sketch requires the same number of targets; otherwise the error is [ErrShape]. After an error, the sketch contains
// all earlier blocks.
//
// Rows are not centred. For a fit with an intercept, centre them first ([dataset.Standardize]). Otherwise the sketch
// approximates another matrix.
func (s *Sketch) AppendSource(ctx context.Context, src dataset.Source) error {
	_, d, t := src.Dims()
	if d != s.cfg.Dim || (s.cfg.Targets != 0 && t != s.cfg.Targets) {
		return fmt.Errorf(
			"%w: the source has %d features and %d targets, the sketch %d and %d",
			errShape,
			d,
			t,
			s.cfg.Dim,
			s.cfg.Targets,
		)
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
		y := b.Y
		if s.cfg.Targets == 0 {
			y = nil
		}
		if b.Sparse != nil {
			err = s.AppendSparse(b.Sparse, y)
		} else {
			err = s.AppendRows(b.N, b.X, s.cfg.Dim, y)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// AppendSource appends the rows of one pass over src. After an error, the approximation contains all earlier blocks.
// Targets of src are ignored.
func (a *Nystrom) AppendSource(ctx context.Context, src dataset.Source) error {
	if _, d, _ := src.Dims(); d != a.cfg.Dim {
		return fmt.Errorf("%w: the source has %d features, the approximation %d", errShape, d, a.cfg.Dim)
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Sparse != nil {
			err = a.AppendSparse(b.Sparse)
		} else {
			err = a.AppendRows(b.N, b.X, a.cfg.Dim)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Classical returns the one-shot solutions of the classical sketch (t×d). For a target b, the row of the solution is
//
//	(AᵀSᵀSA + γI)⁻¹AᵀSᵀSb.
//
// It needs only SA and Sb (C. Dickens, 2020, section 3). The Hessian sketch uses Aᵀb instead of AᵀSᵀSb; see
// [Spectrum.Solve]. A sketch without targets, and a γ that is not positive, are errors.
func (s *Sketch) Classical(gamma float64) (*mat.Dense, error) {
	if s.cfg.Targets == 0 {
		return nil, fmt.Errorf("%w: the sketch holds no targets", errShape)
	}
	if !(gamma > 0) || math.IsInf(gamma, 0) {
		return nil, fmt.Errorf("randsketch: gamma is %v, must be positive and finite", gamma)
	}
	p, err := s.Spectrum()
	if err != nil {
		return nil, err
	}
	d, t := s.cfg.Dim, s.cfg.Targets
	c := mat.NewDense(t, d, nil)
	c.Mul(s.Targets().T(), s.Matrix())
	gammas := make([]float64, t)
	for j := range gammas {
		gammas[j] = gamma
	}
	x := c.RawMatrix().Data
	p.Solve(t, gammas, x, x)
	return c, nil
}

// Fresh is the approximation Ĥ = AᵀSᵀSA + γI, with a random matrix S, that the Iterative Hessian Sketch renews
// in each iteration (M. Pilanci, M. Wainwright, JMLR 17, 2016). Every Refresh draws a new S and makes a pass over the
// rows. Fresh implements ridge.Refresher.
type Fresh struct {
	*Spectrum // of the last Refresh, nil before the first
	src       dataset.Source
	sketch    *Sketch
	next      uint64
}

// NewFresh prepares sketches of the rows of src with the options cfg, without targets. Their seeds are
// cfg.Seed, cfg.Seed + 1, and so on. Errors: the errors of [New]; [ErrShape].
func NewFresh(src dataset.Source, cfg Config) (*Fresh, error) {
	cfg.Targets = 0
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if _, d, _ := src.Dims(); d != cfg.Dim {
		return nil, fmt.Errorf("%w: the source has %d features, the sketch %d", errShape, d, cfg.Dim)
	}
	return &Fresh{src: src, sketch: s, next: cfg.Seed}, nil
}

// Refresh draws the next S and computes SA by a pass over the rows. Errors: the errors of the source and of
// [Sketch.Spectrum].
func (f *Fresh) Refresh(ctx context.Context) error {
	f.sketch.Reset(f.next)
	f.next++
	if err := f.sketch.AppendSource(ctx, f.src); err != nil {
		return err
	}
	var err error
	f.Spectrum, err = f.sketch.Spectrum()
	return err
}

// Range returns [Spectrum.Range] of the last sketch. Before the first Refresh it returns 0 and +Inf.
func (f *Fresh) Range(gamma float64) (lo, hi float64) {
	if f.Spectrum == nil {
		return 0, math.Inf(1)
	}
	return f.Spectrum.Range(gamma)
}
