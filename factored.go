package fdridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// factored is the evidence of a direct method: the factorization that the first pass over the rows computed. It is a
// value.
type factored struct {
	job
	method  ridge.Method // Exact, or the method of one factorization if it was requested
	given   []float64    // the γ to solve for; nil if γ is chosen
	factors *ridge.Factorization
}

// factorise reads the rows once. It computes the factorization for gammas, or for γ that are chosen later if gammas is
// nil.
func (j job) factorise(ctx context.Context, steps plan.Steps, gammas []float64) (factored, error) {
	f := factored{job: j, method: steps.Method, given: gammas}
	if gammas == nil {
		f.by = j.criterion(steps.Method)
	}
	var err error
	f.factors, err = ridge.Factorize(ctx, j.src, gammas, ridge.ExactOptions{
		Method:      steps.Method,
		Intercept:   !j.opts.NoIntercept,
		Backend:     j.opts.Backend,
		MaxBytes:    j.opts.MaxBytes,
		Tol:         j.goal().tol,
		RowErrors:   j.columns.Errors(),
		Progress:    j.progress(Reading, 1),
		LeaveOneOut: gammas == nil && f.by.Needs().Pass,
	})
	if err != nil {
		return f, err
	}
	j.record(Step{
		Stage:  Reading,
		Method: f.factors.Method(),
		Passes: f.factors.Passes(),
		Reason: steps.Reason,
	})
	return f, nil
}

// choose chooses γ by the criterion, unless γ is given.
func (f factored) choose(ctx context.Context) (choice, error) {
	if f.given != nil {
		return choice{gammas: f.given, from: f}, nil
	}
	state := &factorSearch{factored: f, leftOut: decisions{}}
	c := choice{leftOut: state.leftOut, from: f}
	var err error
	if f.opts.PerTarget {
		c.each, err = choose.SearchEach(ctx, f.by, state)
		if err != nil {
			return choice{}, err
		}
		c.each.Passes, c.each.Whole, c.each.Spent = state.passes, true, state.spent
		c.gammas = c.each.Gammas
		return c, nil
	}
	c.gamma, err = choose.Search(ctx, f.by, state)
	if err != nil {
		return choice{}, err
	}
	c.gamma.Whole, c.gamma.Passes, c.gamma.Spent = true, state.passes, state.spent
	c.gammas = []float64{c.gamma.Gamma()}
	if c.gamma.Path[c.gamma.Index].Method == ridge.QR && state.qr != nil {
		f.factors = state.qr
		c.from = f
	}
	return c, nil
}

// A factorSearch is the state of a search for γ. It is a [choose.Source] with the evidence of a factorization.
type factorSearch struct {
	factored
	leftOut decisions
	qr      *ridge.Factorization // a second factorization, for γ that AᵀA leaves out
	tried   bool                 // QR was considered
	passes  int                  // number of passes made
	spent   []reason.Reason      // why each pass was made
}

// Summary returns nil.
func (e *factorSearch) Summary() *ridge.Summary { return nil }

// Grid returns the given candidates or the default grid.
func (e *factorSearch) Grid(needs choose.Needs) (choose.GammaGrid, error) {
	if given := e.eachCandidates(); given != nil {
		small := needs.Pass && e.factors.Method() == ridge.DualCG
		return choose.GammaGrid{
			Gammas: given,
			Fixed:  true,
			Given:  true,
			Small:  small,
		}, nil
	}
	mean := e.factors.MeanEigenvalue()
	switch {
	case e.opts.PerTarget:
		return choose.GammaGrid{Gammas: choose.GridFor(mean, nil).Gammas, Fixed: true}, nil
	case needs.Pass && e.factors.Method() == ridge.DualCG:
		return choose.AroundMean(mean), nil
	}
	return choose.GridFor(mean, e.factors.ColumnSquares()), nil
}

// Evidence returns the solutions at gammas without coefficients. If the criterion needs leave-one-out errors, Evidence
// computes them with the factors. Dual methods need no pass over the rows for these errors. DualCG has no exact
// leverages; it brackets them by trial vectors.
func (e *factorSearch) Evidence(
	ctx context.Context,
	needs choose.Needs,
	gammas []float64,
) ([]choose.Evidence, error) {
	if !needs.Pass {
		fits, err := e.factors.Scores(ctx, gammas)
		return evidenceOf(fits), err
	}
	src, opts, err := e.leaveOneOut(gammas, e.passes+1, e.leftOut)
	if err != nil {
		return nil, err
	}
	fits, scores, err := e.factors.LeaveOneOut(ctx, src, gammas, opts)
	if err != nil {
		return nil, err
	}
	if !e.factors.Method().IsDual() {
		why := reason.Reason{Rule: reason.LeverageTakesPass}
		e.passes++
		e.record(Step{
			Stage:  Choosing,
			Method: e.method,
			Passes: 1,
			Reason: why,
		})
		if e.spent == nil {
			e.spent = append(e.spent, why)
		}
	}
	return e.leftOut.evidence(fits, scores), nil
}

// SharpenEach returns false, because only round-off widens the brackets.
func (e *factorSearch) SharpenEach(context.Context, choose.Needs, float64) (bool, error) {
	return false, nil
}

// Sharpen tries small γ that were left out of the choice, because their system was singular or their score uncertain.
// It uses a QR factorisation of the rows: if columns are nearly dependent, AᵀA loses the digits that decide about
// small γ. The method must be Exact, and the factorisations must be cheap.
func (e *factorSearch) Sharpen(
	ctx context.Context,
	needs choose.Needs,
	c *choose.GammaChoice,
) (better choose.Sharper, err error) {
	if c == nil ||
		!needs.Pass ||
		needs.Labels ||
		e.tried ||
		e.factors.Method() == ridge.DualCG {
		return better, nil
	}
	e.tried = true
	gammas := c.BelowChoice()
	if e.opts.Candidates != nil {
		gammas = slices.DeleteFunc(slices.Clone(c.Unknown), func(g float64) bool {
			return g == 0
		})
	}
	if len(gammas) == 0 ||
		e.method != ridge.Exact ||
		e.once ||
		c.IsFitted() ||
		!e.isCheapByQR() {
		return better, nil
	}
	qr, err := e.factoriseQR(ctx, gammas, e.goal(), true)
	if large, ok := errors.AsType[*ridge.SizeError](err); ok {
		e.record(
			Step{
				Stage:  Reading,
				Method: ridge.QR,
				Err:    err,
				Reason: reason.Reason{
					Rule:    reason.TooLarge,
					Numbers: []float64{float64(large.Bytes), float64(large.Limit)},
				},
			},
		)
		return better, nil
	}
	if err != nil {
		return better, err
	}
	why := reason.Reason{
		Rule:    reason.LeftOutTakesQR,
		Numbers: []float64{float64(len(c.Unknown))},
	}
	e.record(Step{
		Stage:  Reading,
		Method: ridge.QR,
		Passes: 1,
		Reason: why,
	})
	e.passes++
	e.spent = append(e.spent, why)
	e.qr = qr
	return choose.Sharper{More: &evidenceByQR{e}, Gammas: gammas}, nil
}

// evidenceByQR is the evidence of the second factorization.
type evidenceByQR struct{ *factorSearch }

// Evidence returns leave-one-out errors with the factors of QR.
func (e *evidenceByQR) Evidence(
	ctx context.Context,
	needs choose.Needs,
	gammas []float64,
) ([]choose.Evidence, error) {
	own := *e.factorSearch
	own.factors = own.qr
	out, err := own.Evidence(ctx, needs, gammas)
	e.passes = own.passes
	return out, err
}

// isCheapByQR reports whether QR factorisations for some forty γ take little time: each takes O(d³) time, and the
// pass O(nd²).
func (f factored) isCheapByQR() bool {
	const small, rows = 200, 6 // features, and rows for each feature
	return !f.factors.Method().IsDual() &&
		f.factors.Method() != ridge.QR &&
		(f.d <= small || f.n >= rows*int64(f.d))
}

// factoriseQR reads the rows for a QR factorisation.
func (f factored) factoriseQR(
	ctx context.Context, gammas []float64, to goal, leaveOneOut bool,
) (*ridge.Factorization, error) {
	return ridge.Factorize(ctx, f.src, gammas, ridge.ExactOptions{
		Method:      ridge.QR,
		Intercept:   !f.opts.NoIntercept,
		Backend:     f.opts.Backend,
		MaxBytes:    f.opts.MaxBytes,
		Tol:         to.tol,
		RowErrors:   f.columns.Errors(),
		Progress:    f.progress(Reading, 1),
		LeaveOneOut: leaveOneOut,
	})
}

// A factorSolve is the state of a solution by a direct method.
type factorSolve struct {
	factored
	chosen     *choose.GammaChoice // how the γ was chosen; nil if it was not
	to         goal
	leastGamma float64 // see solved.leastGamma
}

// solve returns the solutions at the γ of the choice, or with PerTarget one solution in which each target has its own
// γ.
func (f factored) solve(ctx context.Context, c choice) (solved, error) {
	out := solved{job: f.job, method: f.method}
	state := &factorSolve{factored: f, chosen: c.gamma, to: f.goal()}
	var err error
	if f.opts.PerTarget {
		out.fits, out.status, err = state.solveEach(ctx, c.gammas)
	} else {
		out.fits, out.status, err = state.solveAll(ctx, c.gammas)
	}
	if err != nil {
		return solved{}, err
	}
	out.leastGamma = state.leastGamma
	if squares := f.factors.ColumnSquares(); squares != nil {
		out.spread = plan.Spread(squares, 0)
	}
	return out, nil
}

// solveAll returns the solutions of all targets at gammas. With method Exact, it reads the rows again for a QR
// factorization if a system is singular, or if round-off limits an error bound.
func (f *factorSolve) solveAll(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	fits, err := f.certified(ctx, f.factors, gammas)
	if err != nil {
		return nil, 0, err
	}
	if lower, ok := f.tighten(fits, f.to); ok {
		f.to = lower
		if err := f.certifyAgain(ctx, fits); err != nil {
			return nil, 0, err
		}
	}
	if again := f.needQR(gammas, fits); len(again) > 0 {
		fits, err = f.retryWithQR(ctx, gammas, fits, again)
		if err != nil {
			return nil, 0, err
		}
	}
	if len(fits) == 0 {
		made := f.trace.steps
		return nil, 0, made[len(made)-1].Err
	}
	status := ridge.NotTerminated
	for _, s := range fits {
		if s.Status == ridge.MinimumNorm {
			f.leastGamma, err = f.findLeastGamma(ctx)
			if err != nil {
				return nil, 0, err
			}
		}
		status = status.Worse(s.Status)
	}
	if len(fits) < len(gammas) {
		status = ridge.Unsolved
	}
	return fits, status, nil
}

// mostBisected is the largest number of features with which findLeastGamma factors at several γ, each in O(d³) time.
const mostBisected = 1000

// findLeastGamma returns the smallest power of ten that reaches Tol as γ, or 0 if there is none. It bisects the
// exponents between 10⁻²⁰ and 10² times the sum of squares of the columns. With more than mostBisected features
// it returns 0.
func (f *factorSolve) findLeastGamma(ctx context.Context) (float64, error) {
	if f.d > mostBisected {
		return 0, nil
	}
	size := f.factors.MeanEigenvalue() * float64(f.d)
	if !(size > 0) {
		return 0, nil
	}
	middle := int(math.Ceil(math.Log10(size)))
	below, above := middle-20, middle+3 // 10^below does not reach Tol, and 10^above is not known to
	least := 0.0
	for above-below > 1 {
		exponent := below + (above-below)/2
		gamma := math.Pow10(exponent)
		reached := false
		if gamma > 0 && !math.IsInf(gamma, 1) {
			fits, err := f.factors.Solve(ctx, []float64{gamma})
			if err != nil {
				return 0, err
			}
			reached = fits[0].WorstError() <= f.to.tol
		}
		if reached {
			above, least = exponent, gamma
		} else {
			below = exponent
		}
	}
	return least, nil
}

// certified solves the systems at gammas and computes error bounds. It omits a γ with a singular system and all
// smaller γ.
func (f *factorSolve) certified(
	ctx context.Context,
	factors *ridge.Factorization,
	gammas []float64,
) (fits []*ridge.Solution, err error) {
	before := factors.Passes()
	unformed := func(o ridge.Target) bool { return o.Coef == nil }
	if f.chosen != nil && factors == f.factors &&
		!slices.ContainsFunc(f.chosen.Path[f.chosen.Index].Targets, unformed) { // the solution is known already
		chosen := *f.chosen.Path[f.chosen.Index]
		chosen.Targets, chosen.Passes = slices.Clone(chosen.Targets), before // a copy, because Certify changes the solutions
		fits = []*ridge.Solution{&chosen}
		gammas = nil
	}
	for len(gammas) > 0 {
		fits, err = factors.Solve(ctx, gammas)
		singular, ok := errors.AsType[*ridge.SingularError](err)
		if !ok {
			break
		}
		if f.once && f.method == ridge.Exact && factors.Method() != ridge.QR {
			return nil, &dataset.OnceError{
				What: fmt.Sprintf(
					"QR, which solves what is numerically singular to %v at gamma = %v,",
					singular.Method,
					singular.Gamma,
				),
			}
		}
		f.record(
			Step{
				Stage:  Reading,
				Method: factors.Method(),
				Err:    err,
				Reason: reason.Reason{Rule: reason.Unsolvable, Numbers: []float64{singular.Gamma}},
			},
		)
		gammas = slices.DeleteFunc(slices.Clone(gammas), func(g float64) bool {
			return g <= singular.Gamma
		})
		fits, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := factors.Certify(ctx, f.src, fits); err != nil {
		return nil, err
	}
	more := factors.Passes() - before
	for _, s := range fits {
		more = max(more, s.Passes-before)
	}
	if more > 0 {
		f.record(Step{Stage: Refining, Method: factors.Method(), Passes: more})
	}
	return fits, nil
}

// certifyAgain corrects solutions that miss the present Tol.
func (f *factorSolve) certifyAgain(ctx context.Context, fits []*ridge.Solution) error {
	before, after := 0, 0
	for _, s := range fits {
		before = max(before, s.Passes)
	}
	f.factors.SetTol(f.to.tol)
	if err := f.factors.Certify(ctx, f.src, fits); err != nil {
		return err
	}
	for _, s := range fits {
		after = max(after, s.Passes)
	}
	if after > before {
		f.record(Step{Stage: Refining, Method: f.factors.Method(), Passes: after - before})
	}
	return nil
}

// needQR returns the γ without a solution or limited by round-off.
func (f *factorSolve) needQR(gammas []float64, fits []*ridge.Solution) (again []float64) {
	if f.method != ridge.Exact || f.factors.Method() == ridge.QR {
		return nil
	}
	primal := f.problem()
	primal.Rows = -1
	primal.Gammas = gammas
	primal.LeaveOneOut = primal.LeaveOneOut && f.given == nil
	canFactor := plan.Fits(primal)
	for _, g := range gammas {
		at := slices.IndexFunc(fits, func(s *ridge.Solution) bool { return s.Gamma == g })
		if at < 0 || canFactor && !f.once && fits[at].Status == ridge.RoundOff {
			again = append(again, g)
		}
	}
	return again
}

// retryWithQR keeps the solution with the smaller error bound.
func (f *factorSolve) retryWithQR(
	ctx context.Context,
	gammas []float64,
	fits []*ridge.Solution,
	retry []float64,
) ([]*ridge.Solution, error) {
	why := reason.Reason{
		Rule:    reason.NotCertified,
		Method:  f.factors.Method(),
		Numbers: retry[:1],
	}
	if slices.ContainsFunc(f.trace.steps, func(s Step) bool { return s.Err != nil }) {
		why.Rule = reason.SingularTo
	}
	qr, err := f.factoriseQR(ctx, retry, f.to, false)
	if large, ok := errors.AsType[*ridge.SizeError](err); ok && len(fits) > 0 {
		f.record(
			Step{
				Stage:  Reading,
				Method: ridge.QR,
				Err:    err,
				Reason: reason.Reason{
					Rule:    reason.TooLarge,
					Numbers: []float64{float64(large.Bytes), float64(large.Limit)},
				},
			},
		)
		return fits, nil
	} else if err != nil {
		return nil, err
	}
	f.record(Step{
		Stage:  Reading,
		Method: ridge.QR,
		Passes: 1,
		Reason: why,
	})
	found, err := f.certified(ctx, qr, retry)
	if err != nil {
		return nil, err
	}
	var out []*ridge.Solution
	for _, g := range gammas {
		var best *ridge.Solution
		for _, s := range slices.Concat(fits, found) {
			if s.Gamma == g && (best == nil || s.WorstError() < best.WorstError()) {
				best = s
			}
		}
		if best != nil {
			out = append(out, best)
		}
	}
	return out, nil
}

// solveEach solves for each target at its own γ. It factorises once for each different γ.
func (f *factorSolve) solveEach(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	var out *ridge.Solution
	status := ridge.NotTerminated
	for _, g := range choose.Ascending(gammas) {
		fits, worst, err := f.solveAll(ctx, []float64{g})
		if err != nil {
			return nil, 0, err
		}
		status = status.Worse(worst)
		one := fits[0]
		if out == nil {
			first := *one
			out = &first
			out.Gamma = slices.Min(gammas)
			out.Gammas = slices.Clone(gammas)
			out.Targets = slices.Clone(one.Targets)
			out.EffectiveDimensions = make([]ridge.Interval, len(out.Targets))
		}
		out.Passes = max(out.Passes, one.Passes)
		out.Iterations = max(out.Iterations, one.Iterations)
		out.Status = out.Status.Worse(one.Status)
		df := &out.EffectiveDimension
		df.Lo = math.Min(df.Lo, one.EffectiveDimension.Lo)
		df.Hi = math.Max(df.Hi, one.EffectiveDimension.Hi)
		for j := range out.Targets {
			if gammas[j] == g {
				out.Targets[j] = one.Targets[j]
				out.EffectiveDimensions[j] = one.EffectiveDimension
			}
		}
	}
	return []*ridge.Solution{out}, status, nil
}
