package choose

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/accum"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// CrossValidation holds the options of [CrossValidate]. The zero value of each field is the documented default.
type CrossValidation struct {
	Folds int // K, the number of folds; at least 2 and at most the number of rows; default 5
	// Gammas are the values of the penalty γ to compare. The default is a [Grid] of 25 γ for all rows. This default
	// grid is extended as in [Gamma], but only downwards if Exact is true.
	Gammas []float64
	// FixedGrid compares exactly the 25 γ of the default [Grid]: no γ is added or left out. The candidates then
	// do not depend on the targets. FixedGrid has no effect if Gammas is given.
	FixedGrid bool
	// Seed determines the folds. Seed 0 assigns row i to fold i mod Folds. Any other seed assigns row i by a hash
	// of the seed and i. Use a seed other than 0 if the order of the rows is periodic.
	Seed uint64
	// Exact makes a second pass, which computes the errors of the fits on the held-out rows. Without Exact, only
	// brackets of these errors are known. With Exact, the coefficients for all folds, γ and targets are kept in
	// memory. For K folds, k values of γ, t targets and d features, these are K·k·t·d numbers.
	Exact bool
	// Rounding describes scaled features, as in [ridge.ExactOptions].
	Rounding []float64
	// MaxBytes limits the memory of the folds, in bytes; 0 means 8 GiB.
	MaxBytes uint64
	// Merge, if not nil, combines the folds of several workers that share the rows. CrossValidate calls Merge for its own
	// summary of each fold, in order. Merge returns the summary of this fold for all workers. Each worker assigns its own
	// rows to folds. Exact is then an error.
	Merge func(ctx context.Context, own *ridge.Summary) (*ridge.Summary, error)
	// Summarize, if not nil, replaces [ridge.Summarize] and Merge. CrossValidate calls it for the rows of each fold, in
	// order. A call reads all rows, so that K passes replace the first pass. Summarize returns the summary of this fold
	// for all workers. Exact is then an error.
	Summarize func(
		ctx context.Context, fold dataset.Source, cfg ridge.SummaryConfig, progress func(rows int64),
	) (*ridge.Summary, error)
	// Progress, if not nil, is called with the number of the pass, from 1, and the number of rows read so far.
	Progress func(pass int, rows int64)
}

// A FoldsError reports a cross-validation that needs more memory than MaxBytes.
type FoldsError struct {
	Folds        int    // K, the number of folds
	Bytes, Limit uint64 // memory needed and allowed, in bytes
}

func (e *FoldsError) Error() string {
	return fmt.Sprintf(
		"ridge: the sketches of %d folds need about %d bytes, the limit is %d: use fewer folds or a smaller "+
			"sketch, or raise MaxBytes",
		e.Folds,
		e.Bytes,
		e.Limit,
	)
}

// Is reports whether target is [ridge.ErrInput].
func (e *FoldsError) Is(target error) bool { return target == ridge.ErrInput }

// A CVResult is the result of a cross-validation with K folds. Each row is predicted by the fit to the folds that
// do not contain the row. The score of a penalty γ and a target is the mean squared error over all rows, with
// sample weights. Scikit-learn averages the errors of the folds instead. For folds of equal size both scores are
// equal.
type CVResult struct {
	Gammas []float64 `json:"gammas"`
	// Fitted[i][j] brackets the score at Gammas[i] of target j for fits from sketches ([ridge.Summary.Fit]). A
	// sketch is computed for each fold. The rows of a fold are predicted by the fit to the merged sketches of all
	// other folds.
	Fitted [][]ridge.Interval `json:"fitted"`
	// Ridge[i][j] brackets the score at Gammas[i] of target j for exact ridge solutions.
	Ridge [][]ridge.Interval `json:"ridge"`
	// Unknown lists the small values of γ of the default grid that were left out, because their scores are not
	// known well; see [GammaChoice].
	Unknown []float64
	// Summary is the summary of all rows.
	Summary *ridge.Summary
	Passes  int `json:"passes"` // number of passes over the data
}

// CrossValidate does K-fold cross-validation in one pass. It keeps a summary of each fold. A summary takes O((m+p+t)d)
// numbers, for a sketch of m rows that takes p rows between two shrinks, t targets and d features. For each fold it
// merges the K − 1 other summaries and fits every γ to the merged sketch. The squared error of coefficients x on
// the rows of the fold is
//
//	‖b‖² − 2cᵀx + xᵀKx + n(ȳ − ν − (x̄ − μ)ᵀx)²,   xᵀKx ∈ ‖Bx‖² + [0, η]‖x‖².
//
// Here A has the n rows of the fold and b their targets, centred by the means x̄ and ȳ of the fold. K = AᵀA and
// c = Aᵀb. B is the sketch of A, with shrinkage η. μ and ν are the means of the features and targets of the other
// rows. The last term is absent without an intercept. If the exact solution x* replaces the fit x̂, the residuals
// change by at most
//
//	‖A(x̂ − x*)‖ ≤ ‖AH⁻¹Aᵀ‖^{½}·‖H^{½}(x̂ − x*)‖,
//
// where A has the rows of the fold minus μ, and H is AᵀA + γI of the other rows. The last norm is at most
// ρ‖x̂‖/√γ, where ρ is half the shrinkage of the merged sketch. It is also at most √(2(f(x̂) − f*)) for
// the objective f of the fit and its minimum f*.
//
// The numbers of features and targets of src replace cfg.Dim and cfg.Targets. cfg.Lanes is ignored, because the folds
// run in parallel.
//
// Errors:
//
//   - the errors of src and of [ridge.NewSummary]; *[ridge.GammaError]
//   - [ridge.ErrShape] for fewer than two folds, more folds than rows, or a fold without rows of positive weight
//   - *[FoldsError], before anything is allocated
func CrossValidate(
	ctx context.Context,
	src dataset.Source,
	cfg ridge.SummaryConfig,
	cv CrossValidation,
) (*CVResult, error) {
	if cv.Folds == 0 {
		cv.Folds = DefaultFolds
	}
	if cv.Folds < 2 {
		return nil, rows.Unfit("%d folds, there must be two", cv.Folds)
	}
	if src == nil {
		return nil, rows.ErrNoSource
	}
	n, d, t := src.Dims()
	cfg.Dim, cfg.Targets = d, t
	cfg.Lanes, cfg.LaneRows = 1, 0 // the folds run in parallel
	shared := cv.Merge != nil || cv.Summarize != nil
	if shared && cv.Exact {
		return nil, rows.Unfit("Exact makes a second pass, which several workers do not share")
	}
	if n >= 0 && int64(cv.Folds) > n && !shared {
		return nil, rows.Unfit("%d folds of %d rows: each fold needs a row", cv.Folds, n)
	}
	v := &validation{cv: cv, cfg: cfg}
	if err := v.checkMemory(n); err != nil {
		return nil, err
	}
	if err := v.summarize(ctx, src); err != nil {
		return nil, err
	}
	all, err := v.mergeWithout(ctx, -1)
	if err != nil {
		return nil, err
	}
	grid := GammaGrid{Gammas: cv.Gammas}
	if cv.Gammas == nil {
		grid, err = gridOf(all, gridCV)
		if err != nil {
			return nil, err
		}
		if cv.FixedGrid {
			grid = GammaGrid{Gammas: grid.Gammas[len(grid.Gammas)-gridCV:]}
		}
	}
	extend := cv.Gammas == nil && !cv.FixedGrid
	folds, err := v.fit(ctx, grid.Gammas)
	if err != nil {
		return nil, err
	}
	passes := 1
	if cv.Summarize != nil {
		passes = cv.Folds
	}
	if cv.Exact {
		passes++
		if err := v.evaluate(ctx, src, folds); err != nil {
			return nil, err
		}
	}
	s := scores(grid.Gammas, folds, all)
	if extend {
		first := grid.start(
			len(grid.Gammas),
			func(i int) ridge.Interval { return ridge.Interval(sumBrackets(s.ridge[i])) },
		)
		s = cvScores{s.gammas[first:], s.fitted[first:], s.ridge[first:]}
	}
	if extend && !cv.Exact {
		s, err = v.extendGrid(ctx, s, all)
		if err != nil {
			return nil, err
		}
	}
	r := &CVResult{
		Gammas:  s.gammas,
		Fitted:  s.fitted,
		Ridge:   s.ridge,
		Summary: all,
		Passes:  passes,
	}
	if extend {
		r.Unknown = gammasBelow(grid.Gammas, s.gammas[0])
	}
	return r, nil
}

// validation is the state of [CrossValidate].
type validation struct {
	cv   CrossValidation
	cfg  ridge.SummaryConfig
	held []*ridge.Summary // summary of the rows of each fold
}

// A fold holds results for the rows of one fold of a cross-validation. These rows are predicted by fits to the rows
// of all other folds. Each slice has one element for each penalty γ and each target.
type fold struct {
	errors []interval.Interval // brackets of the sum of squared errors on the rows of the fold
	// shift bounds how far the residuals of a fit from sketches are from the residuals of the exact ridge fit, as the
	// norm of their difference.
	shift  []float64
	round  []float64 // bounds on the norm of the round-off in the residuals that a second pass computes
	scorer *scorer   // computes the errors of the fits in a second pass; nil without a second pass
}

// checkMemory returns a *FoldsError if the folds of n rows need more than the allowed memory.
func (v *validation) checkMemory(n int64) error {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return err
	}
	limit := v.cv.MaxBytes
	if limit == 0 {
		limit = ridge.DefaultMaxBytes
	}
	m, p, err := fd.Config{
		Dim:        v.cfg.Dim,
		Size:       v.cfg.Size,
		Shrink:     v.cfg.Shrink,
		ShrinkRows: v.cfg.ShrinkRows,
		Store:      v.cfg.Store,
	}.Buffer()
	if err != nil {
		return err
	}
	d := float64(v.cfg.Dim)
	t := float64(v.cfg.Targets)
	buffer := float64(m) + float64(p)
	folds := float64(v.cv.Folds)
	order := buffer // order of the eigenproblem of a shrink
	if m == v.cfg.Dim {
		order = d
	}
	waiting := float64(dealtRows(tuning, v.cfg.Dim))
	if n >= 0 {
		waiting = math.Min(waiting, math.Ceil(float64(n)/folds))
	}
	numbers := (buffer+float64(m))*(d+8) +
		4*order*order +
		(d+t)*(2*waiting+8) +
		4*t*d
	if v.cv.Exact {
		numbers += math.Max(float64(len(v.cv.Gammas)), gridCV) * t * d
	}
	if need := 8 * folds * numbers; need > float64(limit) {
		return &FoldsError{v.cv.Folds, uint64(math.Min(need, math.MaxInt64)), limit}
	}
	return nil
}

// summarize computes a summary of each fold.
func (v *validation) summarize(ctx context.Context, src dataset.Source) error {
	err := v.summarizeFolds(ctx, src)
	if err != nil {
		return err
	}
	for k, s := range v.held {
		if !(s.Weight() > 0) {
			return rows.Unfit("fold %d of %d has no rows, or none with weight", k+1, v.cv.Folds)
		}
	}
	return nil
}

// summarizeFolds computes a summary of each fold in one pass, or in a pass for each fold if Summarize is given.
func (v *validation) summarizeFolds(ctx context.Context, src dataset.Source) error {
	if v.cv.Summarize != nil {
		return v.summarizeEach(ctx, src)
	}
	for range v.cv.Folds {
		s, err := ridge.NewSummary(v.cfg)
		if err != nil {
			return err
		}
		v.held = append(v.held, s.WithErrors(ridge.RowErrors{Rounding: v.cv.Rounding}))
	}
	v.cfg = v.held[0].Config()
	err := v.deal(ctx, src, 1, func(k int, b dataset.Block) error {
		return v.held[k].AppendBlock(b)
	})
	if err != nil {
		return err
	}
	for k := range v.held {
		if v.cv.Merge == nil {
			break
		}
		v.held[k], err = v.cv.Merge(ctx, v.held[k])
		if err != nil {
			return err
		}
		v.held[k].WithErrors(ridge.RowErrors{Rounding: v.cv.Rounding})
	}
	return nil
}

// summarizeEach calls Summarize for the rows of each fold.
func (v *validation) summarizeEach(ctx context.Context, src dataset.Source) error {
	for k := range v.cv.Folds {
		fold, err := dataset.Where(src, func(row int64) bool { return v.foldOf(row) == k })
		if err != nil {
			return err
		}
		var tell func(rows int64)
		if v.cv.Progress != nil {
			tell = func(rows int64) { v.cv.Progress(k+1, rows) }
		}
		s, err := v.cv.Summarize(ctx, fold, v.cfg, tell)
		if err != nil {
			return err
		}
		v.held = append(v.held, s.WithErrors(ridge.RowErrors{Rounding: v.cv.Rounding}))
	}
	v.cfg = v.held[0].Config()
	return nil
}

// mergeWithout returns the merged summary of all folds except fold k.
func (v *validation) mergeWithout(ctx context.Context, k int) (*ridge.Summary, error) {
	s, err := ridge.NewSummary(v.cfg)
	if err != nil {
		return nil, err
	}
	for i, h := range v.held {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i != k {
			if err := s.Merge(h); err != nil {
				return nil, err
			}
		}
	}
	return s.WithErrors(ridge.RowErrors{Rounding: v.cv.Rounding}), nil
}

// fit returns the results of fitWithout for each fold.
func (v *validation) fit(ctx context.Context, gammas []float64) ([]fold, error) {
	var folds []fold
	for k := range v.held {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := v.fitWithout(ctx, k, gammas)
		if err != nil {
			return nil, err
		}
		folds = append(folds, f)
	}
	return folds, nil
}

// fitWithout fits to all folds except k, and brackets the squared errors of these fits on the rows of fold k.
func (v *validation) fitWithout(ctx context.Context, k int, gammas []float64) (f fold, err error) {
	rest, err := v.mergeWithout(ctx, k)
	if err != nil {
		return f, err
	}
	others, err := accum.KnownOf(rest, ridge.OneShot.String(), 1, gammas...)
	if err != nil {
		return f, err
	}
	held, err := accum.KnownOf(v.held[k], ridge.OneShot.String(), 1)
	if err != nil {
		return f, err
	}
	d, t := v.cfg.Dim, v.cfg.Targets
	shift := others.Bound().Shift()
	x := others.Apply(certify.Inverses(gammas, shift)...)
	out := certify.NewHeldOut(held, others)
	bx := held.SketchNorms(len(gammas)*t, x)
	own := others.SketchNorms(len(gammas)*t, x)
	if v.cv.Exact {
		f.scorer = newScorer(v.cfg.Backend, d, t)
		f.scorer.x = x
	}
	for i, gamma := range gammas {
		gain, ok := out.Gain(gamma)
		if !ok {
			return f, fmt.Errorf("ridge: %w", ridge.ErrNoConvergence)
		}
		o := others.OneShot(gamma, shift)
		for j := range t {
			row := i*t + j
			xj := x[row*d : (row+1)*d]
			xn := vec.Norm(xj)
			f.errors = append(f.errors, out.Missed(j, xj, xn, bx[row]))
			f.shift = append(f.shift, gain*out.Energy(o, j, xj, xn, own[row]))
			intercept := others.InterceptOf(xj, j)
			f.round = append(f.round, out.RoundOff(j, xn, intercept))
			if v.cv.Exact {
				f.scorer.intercept = append(f.scorer.intercept, intercept)
			}
		}
	}
	return f, nil
}

// evaluate makes a second pass, which computes the errors of the fits on the rows of each fold.
func (v *validation) evaluate(ctx context.Context, src dataset.Source, folds []fold) error {
	count := make([]int64, len(folds))
	weight := make([]twofold.Total, len(folds))
	err := v.deal(ctx, src, 2, func(k int, b dataset.Block) error {
		count[k] += int64(b.N)
		for i := range b.N {
			weight[k].Add(b.Weight(i))
		}
		return folds[k].scorer.add(b, 0)
	})
	if err != nil {
		return err
	}
	for k, h := range v.held {
		w := h.Weight()
		if count[k] != h.Rows() ||
			!(math.Abs(weight[k].Value()-w) <= roundoff.SameRows*w) {
			return rows.Unfit(
				"fold %d has %d rows of weight %g in the second pass, in the first it had %d of %g",
				k+1,
				count[k],
				weight[k].Value(),
				h.Rows(),
				w,
			)
		}
	}
	for k, f := range folds {
		// lost bounds the error of the norm of the residuals if squares of small residuals underflow.
		lost := math.Sqrt(float64(v.held[k].Rows())) * 0x1p-536
		for i, pad := range f.round {
			r := math.Sqrt(f.scorer.rss[i].Value()) * (1 + 4*roundoff.Eps)
			square := interval.Interval{Lo: r * r, Hi: r * r}
			seen := interval.WidenRoot(square, pad+4*roundoff.Eps*r+lost)
			if interval.Apart(seen, f.errors[i]) {
				return rows.Unfit(
					"the rows of the second pass differ from the first: the squared error of fold %d is %.6g, but the "+
						"first pass proved %.6g to %.6g",
					k+1,
					r*r,
					f.errors[i].Lo,
					f.errors[i].Hi,
				)
			}
			f.errors[i] = interval.Intersect(f.errors[i], seen)
		}
	}
	return nil
}
