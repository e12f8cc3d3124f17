package fdridge

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// factored is the evidence of a direct method.
type factored struct {
	*job
	method ridge.Method // as it was asked for or chosen: Exact, or one factorisation
	made   *ridge.Factorization
	gram   *ridge.Summary // of the same rows, for leverages by AᵀA; nil if none are wanted
}

// factorise makes the pass of a direct method.
func (j *job) factorise(ctx context.Context, steps plan.Steps) (*factored, error) {
	f := &factored{job: j, method: steps.Method}
	src, opts := j.src, ridge.ExactOptions{
		Method: steps.Method, Intercept: !j.NoIntercept, Backend: j.Backend, MaxBytes: j.MaxBytes, Tol: j.Tol, Progress: j.progress(Reading, 1),
	}
	if opts.LeaveOneOut = j.chooses() && j.Select == choose.LOO; opts.LeaveOneOut && !steps.Method.For(j.n, j.d, j.Gammas).IsDual() {
		acc, err := ridge.NewSummary(ridge.SummaryConfig{Dim: j.d, Targets: j.t, Size: j.d, Intercept: opts.Intercept, Backend: j.Backend, Store: fd.StoreScatter})
		if err != nil {
			return nil, err
		}
		f.gram, src, opts.Beside = acc, shown{src, acc}, plan.GramBytes(j.Backend, j.d, j.t)
	}
	var err error
	if f.made, err = ridge.Factorize(ctx, src, j.Gammas, opts); err != nil {
		return nil, err
	}
	j.did(Step{Stage: Reading, Method: f.made.Method(), Passes: f.made.Passes(), Reason: steps.Reason})
	return f, nil
}

// shown is a source whose rows a summary takes in as they are read.
type shown struct {
	dataset.Source
	sum *ridge.Summary
}

// Blocks adds each block to the summary after the reader has checked it.
func (s shown) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for b, err := range s.Source.Blocks(ctx) {
			if !yield(b, err) || err != nil {
				return
			}
			if err := s.sum.AppendBlock(b); err != nil {
				yield(dataset.Block{}, err)
				return
			}
		}
	}
}

// chooseGamma chooses γ among direct solutions, by GCV or by leave-one-out errors.
func (f *factored) chooseGamma(ctx context.Context) ([]float64, error) {
	if !f.chooses() {
		return f.Gammas, nil
	}
	passes := 0
	grid := choose.GridFor(f.made.MeanEigenvalue(), f.made.ColumnSquares())
	var err error
	f.choice, err = choose.Among(f.Candidates, grid, func(gammas []float64) ([]choose.Candidate, error) {
		if f.Select == choose.LOO && f.gram == nil {
			fits, scores, err := f.made.LeaveOneOut(ctx, gammas)
			return choose.ByScore(fits, scores), err
		}
		fits, err := f.made.Solve(ctx, gammas)
		if err != nil || f.Select == choose.GCV {
			return choose.ByGCV(fits), err
		}
		passes++
		scores, err := f.leaveOneOut(ctx, f.gram, fits, passes)
		if err != nil {
			return nil, err
		}
		f.did(Step{Stage: Choosing, Method: f.method, Passes: 1, Reason: ridge.Reason{Rule: ridge.LeverageTakesPass}})
		return choose.ByScore(fits, scores), nil
	})
	if err != nil {
		return nil, err
	}
	f.choice.By, f.choice.Whole, f.choice.Passes = f.Select, true, passes
	if passes > 0 {
		f.choice.Spent = []ridge.Reason{{Rule: ridge.LeverageTakesPass}}
	}
	return []float64{f.choice.Gamma()}, nil
}

// solve solves, and certifies to the tolerance. If the method is Exact, QR reads the rows once more for the γ at which the system is
// singular to another factorisation, or is not certified. γ that have no solution then are left out.
func (f *factored) solve(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error) {
	fits, err := f.certified(ctx, f.made, gammas)
	if err != nil {
		return nil, 0, err
	}
	if again := f.needQR(gammas, fits); len(again) > 0 {
		if fits, err = f.byQR(ctx, gammas, fits, again); err != nil {
			return nil, 0, err
		}
	}
	if len(fits) == 0 {
		return nil, 0, f.trace[len(f.trace)-1].Err
	}
	status := ridge.NotTerminated
	for _, s := range fits {
		status = status.Worse(s.Status)
	}
	if len(fits) < len(gammas) {
		status = ridge.Unsolved
	}
	return fits, status, nil
}

// certified returns the solutions of a factorisation, certified as far as it goes. The γ at which the system is singular are left out; so are all smaller
// ones.
func (f *factored) certified(ctx context.Context, made *ridge.Factorization, gammas []float64) (fits []*ridge.Solution, err error) {
	before := made.Passes()
	if f.choice != nil && made == f.made { // the solution is on the path
		chosen := *f.choice.Path[f.choice.Index]
		chosen.Targets, chosen.Passes = slices.Clone(chosen.Targets), before // Certify changes them, not those of the path
		fits, gammas = []*ridge.Solution{&chosen}, nil
	}
	for len(gammas) > 0 {
		fits, err = made.Solve(ctx, gammas)
		singular, ok := errors.AsType[*ridge.SingularError](err)
		if !ok {
			break
		}
		if f.once && f.method == ridge.Exact && made.Method() != ridge.QR {
			return nil, &dataset.OnceError{What: fmt.Sprintf("QR, which solves what is numerically singular to %v at gamma = %v,", singular.Method, singular.Gamma)}
		}
		f.did(Step{Stage: Reading, Method: made.Method(), Err: err, Reason: ridge.Reason{Rule: ridge.Unsolvable, Numbers: []float64{singular.Gamma}}})
		gammas = slices.DeleteFunc(slices.Clone(gammas), func(g float64) bool { return g <= singular.Gamma })
		fits, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := made.Certify(ctx, f.src, fits); err != nil {
		return nil, err
	}
	more := made.Passes() - before
	for _, s := range fits {
		more = max(more, s.Passes-before)
	}
	if more > 0 {
		f.did(Step{Stage: Refining, Method: made.Method(), Passes: more})
	}
	return fits, nil
}

// needQR returns the γ at which QR may do better.
func (f *factored) needQR(gammas []float64, fits []*ridge.Solution) (again []float64) {
	if f.method != ridge.Exact || f.made.Method() == ridge.QR {
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

// byQR returns the solutions at gammas, of QR where they are missing or QR certifies more.
func (f *factored) byQR(ctx context.Context, gammas []float64, fits []*ridge.Solution, again []float64) ([]*ridge.Solution, error) {
	why := ridge.Reason{Rule: ridge.NotCertified, Method: f.made.Method(), Numbers: again[:1]}
	if slices.ContainsFunc(f.trace, func(s Step) bool { return s.Err != nil }) {
		why.Rule = ridge.SingularTo
	}
	qr, err := ridge.Factorize(ctx, f.src, again, ridge.ExactOptions{
		Method: ridge.QR, Intercept: !f.NoIntercept, Backend: f.Backend, MaxBytes: f.MaxBytes, Tol: f.Tol, Progress: f.progress(Reading, 1),
	})
	if large, ok := errors.AsType[*ridge.SizeError](err); ok && len(fits) > 0 {
		f.did(Step{Stage: Reading, Method: ridge.QR, Err: err, Reason: ridge.Reason{Rule: ridge.TooLarge, Numbers: []float64{float64(large.Bytes), float64(large.Limit)}}})
		return fits, nil
	} else if err != nil {
		return nil, err
	}
	f.did(Step{Stage: Reading, Method: ridge.QR, Passes: 1, Reason: why})
	found, err := f.certified(ctx, qr, again)
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

func (f *factored) report(r *Result) {
	r.Method = f.method
	if squares := f.made.ColumnSquares(); squares != nil {
		r.ColumnSpread = plan.Spread(squares, 0)
	}
}
