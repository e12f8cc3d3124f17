package fdridge

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// A sketched fit uses the summary of the first pass.
type sketched struct {
	*job
	method  ridge.Method
	sum     *ridge.Summary   // the summary of the rows
	current *ridge.Summary   // sum, or a copy that contains the exact AᵀA after a pass has computed AᵀA
	cv      *choose.CVResult // the result of cross-validation; nil without folds
	passes  int              // number of passes made to choose γ
	journal int              // number of these passes recorded in Options.Journal
	again   *mat.Dense       // where the next call of solve starts; nil for the default

	spent      []reason.Reason // why each pass was made to choose γ, or why none was; nil if the summary was enough
	solvedOpen bool            // solveCandidates has made its passes
}

// sketch builds a summary, and for cross-validation one per fold.
func (j *job) sketch(ctx context.Context, steps plan.Steps) (*sketched, error) {
	s := &sketched{job: j, method: steps.Method}
	tell := j.progress(Sketching, 1)
	var err error
	if j.crossValidates() && !j.columns.DependsOnRows() {
		s.cv, err = j.crossValidate(ctx, tell)
		if err == nil {
			s.sum = s.cv.Summary
		}
	} else {
		s.sum, err = j.sketchRows(ctx, tell)
	}
	if err != nil {
		return nil, err
	}
	s.current = s.sum
	j.record(Step{Stage: Sketching, Method: steps.Method, Passes: 1, Reason: steps.Reason})
	if j.Summarized != nil {
		err = j.Summarized(s.sum)
	}
	return s, err
}

// sketchConfig returns the options of a sketch.
func (j *job) sketchConfig() ridge.SummaryConfig {
	return ridge.SummaryConfig{Size: j.Size, Intercept: !j.NoIntercept, Lanes: j.Lanes, Backend: j.Backend}
}

// sketchRows makes a pass that summarises the rows of all workers.
func (j *job) sketchRows(ctx context.Context, tell func(rows int64)) (sum *ridge.Summary, err error) {
	switch {
	case j.Summarize != nil:
		sum, err = j.Summarize(ctx, j.src, j.sketchConfig(), tell)
	default:
		sum, err = ridge.Summarize(ctx, j.src, j.sketchConfig(), tell)
		if err == nil && j.Merge != nil {
			sum, err = j.Merge(ctx, sum)
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
func (j *job) crossValidate(ctx context.Context, tell func(rows int64)) (*choose.CVResult, error) {
	folds := choose.CrossValidation{
		Folds:     j.Folds,
		Gammas:    j.eachCandidates(),
		MaxBytes:  j.MaxBytes,
		FixedGrid: j.PerTarget,
		Rounding:  j.columns.Errors().Rounding,
		Merge:     j.Merge,
	}
	if tell != nil {
		folds.Progress = func(_ int, rows int64) { tell(rows) }
	}
	return choose.CrossValidate(ctx, j.src, j.sketchConfig(), folds)
}

// fromSummary returns the fit for an existing summary.
func (j *job) fromSummary(sum *ridge.Summary) *sketched {
	s := &sketched{job: j, method: j.Method, sum: sum, current: sum}
	why := reason.Reason{}
	switch {
	case j.Method != ridge.Auto:
	case j.src == nil:
		s.method, why.Rule = ridge.OneShot, reason.NoRows
	default:
		s.method, why.Rule = plan.Iteration(j.problem()), reason.RefinesSummary
	}
	j.record(Step{Stage: Sketching, Method: s.method, Reason: why})
	return s
}

// chooseGamma chooses γ:
//
//  1. The criterion is cross-validation if there are folds, leave-one-out errors if the rows can be read again, and
//     otherwise GCV.
//  2. The candidates are the given ones, or the grid of [choose.Gamma] for GCV or of [choose.AroundGCV] for leave-one-out
//     errors. The grid is extended while the best candidate is at its end.
//  3. The smallest upper bound on the score decides.
//  4. If another candidate may be better by more than GammaTol, a pass computes AᵀA, provided [plan.GramPass] finds it
//     worth the cost.
//  5. If only the training errors leave the choice open, more passes solve for the candidates that may be best, provided
//     their vectors fit in MaxBytes.
//  6. One-shot fits make no further pass.
func (s *sketched) chooseGamma(ctx context.Context) ([]float64, error) {
	if s.choosesBands() {
		if err := s.chooseBands(ctx); err != nil {
			return nil, err
		}
		if err := s.dealAgain(ctx); err != nil {
			return nil, err
		}
	}
	if !s.choosesGamma() {
		return s.Gammas, nil
	}
	if s.PerTarget {
		return s.chooseEach(ctx)
	}
	var err error
	s.choice, err = choose.Search(ctx, s.Select, s)
	if err != nil {
		return nil, err
	}
	if s.dealsSketches() {
		s.choice.CV, s.choice.Unknown = s.cv, s.cv.Unknown
		return []float64{s.choice.Gamma()}, nil
	}
	s.choice.Spent, s.choice.Whole = s.spent, s.current != s.sum && !s.Select.Needs().Folds
	if s.spent != nil || s.Select.Needs().Folds {
		s.choice.Passes = s.passes
	}
	return []float64{s.choice.Gamma()}, nil
}

// chooseEach chooses a γ for each target.
func (s *sketched) chooseEach(ctx context.Context) (gammas []float64, err error) {
	s.each, err = choose.SearchEach(ctx, s.Select, s)
	if err != nil {
		return nil, err
	}
	s.each.Passes, s.each.Whole, s.each.Spent = s.passes, s.current.HoldsGram(), s.spent
	return s.each.Gammas, nil
}

// dealsSketches reports whether γ is chosen from sketches of folds.
func (s *sketched) dealsSketches() bool { return s.Select.Needs().Folds && !s.columns.DependsOnRows() }

// Summary returns the present summary.
func (s *sketched) Summary() *ridge.Summary { return s.current }

// Grid returns the given candidates or the default grid.
func (s *sketched) Grid(needs choose.Needs) (choose.GammaGrid, error) {
	given := s.eachCandidates()
	switch {
	case s.cv != nil && needs.Folds:
		return choose.GammaGrid{Gammas: s.cv.Gammas, Fixed: true}, nil
	case given != nil:
		return choose.GammaGrid{Gammas: given, Fixed: true}, nil
	case needs.Folds, s.PerTarget && needs.Pass:
		return choose.GammaGrid{Gammas: choose.Grid(s.current, smallGrid), Fixed: true}, nil
	case s.PerTarget:
		gammas, err := choose.EachGrid(s.current)
		return choose.GammaGrid{Gammas: gammas, Fixed: true}, err
	}
	return choose.DefaultGrid(s.current)
}

// Evidence returns the solutions of the sketch, and makes the passes that the criterion needs.
func (s *sketched) Evidence(ctx context.Context, needs choose.Needs, gammas []float64) ([]choose.Evidence, error) {
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

// evidenceOfFolds returns the errors of the cross-validation. Without PerTarget, it returns the solutions, too.
func (s *sketched) evidenceOfFolds(gammas []float64) ([]choose.Evidence, error) {
	out := make([]choose.Evidence, len(gammas))
	for i, g := range gammas {
		out[i].Errors = s.cv.Errors(slices.Index(s.cv.Gammas, g), s.method == ridge.OneShot)
	}
	if s.PerTarget {
		return out, nil
	}
	path, err := s.cv.Summary.Path(gammas)
	for i, f := range path {
		out[i].Fit = f
	}
	return out, err
}

// leaveOut makes one pass for the leave-one-out errors.
func (s *sketched) leaveOut(ctx context.Context, gammas []float64, path []*ridge.Solution) ([]choose.Evidence, error) {
	s.passes++
	src, opts, err := s.leaveOneOut(gammas, s.passes)
	if err != nil {
		return nil, err
	}
	scores, err := ridge.LeaveOneOut(ctx, src, s.current, path, opts)
	if err != nil {
		return nil, err
	}
	if err := s.poolLeftOut(ctx, gammas); err != nil {
		return nil, err
	}
	why := reason.Reason{Rule: reason.LeverageTakesPass}
	if len(s.spent) == 0 || s.spent[0].Rule != why.Rule {
		s.spent = append([]reason.Reason{why}, s.spent...)
	}
	s.record(Step{Stage: Choosing, Method: s.method, Passes: 1, Reason: why})
	return s.leftOutEvidence(path, scores), nil
}

// Sharpen makes a pass that computes AᵀA, and then passes that solve for the candidates that may be best. Before a
// criterion that needs a pass, it only computes AᵀA.
func (s *sketched) Sharpen(ctx context.Context, needs choose.Needs, c *choose.GammaChoice) (choose.Sharper, error) {
	nothing := choose.Sharper{}
	switch {
	case c == nil && (s.sum.HoldsGram() || math.IsInf(s.GammaTol, 1) || s.method == ridge.OneShot):
		return nothing, nil
	case c == nil:
		return nothing, s.spendOnGram(ctx, -1)
	case needs != choose.Needs{}:
		return nothing, nil
	}
	s.choice = c
	if s.solvedOpen || s.isDecided() || s.method == ridge.OneShot {
		return nothing, nil
	}
	if s.spent == nil {
		err := s.spendOnGram(ctx, s.choice.RelativeExcess())
		if err != nil || s.current != s.sum {
			return choose.Sharper{Again: true}, err
		}
	}
	if !s.dependsOnResiduals() || !s.hasRoom() {
		return nothing, nil
	}
	s.solvedOpen = true
	return s.solveCandidates(ctx)
}

// SharpenEach makes a pass that computes AᵀA.
func (s *sketched) SharpenEach(ctx context.Context, needs choose.Needs, excess float64) (bool, error) {
	if needs != (choose.Needs{}) || s.spent != nil || s.method == ridge.OneShot || excess <= s.GammaTol {
		return false, nil
	}
	err := s.spendOnGram(ctx, excess)
	return s.current != s.sum, err
}

// spendOnGram calls computeGram and keeps the reason.
func (s *sketched) spendOnGram(ctx context.Context, excess float64) error {
	why, err := s.computeGram(ctx, excess, 0)
	if err == nil {
		s.spent = append(s.spent, why)
	}
	return err
}

// isDecided reports whether no candidate can be better by more than GammaTol.
func (s *sketched) isDecided() bool {
	const fitted, nothing = 1e-12, 1e-300
	if s.Select.IsLogarithm() {
		return s.choice.RelativeExcess() <= s.GammaTol
	}
	squares := 0.0
	for _, o := range s.choice.Path[s.choice.Index].Targets {
		squares += o.TSS.Hi
	}
	return s.choice.RelativeExcess() <= s.GammaTol || s.choice.Excess <= fitted*squares/float64(s.sum.Rows())+nothing
}

// dependsOnResiduals reports whether exact training errors would decide the choice.
func (s *sketched) dependsOnResiduals() bool {
	if s.Select.IsLogarithm() {
		return false // the log determinant is open, too
	}
	n := float64(s.sum.Rows()) - float64(len(s.columns.Unpenalized()))
	if !s.NoIntercept {
		n--
	}
	for _, i := range s.choice.Possible {
		df := s.choice.Path[i].EffectiveDimension
		if free := (n - df.Lo) / (n - df.Hi); !(n > df.Hi && free*free-1 <= s.GammaTol) {
			return false
		}
	}
	return true
}

// hasRoom reports whether vectors for all possible candidates fit in memory.
func (s *sketched) hasRoom() bool {
	return 13*8*float64(len(s.choice.Possible)*s.t)*float64(s.d) <= float64(s.MaxBytes)
}

// computeGram makes a pass that computes AᵀA, unless [plan.GramPass] finds it too costly.
func (s *sketched) computeGram(ctx context.Context, excess float64, eigenproblems int) (reason.Reason, error) {
	if s.current.HoldsGram() {
		return reason.Reason{Rule: reason.GramIsHeld, Numbers: []float64{excess}}, nil
	}
	if why := plan.GramPass(s.problem(), eigenproblems); why.Rule != reason.Asked {
		why.Numbers = append([]float64{excess}, why.Numbers...)
		return why, nil
	}
	opts := s.pass()
	s.passes, s.journal = s.passes+1, s.journal+1
	sharp, err := s.sum.WithGram(ctx, s.src, opts)
	if err != nil {
		return reason.Reason{}, err
	}
	s.current = sharp
	why := reason.Reason{Rule: reason.GramWasComputed, Numbers: []float64{excess}}
	s.record(Step{Stage: Choosing, Method: s.method, Passes: 1, Reason: why})
	return why, nil
}

// pass returns the options of the next pass for choosing γ.
func (s *sketched) pass() ridge.SolveOptions {
	o := ridge.SolveOptions{Journal: ridge.After(s.Journal, s.journal), Reducer: s.Reducer}
	if tell := s.Progress; tell != nil {
		before := s.passes
		o.Progress = func(p ridge.Progress) {
			p.Pass += before
			tell(Choosing, p)
		}
	}
	return o
}

// solveCandidates iterates for the possible candidates.
func (s *sketched) solveCandidates(ctx context.Context) (better choose.Sharper, err error) {
	const tol = 1e-8
	open := s.choice.Possible
	gammas := make([]float64, len(open))
	for k, i := range open {
		gammas[k] = s.choice.Path[i].Gamma
	}
	opts := s.pass()
	opts.Tol, opts.MaxPasses, opts.Method = tol, s.MaxPasses, ridge.CG
	if !s.current.HoldsGram() && 12*8*float64(s.Size+len(open)*s.t)*float64(s.d) <= float64(s.MaxBytes) {
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
	s.passes, s.journal = s.passes+passes, s.journal+passes
	why := reason.Reason{Rule: reason.CandidatesWereSolved, Numbers: []float64{float64(passes)}}
	s.spent = append(s.spent, why)
	s.record(Step{Stage: Choosing, Method: opts.Method, Passes: passes, Reason: why})
	return better, nil
}

// chooseBands chooses penalties by GCV and scales the rows. If the error bounds leave the choice uncertain, a pass
// computes AᵀA, and chooseBands chooses again.
func (s *sketched) chooseBands(ctx context.Context) error {
	bands, err := s.keptBands()
	if err != nil {
		return err
	}
	opts := choose.BandOptions{Bands: bands, Penalty: s.factors, Candidates: s.Candidates}
	if !s.choosesGamma() {
		opts.Candidates, opts.GivenGamma = s.Gammas, true
	}
	choice, err := choose.Bands(ctx, s.sum, opts)
	if err != nil {
		return err
	}
	if excess := choice.Choice.RelativeExcess(); excess > s.GammaTol && s.method != ridge.OneShot {
		why, err := s.computeGram(ctx, excess, len(choice.Tried))
		if err != nil {
			return err
		}
		if s.current != s.sum {
			choice, err = choose.Bands(ctx, s.current, opts)
			if err != nil {
				return err
			}
		}
		choice.Passes, choice.Whole, choice.Spent = s.passes, s.current != s.sum, []reason.Reason{why}
	}
	penalty, err := choose.Penalties(s.d, s.factors, choice.Bands)
	if err != nil {
		return err
	}
	for i := range choice.Bands {
		choice.Bands[i].Columns = s.Bands[i].Columns
	}
	s.bands = choice
	s.columns, err = s.columns.Penalize(penalty)
	if err != nil {
		return err
	}
	if err := s.changeRows(); err != nil {
		return err
	}
	sum := s.sum
	s.sum, err = sum.Penalize(penalty)
	if err != nil {
		return err
	}
	if s.current == sum {
		s.current = s.sum
		return nil
	}
	s.current, err = s.current.Penalize(penalty)
	return err
}

// dealAgain reads the rows again for cross-validation after the penalties of bands were chosen.
func (s *sketched) dealAgain(ctx context.Context) error {
	if s.cv == nil {
		return nil
	}
	var err error
	s.passes++
	s.cv, err = s.crossValidate(ctx, s.progress(Choosing, s.passes))
	if err != nil {
		return err
	}
	s.record(Step{Stage: Choosing, Method: s.method, Passes: 1, Reason: reason.Reason{Rule: reason.FoldsNeedSketch}})
	return nil
}

func (s *sketched) solve(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	if s.method == ridge.OneShot {
		return s.oneShot(gammas)
	}
	opts := ridge.SolveOptions{
		Method: s.method, Tol: s.goal, MaxPasses: s.MaxPasses, Start: s.start(),
		Observe: s.Observe, Journal: ridge.After(s.Journal, s.journal), Reducer: s.Reducer,
	}
	if tell := s.Progress; tell != nil {
		opts.Progress = func(p ridge.Progress) { tell(Refining, p) }
	}
	var fits []*ridge.Solution
	var err error
	if s.PerTarget {
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
	status, passes := ridge.NotTerminated, 0
	for _, f := range fits {
		passes = max(passes, f.Iterations)
		f.Passes += s.passes
		status = status.Worse(f.Status)
	}
	s.record(Step{Stage: Refining, Method: s.method, Passes: passes})
	if s.tighten(fits) {
		s.passes += passes
		if len(fits) == 1 && !s.PerTarget { // SolveEach has a start of its own
			s.again = fits[0].Coef()
		}
		return s.solve(ctx, gammas)
	}
	return fits, status, nil
}

// start returns the solution at the chosen γ, if passes computed it.
func (s *sketched) start() *mat.Dense {
	if s.again != nil {
		return s.again
	}
	if s.passes == 0 || s.choice == nil {
		return nil
	}
	x := s.choice.Path[s.choice.Index].Coef()
	if norm := mat.Norm(x, 1); math.IsInf(norm, 0) || math.IsNaN(norm) {
		return nil
	}
	return x
}

// oneShot computes the solutions from the sketch, without reading rows.
func (s *sketched) oneShot(gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	var fits []*ridge.Solution
	var err error
	if s.PerTarget {
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

func (s *sketched) report(r *Result) {
	r.Method, r.Summary = s.method, s.sum
	for _, known := range []*ridge.Summary{s.sum, s.current} {
		if spec, err := known.Spectrum(); err == nil {
			r.ColumnSpread = math.Max(r.ColumnSpread, plan.ColumnSpread(spec))
		}
	}
}
