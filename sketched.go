package fdridge

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// sketched is the evidence of a summary. It is a value.
type sketched struct {
	job
	method  ridge.Method
	sum     *ridge.Summary   // the summary of the rows
	current *ridge.Summary   // sum, or a copy that contains the exact AᵀA after a pass has computed AᵀA
	cv      *choose.CVResult // the result of cross-validation; nil without folds
	passes  int              // number of passes made to choose γ
	journal int              // number of these passes recorded in Options.Journal
}

// A sketchSearch is the state of a search for γ. It is a [choose.Source] that adds evidence to a sketch.
type sketchSearch struct {
	sketched
	leftOut    decisions
	spent      []reason.Reason // why each pass was made to choose γ, or why none was; nil if the summary was enough
	solvedOpen bool            // solveCandidates has made its passes
}

// sketch builds a summary, and for cross-validation one per fold.
func (j job) sketch(ctx context.Context, steps plan.Steps) (sketched, error) {
	s := sketched{job: j, method: steps.Method}
	tell := j.progress(Sketching, 1)
	var err error
	if j.opts.crossValidates() && !j.columns.DependsOnRows() {
		s.cv, err = j.crossValidate(ctx, tell)
		if err == nil {
			s.sum = s.cv.Summary
			s.passes = s.cv.Passes - 1
		}
	} else {
		s.sum, err = j.sketchRows(ctx, j.src, tell)
	}
	if err != nil {
		return s, err
	}
	s.current = s.sum
	j.record(Step{
		Stage:  Sketching,
		Method: steps.Method,
		Passes: 1 + s.passes,
		Reason: steps.Reason,
	})
	if j.opts.Summarized != nil {
		err = j.opts.Summarized(s.sum)
	}
	return s, err
}

// sketchConfig returns the options of a sketch.
func (o *Options) sketchConfig() ridge.SummaryConfig {
	return ridge.SummaryConfig{
		Size:      o.Size,
		Intercept: !o.NoIntercept,
		Lanes:     o.Lanes,
		Backend:   o.Backend,
	}
}

// sketchRows makes a pass that summarises the rows of all workers. src has the rows before or after the change of
// columns.
func (j job) sketchRows(
	ctx context.Context, src dataset.Source, tell func(rows int64),
) (sum *ridge.Summary, err error) {
	o := &j.opts
	switch {
	case o.Summarize != nil:
		sum, err = o.Summarize(ctx, src, o.sketchConfig(), tell)
	default:
		sum, err = ridge.Summarize(ctx, src, o.sketchConfig(), tell)
		if err == nil && o.Merge != nil {
			sum, err = o.Merge(ctx, sum)
		}
	}
	if err != nil {
		return nil, err
	}
	if sum.Rows() == 0 {
		return nil, ridge.ErrEmpty
	}
	return sum.WithErrors(j.columns.Errors()), nil
}

// crossValidate makes a pass that sketches each fold.
func (j job) crossValidate(ctx context.Context, tell func(rows int64)) (*choose.CVResult, error) {
	folds := choose.CrossValidation{
		Folds:     j.opts.Folds,
		Gammas:    j.eachCandidates(),
		MaxBytes:  j.opts.MaxBytes,
		FixedGrid: j.opts.PerTarget,
		Rounding:  j.columns.Errors().Rounding,
		Merge:     j.opts.Merge,
		Summarize: j.opts.Summarize,
	}
	if tell != nil {
		folds.Progress = func(_ int, rows int64) { tell(rows) }
	}
	return choose.CrossValidate(ctx, j.src, j.opts.sketchConfig(), folds)
}

// fromSummary returns the fit for an existing summary.
func (j job) fromSummary(sum *ridge.Summary) sketched {
	s := sketched{
		job:     j,
		method:  j.opts.Method,
		sum:     sum,
		current: sum,
	}
	why := reason.Reason{}
	switch {
	case s.method != ridge.Auto:
	case j.src == nil:
		s.method, why.Rule = ridge.OneShot, reason.NoRows
	default:
		s.method = plan.Iteration(j.problem())
		why.Rule = reason.RefinesSummary
	}
	j.record(Step{Stage: Sketching, Method: s.method, Reason: why})
	return s
}

func (s sketched) choose(ctx context.Context) (choice, error) {
	c, s, err := s.search(ctx)
	c.from = s
	return c, err
}

// search chooses γ, and returns the sketch with the evidence of all passes:
//
//  1. The criterion is cross-validation if there are folds, leave-one-out errors if the rows can be read again, and
//     otherwise GCV.
//  2. The candidates are the given ones, or the grid of [choose.Gamma] for GCV or of [choose.AroundGCV] for
//     leave-one-out errors. The grid is extended while the best candidate is at its end.
//  3. The smallest upper bound on the score decides.
//  4. If another candidate may be better by more than GammaTol, a pass computes AᵀA, provided [plan.GramPass] finds
//     it worth the cost.
//  5. If only the training errors leave the choice open, more passes solve for the candidates that may be best,
//     provided their vectors fit in MaxBytes.
//  6. One-shot fits make no further pass.
//
// Penalties of bands are chosen before γ.
func (s sketched) search(ctx context.Context) (choice, sketched, error) {
	var err error
	if s.opts.choosesBands() {
		s, err = s.chooseBands(ctx)
		if err != nil {
			return choice{}, s, err
		}
		s, err = s.dealAgain(ctx)
		if err != nil {
			return choice{}, s, err
		}
	}
	if !s.opts.choosesGamma() {
		return choice{gammas: s.opts.Gammas}, s, nil
	}
	state := &sketchSearch{sketched: s, leftOut: decisions{}}
	c := choice{leftOut: state.leftOut}
	if s.opts.PerTarget {
		c.each, err = choose.SearchEach(ctx, s.by, state)
		if err != nil {
			return choice{}, s, err
		}
		c.each.Passes = state.passes
		c.each.Whole = state.current.HoldsGram()
		c.each.Spent = state.spent
		c.gammas = c.each.Gammas
		return c, state.sketched, nil
	}
	c.gamma, err = choose.Search(ctx, s.by, state)
	if err != nil {
		return choice{}, s, err
	}
	c.gammas = []float64{c.gamma.Gamma()}
	folds := s.by.Needs().Folds
	if s.dealsSketches() {
		c.gamma.CV, c.gamma.Unknown = s.cv, s.cv.Unknown
		return c, state.sketched, nil
	}
	c.gamma.Spent, c.gamma.Whole = state.spent, state.current != state.sum && !folds
	if state.spent != nil || folds {
		c.gamma.Passes = state.passes
	}
	return c, state.sketched, nil
}

// dealsSketches reports whether γ is chosen from sketches of folds.
func (s sketched) dealsSketches() bool {
	return s.by.Needs().Folds &&
		!s.columns.DependsOnRows()
}

// Summary returns the present summary.
func (s *sketchSearch) Summary() *ridge.Summary { return s.current }

// Grid returns the given candidates or the default grid.
func (s *sketchSearch) Grid(needs choose.Needs) (choose.GammaGrid, error) {
	given := s.eachCandidates()
	switch {
	case s.cv != nil && needs.Folds:
		return choose.GammaGrid{Gammas: s.cv.Gammas, Fixed: true}, nil
	case given != nil:
		return choose.GammaGrid{Gammas: given, Fixed: true, Given: true}, nil
	case needs.Folds, s.opts.PerTarget && needs.Pass:
		return choose.GammaGrid{
			Gammas: choose.Grid(s.current, smallGrid),
			Fixed:  true,
		}, nil
	case s.opts.PerTarget:
		gammas, err := choose.EachGrid(s.current)
		return choose.GammaGrid{Gammas: gammas, Fixed: true}, err
	}
	return choose.DefaultGrid(s.current)
}

// Evidence returns the solutions of the sketch, and makes the passes that the criterion needs.
func (s *sketchSearch) Evidence(
	ctx context.Context,
	needs choose.Needs,
	gammas []float64,
) ([]choose.Evidence, error) {
	if s.dealsSketches() && needs.Folds {
		return s.evidenceOfFolds(gammas)
	}
	path, err := s.current.Path(gammas)
	if err != nil {
		return nil, err
	}
	switch {
	case needs.Folds:
		return s.refitFolds(ctx, gammas, path)
	case needs.Pass:
		return s.leaveOut(ctx, gammas, path)
	}
	return evidenceOf(path), nil
}

// evidenceOf returns the solutions as evidence.
func evidenceOf(fits []*ridge.Solution) []choose.Evidence {
	out := make([]choose.Evidence, len(fits))
	for i, f := range fits {
		out[i].Fit = f
	}
	return out
}

// evidenceOfFolds returns the errors on the held-out folds of the cross-validation. Without PerTarget, it also returns
// the solutions for all rows.
func (s sketched) evidenceOfFolds(gammas []float64) ([]choose.Evidence, error) {
	out := make([]choose.Evidence, len(gammas))
	for i, g := range gammas {
		out[i].Errors = s.cv.Errors(slices.Index(s.cv.Gammas, g), s.method == ridge.OneShot)
	}
	if s.opts.PerTarget {
		return out, nil
	}
	path, err := s.cv.Summary.Path(gammas)
	for i, f := range path {
		out[i].Fit = f
	}
	return out, err
}

// leaveOut makes one pass for the leave-one-out errors.
func (s *sketchSearch) leaveOut(
	ctx context.Context, gammas []float64, path []*ridge.Solution,
) ([]choose.Evidence, error) {
	s.passes++
	src, opts, err := s.leaveOneOut(gammas, s.passes, s.leftOut)
	if err != nil {
		return nil, err
	}
	scores, err := ridge.LeaveOneOut(ctx, src, s.current, path, opts)
	if err != nil {
		return nil, err
	}
	if err := s.leftOut.pool(ctx, s.opts.Reducer, gammas); err != nil {
		return nil, err
	}
	why := reason.Reason{Rule: reason.LeverageTakesPass}
	if len(s.spent) == 0 || s.spent[0].Rule != why.Rule {
		s.spent = append([]reason.Reason{why}, s.spent...)
	}
	s.record(Step{
		Stage:  Choosing,
		Method: s.method,
		Passes: 1,
		Reason: why,
	})
	return s.leftOut.evidence(path, scores), nil
}

// Sharpen makes the score brackets narrower. It makes a pass that computes AᵀA, and then passes that solve for the
// candidates that may be best. If c is nil, before the first choice, Sharpen only computes AᵀA.
func (s *sketchSearch) Sharpen(
	ctx context.Context,
	needs choose.Needs,
	c *choose.GammaChoice,
) (choose.Sharper, error) {
	nothing := choose.Sharper{}
	switch {
	case c == nil &&
		(s.sum.HoldsGram() || math.IsInf(s.opts.GammaTol, 1) || s.method == ridge.OneShot):
		return nothing, nil
	case c == nil:
		return nothing, s.spendOnGram(ctx, -1)
	case needs != choose.Needs{}:
		return nothing, nil
	}
	if s.solvedOpen || s.isDecided(c) || s.method == ridge.OneShot {
		return nothing, nil
	}
	if s.spent == nil {
		err := s.spendOnGram(ctx, c.RelativeExcess())
		if err != nil || s.current != s.sum {
			return choose.Sharper{Again: true}, err
		}
	}
	if !s.dependsOnResiduals(c) || !s.hasRoom(c) {
		return nothing, nil
	}
	s.solvedOpen = true
	return s.solveCandidates(ctx, c)
}

// SharpenEach makes a pass that computes AᵀA.
func (s *sketchSearch) SharpenEach(
	ctx context.Context,
	needs choose.Needs,
	excess float64,
) (bool, error) {
	if needs != (choose.Needs{}) ||
		s.spent != nil ||
		s.method == ridge.OneShot ||
		excess <= s.opts.GammaTol {
		return false, nil
	}
	err := s.spendOnGram(ctx, excess)
	return s.current != s.sum, err
}

// spendOnGram calls withGram and keeps the reason.
func (s *sketchSearch) spendOnGram(ctx context.Context, excess float64) error {
	sharp, why, err := s.withGram(ctx, excess, 0)
	s.sketched = sharp
	if err == nil {
		s.spent = append(s.spent, why)
	}
	return err
}

// isDecided reports whether no candidate can be better by more than GammaTol.
func (s sketched) isDecided(c *choose.GammaChoice) bool {
	const fitted, nothing = 1e-12, 1e-300
	if s.by.IsLogarithm() {
		return c.RelativeExcess() <= s.opts.GammaTol
	}
	squares := 0.0
	for _, o := range c.Path[c.Index].Targets {
		squares += o.TSS.Hi
	}
	return c.RelativeExcess() <= s.opts.GammaTol ||
		c.Excess <= fitted*squares/float64(s.sum.Rows())+nothing
}

// dependsOnResiduals reports whether exact training errors would decide the choice.
func (s sketched) dependsOnResiduals(c *choose.GammaChoice) bool {
	if s.by.IsLogarithm() {
		return false // the log determinant is open, too
	}
	n := float64(s.sum.Rows()) - float64(len(s.columns.Unpenalized()))
	if !s.opts.NoIntercept {
		n--
	}
	for _, i := range c.Possible {
		df := c.Path[i].EffectiveDimension
		free := (n - df.Lo) / (n - df.Hi)
		if !(n > df.Hi && free*free-1 <= s.opts.GammaTol) {
			return false
		}
	}
	return true
}

// hasRoom reports whether vectors for all possible candidates fit in memory.
func (s sketched) hasRoom(c *choose.GammaChoice) bool {
	return 13*8*float64(len(c.Possible)*s.t)*float64(s.d) <= float64(s.opts.MaxBytes)
}

// withGram makes a pass that computes AᵀA, unless [plan.GramPass] finds it too costly. It returns the sketch with
// AᵀA.
func (s sketched) withGram(
	ctx context.Context,
	excess float64,
	eigenproblems int,
) (sketched, reason.Reason, error) {
	if s.current.HoldsGram() {
		return s, reason.Reason{Rule: reason.GramIsHeld, Numbers: []float64{excess}}, nil
	}
	if why := plan.GramPass(s.problem(), eigenproblems); why.Rule != reason.Asked {
		why.Numbers = append([]float64{excess}, why.Numbers...)
		return s, why, nil
	}
	opts := s.pass()
	s.passes++
	s.journal++
	sharp, err := s.sum.WithGram(ctx, s.src, opts)
	if err != nil {
		return s, reason.Reason{}, err
	}
	s.current = sharp
	why := reason.Reason{Rule: reason.GramWasComputed, Numbers: []float64{excess}}
	s.record(Step{
		Stage:  Choosing,
		Method: s.method,
		Passes: 1,
		Reason: why,
	})
	return s, why, nil
}

// pass returns the options of the next pass for choosing γ.
func (s sketched) pass() ridge.SolveOptions {
	o := ridge.SolveOptions{
		Journal: ridge.After(s.opts.Journal, s.journal),
		Reducer: s.opts.Reducer,
	}
	if tell := s.opts.Progress; tell != nil {
		before := s.passes
		o.Progress = func(p ridge.Progress) {
			p.Pass += before
			tell(Choosing, p)
		}
	}
	return o
}

// solveCandidates iterates for the possible candidates.
func (s *sketchSearch) solveCandidates(
	ctx context.Context, c *choose.GammaChoice,
) (better choose.Sharper, err error) {
	const tol = 1e-8
	open := c.Possible
	gammas := make([]float64, len(open))
	for k, i := range open {
		gammas[k] = c.Path[i].Gamma
	}
	opts := s.pass()
	opts.Tol = tol
	opts.MaxPasses = s.opts.MaxPasses
	opts.Method = ridge.CG
	bytes := 12 * 8 * float64(s.opts.Size+len(open)*s.t) * float64(s.d)
	if !s.current.HoldsGram() && bytes <= float64(s.opts.MaxBytes) {
		opts.Method = ridge.Galerkin
	}
	fits, err := ridge.SolvePath(ctx, s.src, s.current, gammas, opts)
	if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
		fits = short.Solutions
	} else if err != nil {
		return better, err
	}
	better.Evidence = evidenceOf(fits)
	passes := 0
	for _, f := range fits {
		passes = max(passes, f.Iterations)
	}
	s.passes += passes
	s.journal += passes
	why := reason.Reason{
		Rule:    reason.CandidatesWereSolved,
		Numbers: []float64{float64(passes)},
	}
	s.spent = append(s.spent, why)
	s.record(Step{
		Stage:  Choosing,
		Method: opts.Method,
		Passes: passes,
		Reason: why,
	})
	return better, nil
}

// chooseBands chooses the penalties of the bands by GCV. It returns the sketch of the rows with each column divided by
// the root of its penalty. If the error bounds leave the choice uncertain, a pass computes AᵀA, and chooseBands
// chooses again.
func (s sketched) chooseBands(ctx context.Context) (sketched, error) {
	bands, err := s.place(s.opts.Bands)
	if err != nil {
		return s, err
	}
	opts := choose.BandOptions{
		Bands:      bands,
		Penalty:    s.factors,
		Candidates: s.opts.Candidates,
	}
	if !s.opts.choosesGamma() {
		opts.Candidates, opts.GivenGamma = s.opts.Gammas, true
	}
	found, err := choose.Bands(ctx, s.sum, opts)
	if err != nil {
		return s, err
	}
	excess := found.Choice.RelativeExcess()
	if excess > s.opts.GammaTol && s.method != ridge.OneShot {
		sharp, why, err := s.withGram(ctx, excess, len(found.Tried))
		if err != nil {
			return s, err
		}
		s = sharp
		if s.current != s.sum {
			found, err = choose.Bands(ctx, s.current, opts)
			if err != nil {
				return s, err
			}
		}
		found.Passes = s.passes
		found.Whole = s.current != s.sum
		found.Spent = []reason.Reason{why}
	}
	penalty, err := choose.Penalties(s.d, s.factors, found.Bands)
	if err != nil {
		return s, err
	}
	for i := range found.Bands {
		found.Bands[i].Columns = s.opts.Bands[i].Columns
	}
	s.bands = found
	return s.penalize(penalty)
}

// penalize returns the sketch for other penalties. penalty has a number for each column after the change of columns.
func (s sketched) penalize(penalty []float64) (sketched, error) {
	var err error
	s.columns, err = s.columns.Penalize(penalty)
	if err != nil {
		return s, err
	}
	s.job, err = s.changeRows()
	if err != nil {
		return s, err
	}
	before := s.sum
	s.sum, err = before.Penalize(penalty)
	if err != nil {
		return s, err
	}
	if s.current == before {
		s.current = s.sum
		return s, nil
	}
	s.current, err = s.current.Penalize(penalty)
	return s, err
}

// dealAgain reads the rows again for cross-validation after the penalties of bands were chosen.
func (s sketched) dealAgain(ctx context.Context) (sketched, error) {
	if s.cv == nil {
		return s, nil
	}
	var err error
	s.passes++
	s.cv, err = s.crossValidate(ctx, s.progress(Choosing, s.passes))
	if err != nil {
		return s, err
	}
	s.passes += s.cv.Passes - 1
	why := reason.Reason{Rule: reason.FoldsNeedSketch}
	s.record(Step{
		Stage:  Choosing,
		Method: s.method,
		Passes: s.cv.Passes,
		Reason: why,
	})
	return s, nil
}

func (s sketched) solve(ctx context.Context, c choice) (solved, error) {
	out := solved{
		job:     s.job,
		method:  s.method,
		summary: s.sum,
		spread:  s.spread(),
	}
	var err error
	if s.method == ridge.OneShot {
		out.fits, out.status, err = s.oneShot(c.gammas)
		return out, err
	}
	first := s.goal()
	start := s.start(c)
	var passes int
	out.fits, passes, err = s.iterate(ctx, c.gammas, first, start)
	if err != nil {
		return solved{}, err
	}
	if lower, ok := s.tighten(out.fits, first); ok {
		s.passes += passes
		if len(out.fits) == 1 && !s.opts.PerTarget { // SolveEach has a start of its own
			start = out.fits[0].Coef()
		}
		out.fits, _, err = s.iterate(ctx, c.gammas, lower, start)
		if err != nil {
			return solved{}, err
		}
	}
	for _, f := range out.fits {
		out.status = out.status.Worse(f.Status)
	}
	return out, nil
}

// iterate solves by passes over the rows. start has the first iterate, or is nil for the default. passes is the number
// of passes.
func (s sketched) iterate(
	ctx context.Context, gammas []float64, to goal, start *mat.Dense,
) (fits []*ridge.Solution, passes int, err error) {
	opts := ridge.SolveOptions{
		Method:    s.method,
		Tol:       to.tol,
		MaxPasses: s.opts.MaxPasses,
		Start:     start,
		Observe:   s.opts.Observe,
		Journal:   ridge.After(s.opts.Journal, s.journal),
		Reducer:   s.opts.Reducer,
	}
	if tell := s.opts.Progress; tell != nil {
		opts.Progress = func(p ridge.Progress) { tell(Refining, p) }
	}
	if s.opts.PerTarget {
		fits = make([]*ridge.Solution, 1)
		fits[0], err = ridge.SolveEach(ctx, s.src, s.current, gammas, opts)
	} else {
		fits, err = ridge.SolvePath(ctx, s.src, s.current, gammas, opts)
	}
	if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
		fits = short.Solutions
	} else if err != nil {
		return nil, 0, err
	}
	for _, f := range fits {
		passes = max(passes, f.Iterations)
		f.Passes += s.passes
	}
	s.record(Step{Stage: Refining, Method: s.method, Passes: passes})
	return fits, passes, nil
}

// start returns the solution at the chosen γ, if passes computed it.
func (s sketched) start(c choice) *mat.Dense {
	if s.passes == 0 || c.gamma == nil {
		return nil
	}
	x := c.gamma.Path[c.gamma.Index].Coef()
	norm := mat.Norm(x, 1)
	if math.IsInf(norm, 0) || math.IsNaN(norm) {
		return nil
	}
	return x
}

// oneShot computes the solutions from the sketch, without reading rows.
func (s sketched) oneShot(gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	var fits []*ridge.Solution
	var err error
	if s.opts.PerTarget {
		fits = make([]*ridge.Solution, 1)
		fits[0], err = s.sum.FitEach(gammas)
	} else {
		fits, err = s.sum.Path(gammas)
	}
	if err != nil {
		return nil, 0, err
	}
	status := ridge.OnePass
	for _, f := range fits {
		if !f.Proves() {
			f.Status = ridge.Unproved
		}
		status = status.Worse(f.Status)
	}
	return fits, status, nil
}

// spread returns Result.ColumnSpread, as far as the summaries show.
func (s sketched) spread() (spread float64) {
	for _, known := range []*ridge.Summary{s.sum, s.current} {
		if spec, err := known.Spectrum(); err == nil {
			spread = math.Max(spread, plan.ColumnSpread(spec))
		}
	}
	return spread
}
