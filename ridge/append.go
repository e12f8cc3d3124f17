package ridge

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

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
	return rows.CheckCount(n, s.Rows())
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
	err := s.sum.Append(int(first), b)
	s.changed()
	return err
}

// changed takes over what writing has changed, and forgets what was computed from the rows before.
func (s *Summary) changed() {
	s.cfg = SummaryConfig(s.sum.Config())
	s.joined, s.spec = nil, nil
}

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
	if w := s.Weight(); beta > 0 && w > 0 && !(beta*w >= accum.LeastWeight) {
		return &ScaleError{"Σw", beta * w}
	}
	err := s.sum.Decay(beta)
	s.changed()
	return err
}
