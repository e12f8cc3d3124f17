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

// A factored fit holds the factors of a direct method.
type factored struct {
	*job
	method  ridge.Method // Exact, or the method of one factorization if it was requested
	factors *ridge.Factorization

	leastGamma float64 // the least power of ten that reaches Tol as γ, if columns are dependent at γ = 0; else 0
}

// factorise reads the rows once and computes the factorization.
func (j *job) factorise(ctx context.Context, steps plan.Steps) (*factored, error) {
	f := &factored{job: j, method: steps.Method}
	if err := j.checkLeverages(steps.Method); err != nil {
		return nil, err
	}
	var err error
	f.factors, err = ridge.Factorize(ctx, j.src, j.Gammas, ridge.ExactOptions{
		Method:      steps.Method,
		Intercept:   !j.NoIntercept,
		Backend:     j.Backend,
		MaxBytes:    j.MaxBytes,
		Tol:         j.goal,
		RowErrors:   j.columns.Errors(),
		Progress:    j.progress(Reading, 1),
		LeaveOneOut: j.choosesGamma() && j.Select.LeavesOut(),
	})
	if err != nil {
		return nil, err
	}
	j.record(Step{Stage: Reading, Method: f.factors.Method(), Passes: f.factors.Passes(), Reason: steps.Reason})
	return f, nil
}

// chooseGamma chooses γ by the criterion, unless Gammas are given.
func (f *factored) chooseGamma(ctx context.Context) ([]float64, error) {
	if !f.choosesGamma() {
		return f.Gammas, nil
	}
	if f.PerTarget {
		return f.chooseEach(ctx)
	}
	if f.factors.Method() == ridge.DualCG && f.Select.LeavesOut() {
		return f.chooseByTrials(ctx)
	}
	grid := choose.GridFor(f.factors.MeanEigenvalue(), f.factors.ColumnSquares())
	byGCV, err := choose.Among(f.Candidates, grid, func(gammas []float64) ([]choose.Candidate, error) {
		fits, err := f.factors.Scores(ctx, gammas)
		return choose.ByGCV(fits), err
	})
	if err != nil {
		return nil, err
	}
	f.choice = byGCV
	if f.Select.LeavesOut() {
		if err := f.chooseByLeaveOneOut(ctx, byGCV); err != nil {
			return nil, err
		}
	}
	f.choice.By, f.choice.Whole = f.Select, true
	if err := f.chooseByAccuracy(); err != nil {
		return nil, err
	}
	return []float64{f.choice.Gamma()}, nil
}

// chooseByTrials chooses γ by leave-one-out errors whose leverages are bracketed by trial vectors.
func (f *factored) chooseByTrials(ctx context.Context) ([]float64, error) {
	passes := 0
	var err error
	f.choice, err = choose.Among(
		f.Candidates,
		choose.AroundMean(f.factors.MeanEigenvalue()),
		f.leftOutBy(ctx, f.factors, &passes),
	)
	if err != nil {
		return nil, err
	}
	f.choice.By, f.choice.Whole = f.Select, true
	if err := f.chooseByAccuracy(); err != nil {
		return nil, err
	}
	return []float64{f.choice.Gamma()}, nil
}

// Dual methods compute leave-one-out errors without a pass over the rows.
func (f *factored) chooseByLeaveOneOut(ctx context.Context, byGCV *choose.GammaChoice) (err error) {
	passes, spent := 0, []reason.Reason{{Rule: reason.LeverageTakesPass}}
	f.choice, err = choose.Among(f.Candidates, choose.AroundGCV(byGCV), f.leftOutBy(ctx, f.factors, &passes))
	if err != nil {
		return err
	}
	f.choice.AddUnknown(byGCV.Unknown)
	if err := f.chooseByQR(ctx, &passes); err != nil {
		return err
	}
	for _, s := range f.trace {
		if s.Reason.Rule == reason.LeftOutTakesQR && s.Passes > 0 {
			spent = append(spent, s.Reason)
		}
	}
	if passes > 0 {
		f.choice.Passes, f.choice.Spent = passes, spent
	}
	return nil
}

// leftOutBy returns a function that computes leave-one-out errors with the given factors. Each call adds to passes,
// except for dual methods.
func (f *factored) leftOutBy(
	ctx context.Context,
	factors *ridge.Factorization,
	passes *int,
) func(gammas []float64) ([]choose.Candidate, error) {
	return func(gammas []float64) ([]choose.Candidate, error) {
		src, opts, err := f.leaveOneOut(gammas, *passes+1)
		if err != nil {
			return nil, err
		}
		fits, scores, err := factors.LeaveOneOut(ctx, src, gammas, opts)
		if err != nil {
			return nil, err
		}
		if !factors.Method().IsDual() {
			*passes++
			f.record(
				Step{
					Stage:  Choosing,
					Method: f.method,
					Passes: 1,
					Reason: reason.Reason{Rule: reason.LeverageTakesPass},
				},
			)
		}
		return choose.ByScore(fits, scores.Bounds, scores.Estimates), nil
	}
}

// chooseByQR tries the γ that were left out, with a QR factorisation of the rows. If columns are nearly dependent,
// AᵀA loses the digits that decide about small γ. The method must be Exact, and the factorisations must be cheap.
func (f *factored) chooseByQR(ctx context.Context, passes *int) error {
	gammas := f.choice.BelowChoice()
	if f.Candidates != nil {
		gammas = slices.DeleteFunc(slices.Clone(f.choice.Unknown), func(g float64) bool { return g == 0 })
	}
	if len(gammas) == 0 || f.method != ridge.Exact || f.once || f.choice.IsFitted() || f.Select.Decides() ||
		!f.isCheapByQR() {
		return nil
	}
	qr, err := f.factoriseQR(ctx, gammas, true)
	if large, ok := errors.AsType[*ridge.SizeError](err); ok {
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
		return nil
	}
	if err != nil {
		return err
	}
	f.record(
		Step{
			Stage:  Reading,
			Method: ridge.QR,
			Passes: 1,
			Reason: reason.Reason{Rule: reason.LeftOutTakesQR, Numbers: []float64{float64(len(f.choice.Unknown))}},
		},
	)
	*passes++
	byQR, err := choose.Among(gammas, choose.GammaGrid{}, f.leftOutBy(ctx, qr, passes))
	if _, singular := errors.AsType[*ridge.SingularError](err); singular {
		return nil
	}
	if err != nil {
		return err
	}
	f.choice, err = f.choice.Merge(byQR, f.Candidates != nil)
	if err != nil {
		return err
	}
	if f.choice.Path[f.choice.Index].Method == ridge.QR {
		f.factors = qr
	}
	return nil
}

// isCheapByQR reports whether QR factorisations for some forty γ take little time: each takes O(d³) time, and the
// pass O(nd²).
func (f *factored) isCheapByQR() bool {
	const small, rows = 200, 6 // features, and rows for each feature
	return !f.factors.Method().IsDual() && f.factors.Method() != ridge.QR && (f.d <= small || f.n >= rows*int64(f.d))
}

// factoriseQR reads the rows for a QR factorisation.
func (f *factored) factoriseQR(ctx context.Context, gammas []float64, leaveOneOut bool) (*ridge.Factorization, error) {
	return ridge.Factorize(ctx, f.src, gammas, ridge.ExactOptions{
		Method:      ridge.QR,
		Intercept:   !f.NoIntercept,
		Backend:     f.Backend,
		MaxBytes:    f.MaxBytes,
		Tol:         f.goal,
		RowErrors:   f.columns.Errors(),
		Progress:    f.progress(Reading, 1),
		LeaveOneOut: leaveOneOut,
	})
}

// solve returns the solutions at gammas, or with PerTarget one solution in which each target has its own γ.
func (f *factored) solve(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	if f.PerTarget {
		return f.solveEach(ctx, gammas)
	}
	return f.solveAll(ctx, gammas)
}

// solveAll returns the solutions of all targets at gammas. With method Exact, it reads the rows again for a QR
// factorization if a system is singular, or if round-off limits an error bound.
func (f *factored) solveAll(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	fits, err := f.certified(ctx, f.factors, gammas)
	if err != nil {
		return nil, 0, err
	}
	if f.tighten(fits) {
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
		return nil, 0, f.trace[len(f.trace)-1].Err
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
func (f *factored) findLeastGamma(ctx context.Context) (float64, error) {
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
			reached = fits[0].WorstError() <= f.goal
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
func (f *factored) certified(
	ctx context.Context,
	factors *ridge.Factorization,
	gammas []float64,
) (fits []*ridge.Solution, err error) {
	before := factors.Passes()
	unformed := func(o ridge.Target) bool { return o.Coef == nil }
	if f.choice != nil && factors == f.factors &&
		!slices.ContainsFunc(f.choice.Path[f.choice.Index].Targets, unformed) { // the solution is known already
		chosen := *f.choice.Path[f.choice.Index]
		chosen.Targets, chosen.Passes = slices.Clone(chosen.Targets), before // a copy, because Certify changes the solutions
		fits, gammas = []*ridge.Solution{&chosen}, nil
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
		gammas = slices.DeleteFunc(slices.Clone(gammas), func(g float64) bool { return g <= singular.Gamma })
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
func (f *factored) certifyAgain(ctx context.Context, fits []*ridge.Solution) error {
	before, after := 0, 0
	for _, s := range fits {
		before = max(before, s.Passes)
	}
	f.factors.SetTol(f.goal)
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
func (f *factored) needQR(gammas []float64, fits []*ridge.Solution) (again []float64) {
	if f.method != ridge.Exact || f.factors.Method() == ridge.QR {
		return nil
	}
	primal := f.problem()
	primal.Rows, primal.Gammas = -1, gammas
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
func (f *factored) retryWithQR(
	ctx context.Context,
	gammas []float64,
	fits []*ridge.Solution,
	retry []float64,
) ([]*ridge.Solution, error) {
	why := reason.Reason{Rule: reason.NotCertified, Method: f.factors.Method(), Numbers: retry[:1]}
	if slices.ContainsFunc(f.trace, func(s Step) bool { return s.Err != nil }) {
		why.Rule = reason.SingularTo
	}
	qr, err := f.factoriseQR(ctx, retry, false)
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
	f.record(Step{Stage: Reading, Method: ridge.QR, Passes: 1, Reason: why})
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
func (f *factored) solveEach(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
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
			out.Gamma, out.Gammas = slices.Min(gammas), slices.Clone(gammas)
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

// chooseEach chooses a γ for each target by the brackets of the direct method.
func (f *factored) chooseEach(ctx context.Context) ([]float64, error) {
	gammas := choose.Ascending(f.eachCandidates())
	if len(gammas) == 0 {
		gammas = choose.GridFor(f.factors.MeanEigenvalue(), nil).Gammas
	}
	var candidates []choose.Candidate
	var passes int
	var err error
	if f.Select.LeavesOut() {
		candidates, err = f.leftOutBy(ctx, f.factors, &passes)(gammas)
	} else {
		var fits []*ridge.Solution
		fits, err = f.factors.Scores(ctx, gammas)
		candidates = choose.ByGCV(fits)
	}
	if err != nil {
		return nil, err
	}
	f.each, err = choose.Each(f.Select, candidates)
	if err != nil {
		return nil, err
	}
	f.each.Passes, f.each.Whole = passes, true
	if passes > 0 {
		f.each.Spent = []reason.Reason{{Rule: reason.LeverageTakesPass}}
	}
	return f.each.Gammas, nil
}

func (f *factored) report(r *Result) {
	r.Method, r.leastGamma = f.method, f.leastGamma
	if squares := f.factors.ColumnSquares(); squares != nil {
		r.ColumnSpread = plan.Spread(squares, 0)
	}
}
