package randsketch

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/background"
)

// AppendSource appends the rows of one pass over src. Without targets in the sketch
// those of src are left out; otherwise they must agree in number ([ErrShape]). The
// rows are sketched as they are: where ridge fits an intercept to rows that are not
// centred, centre them first ([dataset.Standardize]), or the sketch stands for
// another matrix. After an error the sketch holds the blocks before it.
func (s *Sketch) AppendSource(ctx context.Context, src dataset.Source) error {
	ctx = background.IfNil(ctx)
	if _, d, t := src.Dims(); d != s.cfg.Dim || (s.cfg.Targets != 0 && t != s.cfg.Targets) {
		return fmt.Errorf("%w: the source has %d features and %d targets, the sketch %d and %d", errShape, d, t, s.cfg.Dim, s.cfg.Targets)
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

// AppendSource appends the rows of one pass over src, whose targets are left out. It
// is [Sketch.AppendSource] for a Nyström approximation.
func (a *Nystrom) AppendSource(ctx context.Context, src dataset.Source) error {
	ctx = background.IfNil(ctx)
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

// Classical is the one-shot solution by the classical sketch, t×d: each row is
//
//	x^C = (AᵀSᵀSA + γI)⁻¹AᵀSᵀSb
//
// for one target b, from SA and Sb alone (C. Dickens, 2020, section 3). With
// [Spectrum.Solve] on AᵀY in place of AᵀSᵀSY it is the Hessian sketch. A sketch
// without targets, and γ that is not positive, are errors.
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

// Fresh is the Hessian of the Iterative Hessian Sketch (M. Pilanci, M. Wainwright,
// JMLR 17, 2016): Ĥ = AᵀSᵀSA + γI with an S drawn anew by every Refresh, which
// makes a pass over the rows. It implements ridge.Refresher.
type Fresh struct {
	*Spectrum // of the last Refresh, nil before the first
	src       dataset.Source
	sketch    *Sketch
	next      uint64
}

// NewFresh prepares the sketches of src that cfg describes, with seeds cfg.Seed,
// cfg.Seed + 1, …; cfg.Targets is set to 0. Errors: those of [New]; [ErrShape].
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

// Refresh draws the next S and makes a pass for SA. Errors: those of the source and
// of [Sketch.Spectrum].
func (f *Fresh) Refresh(ctx context.Context) error {
	ctx = background.IfNil(ctx)
	f.sketch.Reset(f.next)
	f.next++
	if err := f.sketch.AppendSource(ctx, f.src); err != nil {
		return err
	}
	var err error
	f.Spectrum, err = f.sketch.Spectrum()
	return err
}

// Range is that of the last sketch; before the first nothing is known.
func (f *Fresh) Range(gamma float64) (lo, hi float64) {
	if f.Spectrum == nil {
		return 0, math.Inf(1)
	}
	return f.Spectrum.Range(gamma)
}
