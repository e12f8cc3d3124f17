package fdridge

import (
	"context"
	"errors"
	"runtime"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// Fit fits ridge regression to the rows of src, from end to end:
//
//  1. Every option without a value gets its default. Contradictory options cause an *[OptionError].
//  2. [plan.Choose] chooses the method.
//  3. If the caller wants a summary that the fit does not build, a pass builds it. If some columns
//     have no penalty, a pass computes how to project them out; see [columns.Map].
//  4. One pass reads the rows. A sketching method builds a summary by [ridge.Summarize], or by [choose.CrossValidate] if
//     there are folds. A direct method factors a matrix by [ridge.Factorize]. If γ or penalties are chosen from a sketch,
//     another pass before it builds the sketch.
//  5. If no γ is given, one is chosen. Penalties of bands that are not given are chosen too.
//  6. The solutions come from the summary, from the factors, or from further passes.
//
// If the number of rows is unknown and decides between methods, Fit counts the rows before step 2.
//
// If the tolerance is not reached, Fit returns the Result together with a *[ridge.NotConvergedError], which
// is also Result.Err(). The error bounds of the Result are still valid. With any other error there is no
// Result.
//
// Rows that can be read only once ([dataset.Once]) are read once. If an option needs a second pass over such
// rows, Fit returns a *[dataset.OnceError] before it reads any row. Fit also returns the errors of the
// functions named above.
func Fit(ctx context.Context, src dataset.Source, opts Options) (*Result, error) {
	j, err := resolve(src, opts)
	if err != nil {
		return nil, err
	}
	if width := j.blockOfTargets(); width < j.t || opts.Block != nil {
		return fitBlocks(ctx, src, opts, width)
	}
	return j.run(ctx)
}

// fitTogether is Fit for all targets at once.
func fitTogether(ctx context.Context, src dataset.Source, opts Options) (*Result, error) {
	j, err := resolve(src, opts)
	if err != nil {
		return nil, err
	}
	return j.run(ctx)
}

// run makes all passes of the fit.
func (j *job) run(ctx context.Context) (*Result, error) {
	if err := j.countRows(ctx); err != nil {
		return nil, err
	}
	steps := plan.Choose(j.problem())
	if err := j.checkMethod(steps.Method); err != nil {
		return nil, err
	}
	if j.Chosen != nil {
		if err := j.Chosen(steps.Method); err != nil {
			return nil, err
		}
	}
	if j.keepsApart(steps.Method) {
		if err := j.keep(ctx); err != nil {
			return nil, err
		}
	}
	if j.columns.DependsOnRows() {
		if err := j.learn(ctx); err != nil {
			return nil, err
		}
		steps = plan.Choose(j.problem()) // the pass has counted the rows
	}
	first, err := j.summarise(ctx, steps)
	if err != nil {
		return nil, err
	}
	return j.finish(ctx, first)
}

// FitSummary fits from an existing summary, as in steps 5 and 6 of [Fit]. src yields the rows that were summarised. If
// src is nil, the only possible method is OneShot.
//
// FitSummary ignores options of the sketch. It returns an *[OptionError] if opts requests a direct method or folds.
// Result.Passes is the number of passes over src.
func FitSummary(ctx context.Context, src dataset.Source, sum *ridge.Summary, opts Options) (*Result, error) {
	j, err := resolveSummary(src, sum, opts)
	if err != nil {
		return nil, err
	}
	if opts.Rounding != nil {
		sum.WithErrors(ridge.RowErrors{Rounding: opts.Rounding})
	}
	if penalty := j.columns.Penalty(); penalty != nil {
		sum, err = sum.Penalize(penalty)
		if err != nil {
			return nil, err
		}
	}
	return j.finish(ctx, j.fromSummary(sum))
}

// A firstPass holds a summary or factors.
type firstPass interface {
	// chooseGamma returns the values of γ to solve for.
	chooseGamma(ctx context.Context) ([]float64, error)
	// solve returns the solutions and the status of the fit.
	solve(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error)
	// report fills in fields that depend on the method.
	report(r *Result)
}

// finish chooses γ, solves, and builds the Result.
func (j *job) finish(ctx context.Context, first firstPass) (*Result, error) {
	gammas, err := first.chooseGamma(ctx)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	solutions, status, err := first.solve(ctx, gammas)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Solutions: solutions,
		Status:    status,
		Choice:    j.choice,
		Each:      j.each,
		Bands:     j.bands,
		Trace:     j.trace,
		asked:     j.Gammas,
	}
	for _, s := range r.Trace {
		r.Passes += s.Passes
	}
	first.report(r)
	if j.kept != nil {
		r.Summary = j.kept
	}
	if err := j.restore(r); err != nil {
		return nil, err
	}
	if err := j.classify(ctx, r); err != nil {
		return nil, err
	}
	r.outcome = plan.Outcome{
		Problem: j.problem(), Method: r.Method, Status: r.Status, Solutions: r.Solutions, Summary: r.Summary,
		ColumnSpread: r.ColumnSpread, LeastGamma: r.leastGamma, Tol: j.Tol, MaxPasses: j.MaxPasses, CanRead: j.src != nil && !j.once, Shared: j.Reducer != nil,
	}
	return r, r.Err()
}

// summarise makes the first pass. An iteration replaces DualCG if the rows do not fit in memory.
func (j *job) summarise(ctx context.Context, steps plan.Steps) (firstPass, error) {
	switch {
	case !steps.Method.IsDirect():
		return j.sketch(ctx, steps)
	case j.needsSketch(steps.Method):
		return j.stage(ctx, steps)
	}
	f, err := j.factorise(ctx, steps)
	_, large := errors.AsType[*ridge.SizeError](err)
	if large && (steps.Reason.Rule == reason.SparseRows || steps.Reason.Rule == reason.SparseLeverages) {
		j.sparse = false // excludes DualCG
		return j.summarise(ctx, plan.Choose(j.problem()))
	}
	return f, err
}

// fitBlocks fits at most width targets at a time and joins the results. All fits share the spectrum of the sketch. With
// Options.Block, the joined result has no coefficients.
func fitBlocks(ctx context.Context, src dataset.Source, opts Options, width int) (*Result, error) {
	_, _, t := src.Dims()
	gammas, observe, use := opts.Gammas, opts.Observe, opts.Block
	opts.Block = nil
	var all *Result
	if opts.PerTarget && opts.Lanes == 0 && t >= manyTargets { // blocks with fewer targets would have other sketches
		opts.Lanes = 1
	}
	var shared ridge.SpectrumCache
	summarized := opts.Summarized
	opts.Summarized = func(sum *ridge.Summary) error {
		err := shared.Share(sum)
		if err == nil && summarized != nil {
			err = summarized(sum)
		}
		return err
	}
	together := !opts.PerTarget || opts.Classes != nil // all targets are one block
	if together {
		width = t
	}
	for lo := 0; lo < t; lo += width {
		if all != nil { // without this, the memory of earlier blocks would add up
			all.Summary, all.outcome.Summary = nil, nil
			runtime.GC()
		}
		hi := min(lo+width, t)
		some, err := dataset.Targets(src, lo, hi)
		if err != nil {
			return nil, err
		}
		if len(gammas) > 0 && !together {
			opts.Gammas = gammas[lo:hi]
		}
		if observe != nil {
			opts.Observe = func(i ridge.Iterate) {
				i.Target += lo
				observe(i)
			}
		}
		part, err := fitTogether(ctx, some, opts)
		if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
			return nil, err
		}
		if use != nil {
			for _, s := range part.Solutions {
				if err := use(lo, s); err != nil {
					return nil, err
				}
				for j := range s.Targets {
					s.Targets[j].Coef, s.Targets[j].Scaled = nil, nil
				}
			}
		}
		if all == nil {
			all = part
			if part.Each != nil {
				opts.firstGrid = part.Each.Candidates
			}
			continue
		}
		all.join(part)
	}
	return all, all.Err()
}
