package ridge

import (
	"context"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/shape"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// SummaryConfig says what to keep of the rows. Dim and Size are required; the
// zero value of every other field is the documented default.
type SummaryConfig struct {
	Dim       int  // d, the number of features
	Targets   int  // t, the number of targets; 0 means 1
	Size      int  // m, the rows of the sketch
	Intercept bool // fit an intercept for each target, unpenalised

	Shrink     fd.Driver      // how the sketch shrinks; default fd.Gram
	ShrinkRows int            // rows between two shrinks; 0: the dispatcher's choice
	Backend    engine.Backend // nil is engine.Default()
	Store      fd.Storage     // what the sketch keeps; default AᵀA where that is no larger than its buffer
}

// A Summary is all that ridge regression needs to know of the rows seen so far,
// for every γ: the Frequent Directions sketch of A, c = AᵀY, ‖Y‖² and, with an
// intercept, the means; A and Y are then centred, exactly, row by row and across
// merges. It holds O((m+p+t)·d) numbers. Where d is no more than m+p the sketch is AᵀA itself,
// of which nothing is lost: see [fd.Storage].
//
// One goroutine may write at a time; any number may read while none writes.
type Summary struct {
	cfg    SummaryConfig
	sketch *fd.Sketch
	stage  *rows.Stage
	sums   sums
	raw    float64 // sum of squares of all that was read, against overflow

	sparse    bool // some rows came sparse, and are centred only implicitly
	unwatched bool // some rows came without a witness: read from format version 1

	// Meta is the caller's own, at most [MaxMeta] bytes, written and read along with
	// the summary and otherwise left alone, by Merge too.
	Meta []byte

	mu      sync.Mutex
	spec    *fd.Spectrum // of the sketch as it stands; nil when it has to be computed
	ofWhole bool         // spec is that of K itself, see whole
}

// NewSummary makes an empty summary. The errors are those of [fd.New].
func NewSummary(cfg SummaryConfig) (*Summary, error) {
	if cfg.Targets == 0 {
		cfg.Targets = 1
	}
	if cfg.Targets < 0 {
		return nil, badinput.Errorf("ridge: Targets is %d, must be positive", cfg.Targets)
	}
	if cfg.Backend == nil {
		be, err := engine.Default()
		if err != nil {
			return nil, err
		}
		cfg.Backend = be
	}
	sketch, err := fd.New(fd.Config{Dim: cfg.Dim, Size: cfg.Size, Shrink: cfg.Shrink, ShrinkRows: cfg.ShrinkRows, Backend: cfg.Backend, Store: cfg.Store})
	if err != nil {
		return nil, err
	}
	if !shape.Addressable(uint64(cfg.Targets)+1, uint64(cfg.Dim)) {
		return nil, fmt.Errorf("%w: t·d = %d·%d", fd.ErrSize, cfg.Targets, cfg.Dim)
	}
	return &Summary{
		cfg: cfg, sketch: sketch,
		stage: rows.NewStage(cfg.Dim, cfg.Targets, cfg.Intercept),
		sums:  newSums(cfg.Dim, cfg.Targets),
	}, nil
}

// Summarize makes a summary of one pass over src, whose dimensions override
// cfg.Dim and cfg.Targets. progress, if not nil, is told the rows read so far.
func Summarize(ctx context.Context, src dataset.Source, cfg SummaryConfig, progress func(rows int64)) (*Summary, error) {
	if src == nil {
		return nil, errNoSource
	}
	_, cfg.Dim, cfg.Targets = src.Dims()
	s, err := NewSummary(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.Continue(ctx, src, progress); err != nil {
		return nil, err
	}
	return s, nil
}

// Continue makes the rest of a pass over src, whose first Rows() rows s has seen. A summary
// that was written while [Summarize] made it, in a call of progress, becomes what Summarize
// would have made, bit for bit. After a cancelled Continue, s is the summary of the blocks
// read until then. Errors about a row count it from the start of src. Fewer rows than s has
// seen, or another number of them than src.Dims has, are [ErrShape].
func (s *Summary) Continue(ctx context.Context, src dataset.Source, progress func(rows int64)) error {
	switch {
	case s == nil || s.sketch == nil:
		return errUnmade
	case src == nil:
		return errNoSource
	}
	n, d, t := src.Dims()
	if d != s.cfg.Dim || t != s.cfg.Targets {
		return fmt.Errorf("%w: the source has %d features and %d targets, the summary %d and %d", errShape, d, t, s.cfg.Dim, s.cfg.Targets)
	}
	from := s.Rows()
	if n >= 0 && n < from {
		return unfit("the source has %d rows, the summary has seen %d", n, from)
	}
	for b, err := range dataset.From(ctx, src, from) {
		if err == nil {
			err = ctx.Err() // a source need not notice
		}
		if err != nil {
			return err
		}
		if err := s.appendFrom(s.Rows(), rows.Since(from, b, s.cfg.Dim, s.cfg.Targets)); err != nil {
			return err
		}
		from = 0
		if progress != nil {
			progress(s.Rows())
		}
	}
	if n < 0 {
		n, _, _ = src.Dims() // a source may know after a pass
	}
	return checkCount(n, s.Rows())
}

// Rows is n, the number of rows seen.
func (s *Summary) Rows() int64 {
	if s.stage == nil { // the zero value
		return 0
	}
	return s.stage.Rows
}

// Weight is Σw, the sum of the weights of the rows seen: their number where they had none.
// [Summary.Decay] multiplies it.
func (s *Summary) Weight() float64 {
	if s.stage == nil { // the zero value
		return 0
	}
	return s.stage.Weight.Value()
}

// Config returns the configuration in force. What Store comes to is Sketch().Scatter().
func (s *Summary) Config() SummaryConfig { return s.cfg }

// Sketch returns the sketch of A, centred where an intercept is fitted. It is
// the summary's own: read it only.
func (s *Summary) Sketch() *fd.Sketch { return s.sketch }

// Append adds the n rows of x (n×d) with targets y (n×t). weights is nil, or has
// one weight >= 0 for each row: the row counts as if scaled by its square root.
//
// All is checked before anything is changed: dimensions ([ErrShape], of nil too), finite
// values (*[fd.NonFiniteError], column d+j for target j, d+t for the weight) and
// range (*[fd.RangeError]). Rows are counted within the call. The arguments are not written
// and not kept.
func (s *Summary) Append(x, y mat.Matrix, weights []float64) error {
	if isNil(x) || isNil(y) {
		return fmt.Errorf("%w: x or y is nil", errShape)
	}
	n, d := x.Dims()
	ny, t := y.Dims()
	if n != ny || d != s.cfg.Dim || t != s.cfg.Targets {
		return fmt.Errorf("%w: x is %d×%d, y is %d×%d, the summary has %d features and %d targets", errShape, n, d, ny, t, s.cfg.Dim, s.cfg.Targets)
	}
	return s.AppendBlock(dataset.Block{N: n, X: packed(x), Y: packed(y), W: weights})
}

// isNil reports that there is no matrix.
func isNil(x mat.Matrix) bool {
	dense, ok := x.(*mat.Dense)
	return x == nil || ok && dense == nil
}

// packed returns the rows of x without gaps between them, x's own memory where
// it already is so.
func packed(x mat.Matrix) []float64 {
	r, c := x.Dims()
	if raw, ok := x.(mat.RawMatrixer); ok {
		if g := raw.RawMatrix(); g.Stride == c {
			return g.Data[:r*c]
		}
	}
	out := make([]float64, r*c)
	for i := range r {
		for j := range c {
			out[i*c+j] = x.At(i, j)
		}
	}
	return out
}

// AppendBlock is [Summary.Append] for a block of a [dataset.Source], dense or
// sparse.
func (s *Summary) AppendBlock(b dataset.Block) error { return s.appendFrom(0, b) }

// appendFrom is AppendBlock with errors that count rows from first.
func (s *Summary) appendFrom(first int64, b dataset.Block) error {
	if s.sketch == nil {
		return errUnmade
	}
	raw, err := s.stage.Check(b, int(first), s.raw)
	if err != nil {
		return err
	}
	most := rows.RowsPerStage(s.cfg.Dim)
	for lo := 0; lo < b.N; lo += most {
		if err := s.accumulate(s.stage.Load(s.stage.Cut(b, lo, min(lo+most, b.N)))); err != nil {
			return err
		}
	}
	s.raw = raw
	s.sparse = s.sparse || b.Sparse != nil
	return nil
}

// accumulate adds staged rows.
func (s *Summary) accumulate(st rows.Staged) error {
	s.spec = nil
	return s.sums.add(s.cfg.Backend, s.sketch, st)
}

// Decay forgets: it multiplies the weight of every row seen so far by beta,
// 0 < beta <= 1, so that a row seen k decays ago counts betaᵏ times. A, c, ‖Y‖² and
// the means are then those of the weighted rows and every certificate is about
// them; n, as in GCV, stays the number of rows seen. A source has no such weights,
// so that a decayed summary cannot be refined by passes. Another beta is an error, and
// so is one that leaves the rows next to no weight, below 2⁻⁹⁰⁰ together (*[ScaleError]):
// begin a new summary then. Nothing is changed by either.
func (s *Summary) Decay(beta float64) error {
	if s.sketch == nil {
		return errUnmade
	}
	if w := s.stage.Weight.Value(); beta > 0 && w > 0 && !(beta*w >= leastWeight) {
		return &ScaleError{"Σw", beta * w}
	}
	if err := s.sketch.Decay(beta); err != nil {
		return err
	}
	s.spec = nil
	s.sums.decay(beta)
	s.raw *= beta
	s.stage.Decay(beta)
	return nil
}

// leastWeight is the least weight that decays may leave.
const leastWeight = 0x1p-900

// Merge adds the rows that o has seen. Summaries of different dimensions, size
// or intercept, s itself and nil are refused with [ErrShape]; a sum of squares
// beyond range with *[fd.RangeError]; s is then unchanged. o is never changed.
func (s *Summary) Merge(o *Summary) error {
	if o == nil || o.sketch == nil || s.sketch == nil {
		return fmt.Errorf("%w: merging a summary that is nil or was never made", errShape)
	}
	a, b := s.cfg, o.cfg
	if s == o || a.Dim != b.Dim || a.Targets != b.Targets || a.Size != b.Size || a.Intercept != b.Intercept {
		return fmt.Errorf("%w: merging summaries of %d×%d and %d×%d, size %d and %d, intercept %v and %v, which must differ in nothing but their rows",
			errShape, a.Dim, a.Targets, b.Dim, b.Targets, a.Size, b.Size, a.Intercept, b.Intercept)
	}
	if !(s.raw+o.raw <= rows.MaxSquares) || s.stage.Separates(o.stage) {
		return &fd.RangeError{}
	}
	if err := s.sketch.Merge(o.sketch); err != nil {
		return err
	}
	s.sums.merge(&o.sums)
	s.raw += o.raw
	s.sparse = s.sparse || o.sparse
	s.unwatched = s.unwatched || o.unwatched
	return s.accumulate(s.stage.Merge(o.stage))
}

// spectrum returns the sketch's spectrum, computing it once between writes.
func (s *Summary) spectrum() (*fd.Spectrum, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sketch == nil {
		return nil, errUnmade
	}
	if s.spec == nil {
		p, err := s.sketch.Spectrum()
		if err != nil {
			return nil, err
		}
		s.spec = p
	}
	return s.spec, nil
}

// lostNothing says that AᵀA itself is known but for round-off, by a pass or because it is kept.
func (s *Summary) lostNothing() bool {
	return s.ofWhole || s.sketch.Scatter() && s.sketch.Bound().Shrinkage == 0
}

// interceptOf is ȳ − xᵀx̄ for weights x of target j.
func (s *Summary) interceptOf(x []float64, j int) float64 {
	if !s.cfg.Intercept {
		return 0
	}
	d, mean := s.cfg.Dim, s.stage.Means()
	return mean[d+j] - vec.Dot(x, mean[:d])
}
