package ridge

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/shape"
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

	// Lanes is how many sketches are fed side by side, each by a core of its own, with rows dealt
	// to them by their numbers, and merged, in a fixed order, when the summary is read. For the
	// same Lanes and LaneRows results are the same bits however many cores there are. Memory is
	// that of as many summaries, and of half as many more while they are merged. They are fed side by
	// side within a call, so that one of fewer than Lanes·LaneRows rows keeps fewer busy. 0: [Summarize]
	// and [Fit] have the dispatcher choose ([engine.Tuning.LanesFor]), NewSummary takes 1. At most
	// [MaxLanes].
	Lanes int
	// LaneRows is how many rows in a row go to the same lane: row i, counted from 0, goes to lane
	// ⌊i/LaneRows⌋ mod Lanes. 0: as many as let every lane have some of each block of a file,
	// a share of it. Not used where there is one lane.
	LaneRows int
	// LanesAfter is how many rows all go to the first lane, before the others begin. Where the
	// dispatcher chooses lanes for a source that does not know its rows these are as many as a
	// lane is worth its while for.
	LanesAfter int64
}

// A Summary is all that ridge regression needs to know of the rows seen so far,
// for every γ: the Frequent Directions sketch of A, c = AᵀY, ‖Y‖² and, with an
// intercept, the means; A and Y are then centred, exactly, row by row and across
// merges. It holds O((m+p+t)·d) numbers. Where d is no more than m+p the sketch is AᵀA itself,
// of which nothing is lost: see [fd.Storage].
//
// One goroutine may write at a time; any number may read while none writes.
type Summary struct {
	cfg   SummaryConfig
	lanes []*lane // those with rows come first
	crew  *crew   // feeds them, where there are several

	// Meta is the caller's own, at most [MaxMeta] bytes, written and read along with
	// the summary and otherwise left alone, by Merge too.
	Meta []byte

	mu      sync.Mutex
	joined  *lane        // of all rows; nil when it has to be made of the lanes
	spec    *fd.Spectrum // of its sketch; nil when it has to be computed
	ofWhole bool         // spec is that of K itself, see whole
	penalty []float64    // of a view in penalised columns, of which spec is; nil: none
}

// NewSummary makes an empty summary. The errors are those of [fd.New].
func NewSummary(cfg SummaryConfig) (*Summary, error) {
	if cfg.Targets == 0 {
		cfg.Targets = 1
	}
	if cfg.Targets < 0 {
		return nil, badinput.Errorf("ridge: Targets is %d, must be positive", cfg.Targets)
	}
	if cfg.Lanes == 0 {
		cfg.Lanes = 1
	}
	if cfg.Lanes < 0 || cfg.Lanes > MaxLanes {
		return nil, badinput.Errorf("ridge: Lanes is %d, must be at least 1 and at most %d", cfg.Lanes, MaxLanes)
	}
	if cfg.LaneRows < 0 || cfg.LaneRows > math.MaxInt32 || cfg.LanesAfter < 0 {
		return nil, badinput.Errorf("ridge: LaneRows is %d and LanesAfter %d, must not be negative, and LaneRows be below 2³¹", cfg.LaneRows, cfg.LanesAfter)
	}
	if cfg.Lanes == 1 {
		cfg.LaneRows, cfg.LanesAfter = 0, 0
	} else if cfg.LaneRows == 0 {
		cfg.LaneRows = laneRows(max(cfg.Dim, 1), cfg.Lanes)
	}
	if cfg.Backend == nil {
		be, err := engine.Default()
		if err != nil {
			return nil, err
		}
		cfg.Backend = be
	}
	if !shape.Addressable(uint64(cfg.Targets)+1, uint64(max(cfg.Dim, 1))) {
		return nil, fmt.Errorf("%w: t·d = %d·%d", fd.ErrSize, cfg.Targets, cfg.Dim)
	}
	first, err := newLane(cfg)
	if err != nil {
		return nil, err
	}
	return &Summary{cfg: cfg, lanes: []*lane{first}}, nil
}

// Summarize makes a summary of one pass over src, whose dimensions override
// cfg.Dim and cfg.Targets. progress, if not nil, is told the rows read so far.
func Summarize(ctx context.Context, src dataset.Source, cfg SummaryConfig, progress func(rows int64)) (*Summary, error) {
	ctx = background.IfNil(ctx)
	if src == nil {
		return nil, errNoSource
	}
	var n int64
	n, cfg.Dim, cfg.Targets = src.Dims()
	cfg, err := cfg.WithLanes(n)
	if err != nil {
		return nil, err
	}
	s, err := NewSummary(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.Continue(ctx, src, progress); err != nil {
		return nil, err
	}
	return s, s.Join()
}

// Continue makes the rest of a pass over src, whose first Rows() rows s has seen. A summary
// that was written in a call of progress becomes what it would have without that, bit for bit, and
// [Summary.Join] makes of it what [Summarize] makes. After a cancelled Continue, s is the summary of the blocks
// read until then. Errors about a row count it from the start of src. Fewer rows than s has
// seen, or another number of them than src.Dims has, are [ErrShape].
func (s *Summary) Continue(ctx context.Context, src dataset.Source, progress func(rows int64)) error {
	ctx = background.IfNil(ctx)
	switch {
	case !s.made():
		return errUnmade
	case src == nil:
		return errNoSource
	case s.penalty != nil:
		return errView
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
	var n int64
	for _, l := range s.lanes { // none in the zero value
		n += l.stage.Rows
	}
	return n
}

// Weight is Σw, the sum of the weights of the rows seen: their number where they had none.
// [Summary.Decay] multiplies it.
func (s *Summary) Weight() float64 {
	var w neumaier.Sum
	for _, l := range s.lanes { // none in the zero value
		w.Merge(l.stage.Weight)
	}
	return w.Value()
}

// Config returns the configuration in force. What Store comes to is Sketch().Scatter().
func (s *Summary) Config() SummaryConfig { return s.cfg }

// Sketch returns the sketch of A, centred where an intercept is fitted. It is
// the summary's own: read it only. Where the lanes could not be merged its methods return why.
// The zero Summary has none. That of a penalised summary is of the columns as they are.
func (s *Summary) Sketch() *fd.Sketch {
	if !s.made() {
		return nil
	}
	all, _ := s.all() // the sketch knows the error
	return all.sketch
}

// Append adds the n rows of x (n×d) with targets y (n×t). weights is nil, or has
// one weight >= 0 for each row: the row counts as if scaled by its square root.
//
// All is checked before anything is changed: dimensions ([ErrShape], of nil too), finite
// values (*[fd.NonFiniteError], column d+j for target j, d+t for the weight) and
// range (*[fd.RangeError]). Rows are counted within the call. The arguments are not written
// and not kept.
func (s *Summary) Append(x, y mat.Matrix, weights []float64) error {
	b, err := blockOf(s.cfg, x, y, weights)
	if err != nil {
		return err
	}
	return s.AppendBlock(b)
}

// AppendBlock is [Summary.Append] for a block of a [dataset.Source], dense or
// sparse.
func (s *Summary) AppendBlock(b dataset.Block) error { return s.appendFrom(0, b) }

// appendFrom is AppendBlock with errors that count rows from first.
func (s *Summary) appendFrom(first int64, b dataset.Block) error {
	if !s.made() {
		return errUnmade
	}
	if err := s.writable(); err != nil {
		return err
	}
	if s.cfg.Lanes > 1 && s.Rows()+int64(b.N) > s.cfg.LanesAfter {
		return s.deal(int(first), b)
	}
	l := s.lanes[0]
	raw, err := l.stage.Check(b, int(first), l.raw)
	if err != nil {
		return err
	}
	s.changed()
	l.raw = raw
	return l.append(b)
}

// changed forgets what was made of the rows.
func (s *Summary) changed() { s.joined, s.spec = nil, nil }

// Decay forgets: it multiplies the weight of every row seen so far by beta,
// 0 < beta <= 1, so that a row seen k decays ago counts betaᵏ times. A, c, ‖Y‖² and
// the means are then those of the weighted rows and every certificate is about
// them; n, as in GCV, stays the number of rows seen. A source has no such weights,
// so that a decayed summary cannot be refined by passes. Another beta is an error, and
// so is one that leaves the rows next to no weight, below 2⁻⁹⁰⁰ together (*[ScaleError]):
// begin a new summary then. Nothing is changed by either. A decay that leaves the rows of one of
// several lanes so little joins these before ([Summary.Join]).
func (s *Summary) Decay(beta float64) error {
	if !s.made() {
		return errUnmade
	}
	if err := s.writable(); err != nil {
		return err
	}
	if w := s.Weight(); beta > 0 && w > 0 && !(beta*w >= leastWeight) {
		return &ScaleError{"Σw", beta * w}
	}
	if s.fades(beta) {
		if err := s.Join(); err != nil {
			return err
		}
	}
	for _, l := range s.lanes {
		if err := l.decay(beta); err != nil {
			return err
		}
	}
	s.changed()
	return nil
}

// leastWeight is the least weight that decays may leave.
const leastWeight = 0x1p-900

// Merge adds the rows that o has seen. Summaries of different dimensions, size
// or intercept, s itself and nil are refused with [ErrShape]; a sum of squares
// beyond range with *[fd.RangeError]; s is then unchanged. o is never changed.
func (s *Summary) Merge(o *Summary) error {
	if !o.made() || !s.made() {
		return fmt.Errorf("%w: merging a summary that is nil or was never made", errShape)
	}
	a, b := s.cfg, o.cfg
	if s == o || a.Dim != b.Dim || a.Targets != b.Targets || a.Size != b.Size || a.Intercept != b.Intercept {
		return fmt.Errorf("%w: merging summaries of %d×%d and %d×%d, size %d and %d, intercept %v and %v, which must differ in nothing but their rows",
			errShape, a.Dim, a.Targets, b.Dim, b.Targets, a.Size, b.Size, a.Intercept, b.Intercept)
	}
	if s.penalty != nil || o.penalty != nil {
		return errView
	}
	other, err := o.all()
	if err != nil {
		return err
	}
	if !s.admits(other) {
		return &fd.RangeError{}
	}
	if err := s.lanes[0].merge(other); err != nil {
		return err
	}
	s.changed()
	return nil
}

// made says that s has dimensions, so is neither nil nor the zero value.
func (s *Summary) made() bool { return s != nil && len(s.lanes) > 0 }

// all is what all rows come to. It is to be read only.
func (s *Summary) all() (*lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.allLocked()
}

func (s *Summary) allLocked() (*lane, error) {
	switch {
	case len(s.lanes) == 1:
		return s.lanes[0], nil
	case s.joined != nil:
		return s.joined, nil
	}
	joined, err := joinLanes(s.cfg, s.lanes)
	if err == nil {
		s.joined = joined
	}
	return joined, err
}

// spectrum returns the sketch's spectrum, computing it once between writes.
func (s *Summary) spectrum() (*fd.Spectrum, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.made() {
		return nil, errUnmade
	}
	if s.spec == nil {
		all, err := s.allLocked()
		if err != nil {
			return nil, err
		}
		p, err := all.sketch.Spectrum()
		if err != nil {
			return nil, err
		}
		s.spec = p
	}
	return s.spec, nil
}

// lostNothing says that AᵀA itself is known but for round-off, by a pass or because it is kept.
func (s *Summary) lostNothing() bool {
	return s.ofWhole || s.Sketch().Scatter() && s.Sketch().Bound().Shrinkage == 0
}
