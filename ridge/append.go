package ridge

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// Summarize makes one pass over src and returns the summary of its rows. It takes the numbers of features and
// targets from src, and ignores cfg.Dim and cfg.Targets. If progress is not nil, Summarize calls progress with the
// number of rows read so far.
func Summarize(
	ctx context.Context,
	src dataset.Source,
	cfg SummaryConfig,
	progress func(rows int64),
) (*Summary, error) {
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

// Continue resumes an interrupted pass over src. It skips the first s.Rows() rows of src, which s already contains,
// and appends the rest. If ctx is cancelled, s is the summary of the blocks read so far.
//
// If progress is not nil, Continue calls progress with the number of rows that s contains. The function progress
// may write s to a file. A summary that is read from this file can be continued. The result is then equal, bit for
// bit, to the summary of a pass without interruption. Continue does not merge parallel sketches
// ([SummaryConfig.Lanes]); call [Summary.Join].
//
// Errors number rows from the start of src. The error is [ErrShape] if src has fewer rows than s, or a number of
// rows that differs from src.Dims.
func (s *Summary) Continue(ctx context.Context, src dataset.Source, progress func(rows int64)) error {
	switch {
	case !s.isValid():
		return errZeroValue
	case src == nil:
		return errNoSource
	case s.penalty != nil:
		return errView
	}
	n, d, t := src.Dims()
	if d != s.cfg.Dim || t != s.cfg.Targets {
		return fmt.Errorf(
			"%w: the source has %d features and %d targets, but the summary has %d and %d",
			errShape,
			d,
			t,
			s.cfg.Dim,
			s.cfg.Targets,
		)
	}
	from := s.Rows()
	if n >= 0 && n < from {
		return unfit("the source has %d rows, but the summary has seen %d", n, from)
	}
	for b, err := range dataset.From(ctx, src, from) {
		if err == nil {
			err = ctx.Err() // a source may ignore the context
		}
		if err != nil {
			return err
		}
		fresh := rows.Since(from, b, s.cfg.Dim, s.cfg.Targets)
		if err := s.appendFrom(s.Rows(), fresh); err != nil {
			return err
		}
		from = 0
		if progress != nil {
			progress(s.Rows())
		}
	}
	if n < 0 {
		n, _, _ = src.Dims() // some sources know the number of rows only after a pass
	}
	return rows.CheckCount(n, s.Rows())
}

// Append adds the n rows of the n×d matrix x with d features. The n×t matrix y holds their t targets. weights is
// nil or holds n sample weights ≥ 0. A row of weight w is multiplied by √w, and so are its targets.
//
// Append checks all input before it changes the summary. It neither modifies nor keeps its arguments. Errors number
// rows from the first row of x:
//
//   - [ErrShape] for wrong dimensions or a nil x or y
//   - *[fd.NonFiniteError] for non-finite values; its Column is d+j for target j, and d+t for the weight
//   - *[fd.RangeError] for values out of range
func (s *Summary) Append(x, y mat.Matrix, weights []float64) error {
	b, err := blockOf(s.cfg, x, y, weights)
	if err != nil {
		return err
	}
	return s.AppendBlock(b)
}

// AppendBlock appends a block of a [dataset.Source], dense or sparse; see [Summary.Append].
func (s *Summary) AppendBlock(b dataset.Block) error {
	return s.appendFrom(0, b)
}

// appendFrom appends b. Errors number rows from firstRow.
func (s *Summary) appendFrom(firstRow int64, b dataset.Block) error {
	if !s.isValid() {
		return errZeroValue
	}
	if err := s.checkWritable(); err != nil {
		return err
	}
	err := s.sum.Append(int(firstRow), b)
	s.invalidate()
	return err
}

// invalidate updates the configuration and drops cached results. It is called after every change of the sums, for
// example after rows were appended, reweighted, merged or read from a message.
func (s *Summary) invalidate() {
	s.cfg = SummaryConfig(s.sum.Config())
	s.joined = nil
	s.spec = nil
	s.known = nil
}

// Decay multiplies the weights of all rows appended so far by beta, 0 < beta ≤ 1.
//
// All later results are for the rows with their new weights. The number of rows does not change. In particular, the
// score of generalised cross-validation (GCV) still counts every row once. Further passes over the rows cannot
// refine a decayed summary, because the source still has the old weights.
//
// Decay returns an error if beta is out of range, and a *[ScaleError] if the sum of the weights would fall below
// 2⁻⁹⁰⁰. After an error s is unchanged. A *[ScaleError] means that the rows have almost no weight left: start
// a new summary.
func (s *Summary) Decay(beta float64) error {
	if !s.isValid() {
		return errZeroValue
	}
	if err := s.checkWritable(); err != nil {
		return err
	}
	if w := s.Weight(); beta > 0 && w > 0 && !(beta*w >= accum.LeastWeight) {
		return &ScaleError{"Σw", beta * w}
	}
	err := s.sum.Decay(beta)
	s.invalidate()
	return err
}
