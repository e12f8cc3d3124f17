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
)

// sketched is the evidence of a summary, and of the passes that the choice of γ makes.
type sketched struct {
	*job
	method  ridge.Method
	sum     *ridge.Summary   // of the rows
	sharp   *ridge.Summary   // what the choice ended with: sum, or the same with AᵀA itself
	cv      *choose.CVResult // nil without folds
	passes  int              // made for the choice
	journal int              // those of them that the journal has
}

// sketch makes the pass that summarises the rows.
func (j *job) sketch(ctx context.Context, steps plan.Steps) (*sketched, error) {
	s := &sketched{job: j, method: steps.Method}
	cfg := ridge.SummaryConfig{Size: j.Size, Intercept: !j.NoIntercept, Lanes: j.Lanes, Backend: j.Backend}
	tell := j.progress(Sketching, 1)
	var err error
	switch {
	case j.crossValidates():
		folds := choose.CrossValidation{Folds: j.Folds, Gammas: j.Candidates, MaxBytes: j.MaxBytes}
		if tell != nil {
			folds.Progress = func(_ int, rows int64) { tell(rows) }
		}
		if s.cv, err = choose.CrossValidate(ctx, j.src, cfg, folds); err == nil {
			s.sum = s.cv.Summary
		}
	case j.Summarize != nil:
		s.sum, err = j.Summarize(ctx, j.src, cfg, tell)
	default:
		s.sum, err = ridge.Summarize(ctx, j.src, cfg, tell)
	}
	if err != nil {
		return nil, err
	}
	if s.sum.Rows() == 0 {
		return nil, ridge.ErrEmpty
	}
	s.sharp = s.sum
	j.did(Step{Stage: Sketching, Method: steps.Method, Passes: 1, Reason: steps.Reason})
	if j.Summarized != nil {
		err = j.Summarized(s.sum)
	}
	return s, err
}

// known returns the evidence of a summary that was made before.
func (j *job) known(sum *ridge.Summary) *sketched {
	s := &sketched{job: j, method: j.Method, sum: sum, sharp: sum}
	reason := ridge.Reason{}
	switch {
	case j.Method != ridge.Auto:
	case j.src == nil:
		s.method, reason.Rule = ridge.OneShot, ridge.NoRows
	default:
		s.method, reason.Rule = plan.Iteration(j.problem()), ridge.RefinesSummary
	}
	j.did(Step{Stage: Sketching, Method: s.method, Reason: reason})
	return s
}

func (s *sketched) chooseGamma(ctx context.Context) ([]float64, error) {
	if s.choosesBands() {
		if err := s.chooseBands(ctx); err != nil {
			return nil, err
		}
	}
	if !s.chooses() {
		return s.Gammas, nil
	}
	var err error
	switch s.Select {
	case choose.CV:
		s.choice, err = s.cv.ChooseGamma(s.method == ridge.OneShot)
	case choose.LOO:
		err = s.byLeaveOneOut(ctx)
	default:
		err = s.byGCV(ctx)
	}
	if err != nil {
		return nil, err
	}
	return []float64{s.choice.Gamma()}, nil
}

// byGCV chooses γ by GCV:
//
//  1. The candidates are the grid of [choose.Gamma], or those given.
//  2. The grid is extended while the best candidate is at its end.
//  3. The candidate with the least upper bound of its score is chosen; those at which the system is singular are left out.
//  4. If another one may be better by more than GammaTol, one pass computes AᵀA, if [plan.GramPass] finds it worth its cost.
//  5. If the training errors still leave that open, passes solve for the candidates that may be the best, if these fit in MaxBytes.
//  6. One-shot fits make no pass.
func (s *sketched) byGCV(ctx context.Context) (err error) {
	if s.choice, err = choose.Gamma(s.sharp, s.Candidates); err != nil {
		return err
	}
	if s.choice.Whole = s.sharp != s.sum; s.settled() || s.method == ridge.OneShot {
		return nil
	}
	why, err := s.sharpen(ctx, s.choice.RelativeExcess(), 0)
	if err != nil {
		return err
	}
	spent := []ridge.Reason{why}
	if s.sharp != s.sum {
		if s.choice, err = choose.Gamma(s.sharp, s.Candidates); err != nil {
			return err
		}
	}
	if before := s.passes; !s.settled() && s.hangsOnResiduals() && s.hasRoom() {
		if err := s.solveOpen(ctx); err != nil {
			return err
		}
		spent = append(spent, ridge.Reason{Rule: ridge.CandidatesWereSolved, Numbers: []float64{float64(s.passes - before)}})
	}
	s.choice.Passes, s.choice.Spent, s.choice.Whole = s.passes, spent, s.sharp != s.sum
	return nil
}

// byLeaveOneOut chooses γ by leave-one-out errors. If the sketch has lost anything, a pass computes AᵀA first, as for GCV. The candidates take
// one pass together, and one more each time the grid is extended.
func (s *sketched) byLeaveOneOut(ctx context.Context) error {
	spent := []ridge.Reason{{Rule: ridge.LeverageTakesPass}}
	if !s.sum.HoldsGram() && !math.IsInf(s.GammaTol, 1) {
		why, err := s.sharpen(ctx, -1, 0)
		if err != nil {
			return err
		}
		spent = append(spent, why)
	}
	grid, err := choose.GridOf(s.sharp)
	if err != nil {
		return err
	}
	s.choice, err = choose.Among(s.Candidates, grid, func(gammas []float64) ([]choose.Candidate, error) {
		path, err := s.sharp.Path(gammas)
		if err != nil {
			return nil, err
		}
		s.passes++
		scores, err := s.leaveOneOut(ctx, s.sharp, path, s.passes)
		if err != nil {
			return nil, err
		}
		s.did(Step{Stage: Choosing, Method: s.method, Passes: 1, Reason: spent[0]})
		return choose.ByScore(path, scores), nil
	})
	if err != nil {
		return err
	}
	s.choice.By, s.choice.Passes, s.choice.Spent, s.choice.Whole = choose.LOO, s.passes, spent, s.sharp != s.sum
	return nil
}

// leaveOneOut makes a pass that finds the leave-one-out errors of solutions.
func (j *job) leaveOneOut(ctx context.Context, sum *ridge.Summary, path []*ridge.Solution, pass int) ([][]ridge.Interval, error) {
	return ridge.LeaveOneOut(ctx, j.src, sum, path, ridge.LeaveOneOutOptions{Reducer: j.Reducer, Progress: j.progress(Choosing, pass)})
}

// settled reports whether no other candidate is better by more than GammaTol, or by what round-off leaves of squares that are all fitted.
func (s *sketched) settled() bool {
	const fitted, nothing = 1e-12, 1e-300
	squares := 0.0
	for _, o := range s.choice.Path[s.choice.Index].Targets {
		squares += o.TSS.Hi
	}
	return s.choice.RelativeExcess() <= s.GammaTol || s.choice.Excess <= fitted*squares/float64(s.sum.Rows())+nothing
}

// hangsOnResiduals reports whether the choice would be settled if training errors were known: the degrees of freedom of no candidate that may
// be the best leave more open than GammaTol.
func (s *sketched) hangsOnResiduals() bool {
	n := float64(s.sum.Rows())
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

// hasRoom reports whether the vectors of CG for all candidates that may be the best fit in MaxBytes.
func (s *sketched) hasRoom() bool {
	return 13*8*float64(len(s.choice.Possible)*s.t)*float64(s.d) <= float64(s.MaxBytes)
}

// sharpen makes a pass that computes AᵀA itself, if it is worth its cost before so many eigenproblems. It returns what was done, or why nothing
// was. excess is what the sketch leaves open.
func (s *sketched) sharpen(ctx context.Context, excess float64, eigenproblems int) (ridge.Reason, error) {
	if s.sharp.HoldsGram() {
		return ridge.Reason{Rule: ridge.GramIsHeld, Numbers: []float64{excess}}, nil
	}
	if why := plan.GramPass(s.problem(), eigenproblems); why.Rule != ridge.Asked {
		why.Numbers = append([]float64{excess}, why.Numbers...)
		return why, nil
	}
	opts := s.pass()
	s.passes, s.journal = s.passes+1, s.journal+1
	sharp, err := s.sum.WithGram(ctx, s.src, opts)
	if err != nil {
		return ridge.Reason{}, err
	}
	s.sharp = sharp
	why := ridge.Reason{Rule: ridge.GramWasComputed, Numbers: []float64{excess}}
	s.did(Step{Stage: Choosing, Method: s.method, Passes: 1, Reason: why})
	return why, nil
}

// pass returns the options of the next pass for the choice.
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

// solveOpen solves for all candidates that may be the best together, and chooses again.
func (s *sketched) solveOpen(ctx context.Context) error {
	const tol = 1e-8
	open := s.choice.Possible
	gammas := make([]float64, len(open))
	for k, i := range open {
		gammas[k] = s.choice.Path[i].Gamma
	}
	opts := s.pass()
	opts.Tol, opts.MaxPasses, opts.Method = tol, s.MaxPasses, ridge.CG
	if !s.sharp.HoldsGram() && 12*8*float64(s.Size+len(open)*s.t)*float64(s.d) <= float64(s.MaxBytes) {
		opts.Method = ridge.Galerkin
	}
	fits, err := ridge.SolvePath(ctx, s.src, s.sharp, gammas, opts)
	if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
		fits = short.Solutions
	} else if err != nil {
		return err
	}
	path, passes := slices.Clone(s.choice.Path), 0
	for k, i := range open {
		path[i] = fits[k]
		passes = max(passes, fits[k].Iterations)
	}
	s.passes, s.journal = s.passes+passes, s.journal+passes
	s.did(Step{Stage: Choosing, Method: opts.Method, Passes: passes, Reason: ridge.Reason{Rule: ridge.CandidatesWereSolved, Numbers: []float64{float64(passes)}}})
	s.choice, err = s.choice.Again(choose.ByGCV(path))
	return err
}

// chooseBands chooses the penalties of bands by GCV, once more if the sketch leaves open that others are better and a pass computes AᵀA. From then
// on everything is in columns divided by their roots.
func (s *sketched) chooseBands(ctx context.Context) error {
	choice, err := choose.Bands(ctx, s.sum, s.Bands, s.Candidates)
	if err != nil {
		return err
	}
	if excess := choice.Choice.RelativeExcess(); excess > s.GammaTol && s.method != ridge.OneShot {
		why, err := s.sharpen(ctx, excess, len(choice.Tried))
		if err != nil {
			return err
		}
		if s.sharp != s.sum {
			if choice, err = choose.Bands(ctx, s.sharp, s.Bands, s.Candidates); err != nil {
				return err
			}
		}
		choice.Passes, choice.Whole, choice.Spent = s.passes, s.sharp != s.sum, []ridge.Reason{why}
	}
	if s.penalty, err = choose.Penalties(s.d, choice.Bands); err != nil {
		return err
	}
	s.bands = choice
	if err := s.scale(); err != nil {
		return err
	}
	sum := s.sum
	if s.sum, err = sum.Penalize(s.penalty); err != nil {
		return err
	}
	if s.sharp == sum {
		s.sharp = s.sum
		return nil
	}
	s.sharp, err = s.sharp.Penalize(s.penalty)
	return err
}

func (s *sketched) solve(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	if s.method == ridge.OneShot {
		return s.oneShot(gammas)
	}
	opts := ridge.SolveOptions{
		Method: s.method, Tol: s.Tol, MaxPasses: s.MaxPasses, Start: s.start(),
		Observe: s.Observe, Journal: ridge.After(s.Journal, s.journal), Reducer: s.Reducer,
	}
	if tell := s.Progress; tell != nil {
		opts.Progress = func(p ridge.Progress) { tell(Refining, p) }
	}
	fits, err := ridge.SolvePath(ctx, s.src, s.sharp, gammas, opts)
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
	s.did(Step{Stage: Refining, Method: s.method, Passes: passes})
	return fits, status, nil
}

// start returns the weights to iterate from if passes were made for the choice, nil for the one-shot solution.
func (s *sketched) start() *mat.Dense {
	if s.passes == 0 || s.choice == nil {
		return nil
	}
	x := s.choice.Path[s.choice.Index].Coef()
	if norm := mat.Norm(x, 1); math.IsInf(norm, 0) || math.IsNaN(norm) {
		return nil
	}
	return x
}

// oneShot reads the solutions off the sketch.
func (s *sketched) oneShot(gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	fits, err := s.sum.Path(gammas)
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
	for _, known := range []*ridge.Summary{s.sum, s.sharp} {
		if spec, err := known.Spectrum(); err == nil {
			r.ColumnSpread = math.Max(r.ColumnSpread, plan.ColumnSpread(spec))
		}
	}
}
