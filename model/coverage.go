package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/conformal"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// A Coverage holds, for each target, half the width of the prediction intervals for new observations. It is
// computed from held-out rows (split conformal prediction). Let k = ⌈Level·(Rows + 1)⌉. The radius is the k-th
// smallest absolute residual of the held-out rows, rounded up. If the held-out rows and a new row are exchangeable,
// the interval
//
//	prediction ± radius
//
// contains the target of the new row with probability at least Level. This holds although γ was chosen, because the
// held-out rows took no part in the choice. See docs/math.md §20.
type Coverage struct {
	Level float64 `json:"level"` // 1 − α
	Rows  int64   `json:"rows"`  // number of held-out rows of positive weight
	// Radius belongs to the predictions of the model's coefficients.
	Radius PerTarget[Number] `json:"radius"`
	// ExactRadius is an upper bound on the radius that the exact ridge solution would have. It is computed from
	// upper bounds on the residuals of the exact solution. It is +Inf if nothing is proved about the exact
	// solution.
	ExactRadius PerTarget[Number] `json:"exact_radius"`
}

// check returns an error unless c is nil or has valid numbers for t targets.
func (c *Coverage) check(t int) error {
	if c == nil {
		return nil
	}
	if err := checkLevel(c.Level); err != nil {
		return err
	}
	if len(c.Radius) != t || len(c.ExactRadius) != t {
		return fmt.Errorf("%d and %d radii of intervals for %d targets", len(c.Radius), len(c.ExactRadius), t)
	}
	if conformal.Rank(c.Level, c.Rows) > c.Rows {
		return fmt.Errorf("intervals of coverage %v from %d held-out rows", c.Level, c.Rows)
	}
	for j := range t {
		if r := float64(c.Radius[j]); !(r >= 0) || math.IsInf(r, 1) {
			return fmt.Errorf("a radius of intervals is %v", r)
		}
		if r := float64(c.ExactRadius[j]); !(r >= 0) {
			return fmt.Errorf("a radius of intervals is %v", r)
		}
	}
	return nil
}

// checkLevel returns an error unless the level of prediction intervals is between 0 and 1, both excluded.
func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return errtext.BadInput("model: a coverage of %v, must be between 0 and 1", level)
	}
	return nil
}

// A CoverageRowsError reports that there are too few rows for finite prediction intervals of the given Level.
type CoverageRowsError struct {
	Level  float64
	Rows   int64 // number of rows
	Needed int64 // smallest number of rows with finite intervals
}

func (e *CoverageRowsError) Error() string {
	return fmt.Sprintf(
		"model: intervals of coverage %v need at least %d rows to calibrate them, but there are %d",
		e.Level,
		e.Needed,
		e.Rows,
	)
}

// Is reports whether target is [ErrInput].
func (e *CoverageRowsError) Is(target error) bool {
	return target == ErrInput
}

// A Calibration holds the absolute residuals of held-out rows, from which [Calibration.Coverages] computes the
// widths of prediction intervals. It takes 16 bytes for each row, each γ and each target of the model.
type Calibration struct {
	level      float64
	targets    int
	own, exact [][]float64 // for each γ and target
}

// Calibrate makes one pass over held-out rows and computes their absolute residuals for each γ and target. The
// argument held must be prepared as [Model.Prepare] prepares rows. The argument level is 1 − α, between 0 and 1.
// Rows of weight 0 do not count, and other weights make no difference.
//
// Two residuals are kept of each row: an upper bound on |y − ŷ| for the prediction ŷ of the model, and an upper
// bound on |y − y*| for the prediction y* of the exact solution. The latter uses the interval [lo, hi] of y* that
// the certificate proves:
//
//	|y − y*| ≤ max(|y − lo|, |y − hi|).
//
// The errors are [ErrInput] for an invalid level or a model of classes, [ErrShape] for other dimensions, errors of
// held, and an *[OverflowError].
func (m *Model) Calibrate(
	ctx context.Context,
	held dataset.Source,
	level float64,
) (*Calibration, error) {
	if err := checkLevel(level); err != nil {
		return nil, err
	}
	switch {
	case m.Classes != nil:
		return nil, errtext.BadInput("model: intervals of coverage are for numbers, the model predicts classes")
	case held == nil || len(m.Fits) == 0:
		return nil, fmt.Errorf("%w: a calibration needs rows and a fit", errShape)
	}
	t := len(m.Fits[0].Coef)
	_, d, k := held.Dims()
	if d != len(m.Fits[0].Coef[0]) || k != t {
		return nil, fmt.Errorf(
			"%w: rows of %d features and %d targets, the model has %d and %d",
			errShape, d, k, len(m.Fits[0].Coef[0]), t)
	}
	if m.Folded != nil {
		var err error
		held, err = m.Folded.Apply(held)
		if err != nil {
			return nil, &PreparationError{err}
		}
	}
	var of []*Predictor
	for i := range m.Fits {
		one := *m
		one.Fits = m.Fits[i : i+1]
		p, err := one.certified()
		if err != nil {
			return nil, err
		}
		of = append(of, p)
	}
	c := &Calibration{level: level, targets: t}
	c.own = make([][]float64, len(of)*t)
	c.exact = make([][]float64, len(of)*t)
	var within []ridge.Interval
	for b, err := range held.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		for g, p := range of {
			within = slices.Grow(within[:0], b.N*t)[:b.N*t]
			if err := bracketExact(ctx, p.bounds, within, b); err != nil {
				return nil, err
			}
			for i := range b.N {
				if !(b.Weight(i) > 0) {
					continue
				}
				for j := range t {
					y := b.Y[i*t+j]
					at := g*t + j
					r := residual(&p.fit.Targets[j], b, i, y)
					own := up(math.Abs(r.Hi) + (math.Abs(r.Lo) + r.Err))
					if !vec.IsFinite(own) {
						return nil, &OverflowError{b.First + int64(i)}
					}
					v := within[i*t+j]
					c.own[at] = append(c.own[at], own)
					most := math.Max(math.Abs(y-v.Lo), math.Abs(y-v.Hi))
					c.exact[at] = append(c.exact[at], up(most))
				}
			}
		}
	}
	return c, nil
}

// up returns a number above v. If v is a sum of a few numbers ≥ 0, computed with rounding, the result is also above
// their exact sum.
func up(v float64) float64 {
	return above(v * (1 + 4*0x1p-52))
}

// certified returns a predictor that uses the coefficients whose errors the certificate bounds. If nothing is
// proved about the exact solution, the predictor has no intervals.
func (m *Model) certified() (*Predictor, error) {
	p, err := m.Predictor(ExactIntervals{})
	if err == nil || !errors.Is(err, ErrUnpenalized) && !errors.Is(err, ErrUnrecorded) {
		return p, err
	}
	p, err = m.Predictor(nil)
	if err != nil {
		return nil, err
	}
	p.useFitted(m)
	return p, nil
}

// bracketExact writes intervals for the rows of b to dst. They contain the predictions of the exact solution. If
// exact is nil, nothing is proved, and the intervals are infinite.
func bracketExact(
	ctx context.Context,
	exact bounds,
	dst []ridge.Interval,
	b dataset.Block,
) error {
	if exact != nil {
		return exact.bracket(ctx, dst, b)
	}
	for i := range dst {
		dst[i] = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	return nil
}

// A calibrationMessage is the form in which a Calibration is sent to other processes.
type calibrationMessage struct{ Own, Exact [][]float64 }

// Pool combines the calibrations of several processes. Each process has a share of the held-out rows. Every process
// must call Pool, and every process gets the same result.
func (c *Calibration) Pool(ctx context.Context, share dataset.Share, link prepare.Link) error {
	if share.Whole() {
		return nil
	}
	message := calibrationMessage{c.own, c.exact}
	own := make([][]float64, len(c.own))
	exact := make([][]float64, len(c.exact))
	err := prepare.Exchange(ctx, share.Size, link, message, func(_ int, of calibrationMessage) error {
		if len(of.Own) != len(own) || len(of.Exact) != len(exact) {
			return fmt.Errorf("%w: one share has %d lists of residuals, another has %d", errShape, len(of.Own), len(own))
		}
		for i := range own {
			own[i] = append(own[i], of.Own[i]...)
			exact[i] = append(exact[i], of.Exact[i]...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.own, c.exact = own, exact
	return nil
}

// Coverages returns a Coverage for each γ of the model. If there are too few rows for finite intervals, the error
// is a *[CoverageRowsError].
func (c *Calibration) Coverages() ([]*Coverage, error) {
	var out []*Coverage
	for at := range c.own {
		n := int64(len(c.own[at]))
		k := conformal.Rank(c.level, n)
		if k > n {
			return nil, &CoverageRowsError{c.level, n, conformal.Least(c.level)}
		}
		if at%c.targets == 0 {
			out = append(out, &Coverage{Level: c.level, Rows: n})
		}
		one := out[len(out)-1]
		one.Radius = append(one.Radius, Number(conformal.Smallest(slices.Clone(c.own[at]), k)))
		one.ExactRadius = append(one.ExactRadius, Number(conformal.Smallest(slices.Clone(c.exact[at]), k)))
	}
	return out, nil
}

// CoverageIntervals are the prediction intervals for new observations that [Coverage] describes. If a new row and
// the held-out rows are exchangeable, the interval contains the target with probability at least Coverage.Level. If
// the certificate bounds the error of the solution, the interval also contains the interval of the exact solution.
// If the model has no Coverage, the error of [Model.Predictor] is [ErrUncovered].
type CoverageIntervals struct{}

// ByCoverage is the basis of [CoverageIntervals].
const ByCoverage Basis = "held-out rows"

func (CoverageIntervals) of(m *Model, p *Predictor) error {
	c := m.Fits[0].Coverage
	if c == nil {
		return ErrUncovered
	}
	exact, err := m.certified()
	if err != nil {
		return err
	}
	*p = *exact
	p.bounds = coverageBounds{c, exact.bounds, p.fit}
	return nil
}

// coverageBounds computes prediction intervals for new observations. It widens intervals that contain the
// predictions of the exact solution.
type coverageBounds struct {
	*Coverage
	exact bounds // nil: nothing is proved about the exact solution
	fit   *ridge.Solution
}

func (coverageBounds) basis() Basis { return ByCoverage }

func (c coverageBounds) bracket(
	ctx context.Context,
	dst []ridge.Interval,
	b dataset.Block,
) error {
	return bracketExact(ctx, c.exact, dst, b)
}

// finish changes the intervals dst for row i of b to prediction intervals for new observations. Before, dst[j] is
// the interval [lo, hi] that contains the exact solution's prediction for target j. Let ŷ be the prediction
// yhat[j], and let q and q* be the radius and the exact radius of target j. The new interval is the smallest that
// contains ŷ ± q and [lo − q*, hi + q*]. If q* is infinite, it is ŷ ± q. All ends are rounded outwards.
func (c coverageBounds) finish(
	dst []ridge.Interval,
	yhat []float64,
	b dataset.Block,
	i int,
) {
	for j := range dst {
		q := float64(c.Radius[j]) + roundOff(&c.fit.Targets[j], b, i)
		v := ridge.Interval{
			Lo: below(yhat[j] - up(q)),
			Hi: above(yhat[j] + up(q)),
		}
		if exact := float64(c.ExactRadius[j]); !math.IsInf(exact, 1) {
			v.Lo = math.Min(v.Lo, below(dst[j].Lo-exact))
			v.Hi = math.Max(v.Hi, above(dst[j].Hi+exact))
		}
		dst[j] = v
	}
}
