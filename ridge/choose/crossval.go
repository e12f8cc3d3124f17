package choose

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// CrossValidation says how to cross-validate; its zero value is the documented
// default.
type CrossValidation struct {
	Folds int // K, at least 2 and at most the number of rows; default 5
	// Gammas are the candidates. Default: Grid(25) of all rows, continued and going on as that of
	// [Gamma] where the best γ, of one-shot fits or of exact solutions, is at its
	// end. With Exact it does not go on: that would take more passes.
	Gammas []float64
	// Seed says how rows are dealt to the folds. 0 deals in turn, row i to fold
	// i mod K: folds of equal size, and each spread over all of a file that is sorted
	// by time, place or class. Any other deals by a hash of seed and i, for data with a
	// period.
	Seed uint64
	// Exact makes a second pass that evaluates the fits on the rows held out, for all γ
	// and folds at once, in place of the brackets that the folds' sketches give. It holds
	// the K·k·t·d weights of k γ.
	Exact bool
	// MaxBytes is the most memory that the folds may take; 0 means 8 GiB.
	MaxBytes uint64
	// Progress, if not nil, is told the pass, from 1, and the rows read so far.
	Progress func(pass int, rows int64)
}

// A FoldsError reports a cross-validation whose folds need more memory than they may take.
type FoldsError struct {
	Folds        int    // K
	Bytes, Limit uint64 // needed and allowed
}

func (e *FoldsError) Error() string {
	return fmt.Sprintf("ridge: the sketches of %d folds need about %d bytes, the limit is %d: take fewer folds or a smaller sketch, or raise MaxBytes", e.Folds, e.Bytes, e.Limit)
}

// Is tells that it is [ridge.ErrInput].
func (e *FoldsError) Is(target error) bool { return target == ridge.ErrInput }

// A CVResult is the outcome of K-fold cross-validation: for each γ and target, the
// mean over all rows, by their weights, of the squared error for a row by the fit
// that was made without its fold. (scikit-learn averages over folds: the same where
// they are of equal size.)
type CVResult struct {
	Gammas []float64 `json:"gammas"`
	// Fitted brackets the score of the one-shot RFDRR fits to K − 1 folds' merged
	// sketches.
	Fitted [][]ridge.Interval `json:"fitted"`
	// Ridge brackets the score that exact ridge solutions would have had.
	Ridge [][]ridge.Interval `json:"ridge"`
	// Unknown are the γ of the default grid that were left out, see [GammaChoice].
	Unknown []float64
	// Summary is that of all the rows, merged: fit, solve or predict from it.
	Summary *ridge.Summary
	Passes  int `json:"passes"` // reads of the data
}

// ChooseFitted picks the γ with the best score of one-shot fits for target j, summed
// over all targets where j is negative.
func (r *CVResult) ChooseFitted(j int) (Choice, error) { return chooseTarget(r.Fitted, j) }

// ChooseRidge is ChooseFitted for exact solutions.
func (r *CVResult) ChooseRidge(j int) (Choice, error) { return chooseTarget(r.Ridge, j) }

// CrossValidate makes K-fold cross-validation in one pass: it keeps K summaries, of
// K·O((m+p+t)d) numbers, and for each fold merges the K − 1 others, fits every γ to
// the merged sketch and scores it on the fold held out. With B, c, ‖b‖², n and the
// means x̄, ȳ of the fold's own summary, μ and ν those of the others, what fit x misses
// the fold by is
//
//	‖b‖² − 2cᵀx + xᵀKx + n(ȳ − ν − (x̄ − μ)ᵀx)²,   xᵀKx ∈ ‖Bx‖² + [0, η]‖x‖²,
//
// without the last term where no intercept is fitted. For the exact solution x* in place of x̂, the residuals move by
// no more than
//
//	‖A(x̂ − x*)‖ ≤ ‖AH⁻¹Aᵀ‖^{½}·‖H^{½}(x̂ − x*)‖,
//
// A the fold's rows less μ, H and f those of the others, where the last norm is at
// most ρ‖x̂‖/√γ and, squared, 2(f(x̂) − f*).
//
// Dimensions override cfg.Dim and cfg.Targets; cfg.Lanes is not used, as the folds are fed side by
// side. Errors: those of src and
// [NewSummary]; *[ridge.GammaError]; [ridge.ErrShape] for fewer than two folds, or a fold that
// gets no rows, or none with weight, and at once for more folds than rows, where their
// number is known; *[FoldsError] before anything is allocated.
func CrossValidate(ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, cv CrossValidation) (*CVResult, error) {
	ctx = background.IfNil(ctx)
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
	cfg.Lanes, cfg.LaneRows = 1, 0 // the folds are fed side by side
	if n >= 0 && int64(cv.Folds) > n {
		return nil, rows.Unfit("%d folds of %d rows: each needs one", cv.Folds, n)
	}
	v := &validation{cv: cv, cfg: cfg}
	if err := v.room(n); err != nil {
		return nil, err
	}
	if err := v.summarize(ctx, src); err != nil {
		return nil, err
	}
	all, err := v.mergeBut(ctx, -1)
	if err != nil {
		return nil, err
	}
	gammas := cv.Gammas
	if gammas == nil {
		if gammas, err = gridOf(all, gridCV); err != nil {
			return nil, err
		}
	}
	folds, err := v.fit(ctx, gammas)
	if err != nil {
		return nil, err
	}
	passes := 1
	if cv.Exact {
		passes = 2
		if err := v.evaluate(ctx, src, folds); err != nil {
			return nil, err
		}
	}
	s := scores(gammas, folds, all)
	if cv.Gammas == nil {
		s = s.from(known(len(gammas), gridCV, func(i int) ridge.Interval { return ridge.Interval(total(s.ridge[i])) }))
	}
	if cv.Gammas == nil && !cv.Exact {
		if s, err = v.goOn(ctx, s, all); err != nil {
			return nil, err
		}
	}
	r := &CVResult{Gammas: s.gammas, Fitted: s.fitted, Ridge: s.ridge, Summary: all, Passes: passes}
	if cv.Gammas == nil {
		r.Unknown = below(gammas, s.gammas[0])
	}
	return r, nil
}

// A validation is a cross-validation under way.
type validation struct {
	cv   CrossValidation
	cfg  ridge.SummaryConfig
	held []*ridge.Summary // of the rows of each fold
}

// A fold is what is known of the fits that were made without it, for each γ and target.
type fold struct {
	missed []interval.Interval // squared error on the rows held out
	shift  []float64           // bounds how far, in norm, the residuals of x* are from these
	round  []float64           // bounds, in norm, the round-off of evaluating the residuals row by row
	scorer *scorer             // the fits, where they are to be evaluated
}

// room refuses folds of n rows, -1 if unknown, that take more memory than they may. Each takes
// a sketch, its vectors and the matrices it is shrunk by, c and the means, and the rows that
// are collected for it; the weights of the fits, too, where they are kept.
func (v *validation) room(n int64) error {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return err
	}
	limit := v.cv.MaxBytes
	if limit == 0 {
		limit = ridge.DefaultMaxBytes
	}
	m, p, err := fd.Config{Dim: v.cfg.Dim, Size: v.cfg.Size, Shrink: v.cfg.Shrink, ShrinkRows: v.cfg.ShrinkRows, Store: v.cfg.Store}.Buffer()
	if err != nil {
		return err
	}
	d, t, buffer, folds := float64(v.cfg.Dim), float64(v.cfg.Targets), float64(m)+float64(p), float64(v.cv.Folds)
	order := buffer // of the matrices that a sketch is shrunk by
	if m == v.cfg.Dim {
		order = d
	}
	waiting := float64(dealtRows(tuning, v.cfg.Dim))
	if n >= 0 {
		waiting = math.Min(waiting, math.Ceil(float64(n)/folds))
	}
	numbers := (buffer+float64(m))*(d+8) + 4*order*order + (d+t)*(2*waiting+8) + 4*t*d
	if v.cv.Exact {
		numbers += math.Max(float64(len(v.cv.Gammas)), gridCV) * t * d
	}
	if need := 8 * folds * numbers; need > float64(limit) {
		return &FoldsError{v.cv.Folds, uint64(math.Min(need, math.MaxInt64)), limit}
	}
	return nil
}

// summarize makes the first pass.
func (v *validation) summarize(ctx context.Context, src dataset.Source) error {
	for range v.cv.Folds {
		s, err := ridge.NewSummary(v.cfg)
		if err != nil {
			return err
		}
		v.held = append(v.held, s)
	}
	v.cfg = v.held[0].Config()
	err := v.deal(ctx, src, 1, func(k int, b dataset.Block) error { return v.held[k].AppendBlock(b) })
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

// mergeBut merges all folds but k.
func (v *validation) mergeBut(ctx context.Context, k int) (*ridge.Summary, error) {
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
	return s, nil
}

// fit fits every γ without each of the folds.
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

// fitWithout fits every γ without fold k and brackets what the fits miss it by.
func (v *validation) fitWithout(ctx context.Context, k int, gammas []float64) (f fold, err error) {
	rest, err := v.mergeBut(ctx, k)
	if err != nil {
		return f, err
	}
	others, err := rest.Known(ridge.OneShot.String(), 1, gammas...)
	if err != nil {
		return f, err
	}
	held, err := v.held[k].Known(ridge.OneShot.String(), 1)
	if err != nil {
		return f, err
	}
	d, t := v.cfg.Dim, v.cfg.Targets
	shift := others.Bound().Shift()
	x := others.Apply(certify.Inverses(gammas, shift)...)
	out := certify.NewHeldOut(held, others)
	bx, own := held.SketchNorms(len(gammas)*t, x), others.SketchNorms(len(gammas)*t, x)
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
			f.missed = append(f.missed, out.Missed(j, xj, xn, bx[row]))
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

// evaluate makes the second pass.
func (v *validation) evaluate(ctx context.Context, src dataset.Source, folds []fold) error {
	count, weight := make([]int64, len(folds)), make([]neumaier.Sum, len(folds))
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
		if w := h.Weight(); count[k] != h.Rows() || !(math.Abs(weight[k].Value()-w) <= roundoff.SameRows*w) {
			return rows.Unfit("fold %d has %d rows of weight %g in the second pass, in the first it had %d of %g", k+1, count[k], weight[k].Value(), h.Rows(), w)
		}
	}
	for k, f := range folds {
		lost := math.Sqrt(float64(v.held[k].Rows())) * 0x1p-536 // of squares times weights, which underflow
		for i, pad := range f.round {
			r := math.Sqrt(f.scorer.rss[i].Value()) * (1 + 4*roundoff.Eps)
			seen := interval.WidenRoot(interval.Interval{Lo: r * r, Hi: r * r}, pad+4*roundoff.Eps*r+lost)
			if interval.Apart(seen, f.missed[i]) {
				return rows.Unfit("the rows of the second pass are not those of the first: those of fold %d are missed by %.6g in squares, where they prove %.6g to %.6g", k+1, r*r, f.missed[i].Lo, f.missed[i].Hi)
			}
			f.missed[i] = interval.Intersect(f.missed[i], seen)
		}
	}
	return nil
}
