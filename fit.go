package fdridge

import (
	"context"
	"errors"

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
//  4. One pass reads the rows. A sketching method builds a summary by [ridge.Summarize], or by [choose.CrossValidate]
//     if there are folds. A direct method factors a matrix by [ridge.Factorize]. If γ or penalties are chosen from a
//     sketch, another pass before it builds the sketch.
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
		return j.runBlocks(ctx, width)
	}
	return j.run(ctx)
}

// run makes all passes of the fit.
func (j job) run(ctx context.Context) (*Result, error) {
	j, err := j.count(ctx)
	if err != nil {
		return nil, err
	}
	steps := plan.Choose(j.problem())
	if err := j.checkMethod(steps.Method); err != nil {
		return nil, err
	}
	if j.opts.Chosen != nil {
		if err := j.opts.Chosen(steps.Method); err != nil {
			return nil, err
		}
	}
	var kept *ridge.Summary
	if j.keepsApart(steps.Method) {
		kept, j, err = j.keep(ctx)
		if err != nil {
			return nil, err
		}
	}
	if j.columns.DependsOnRows() {
		j, err = j.learn(ctx)
		if err != nil {
			return nil, err
		}
		steps = plan.Choose(j.problem()) // the pass has counted the rows
	}
	found, err := j.evidence(ctx, steps)
	if err != nil {
		return nil, err
	}
	r, err := j.finish(ctx, found)
	if r != nil && kept != nil {
		r.Summary, r.outcome.Summary = kept, kept
	}
	return r, err
}

// FitSummary fits from an existing summary, as in steps 5 and 6 of [Fit]. src yields the rows that were summarised. If
// src is nil, the only possible method is OneShot.
//
// FitSummary ignores options of the sketch. It returns an *[OptionError] if opts requests a direct method, folds, or
// columns without penalty. With Options.Classes, src has the labels, and sum is the summary of the encoded rows
// ([classes.Classes.Encode]). All targets are one block for Options.Block.
// Result.Passes is the number of passes over src.
func FitSummary(
	ctx context.Context,
	src dataset.Source,
	sum *ridge.Summary,
	opts Options,
) (*Result, error) {
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
	r, err := j.finish(ctx, j.fromSummary(sum))
	if r == nil {
		return nil, err
	}
	if failed := j.opts.deliver(0, r.Solutions); failed != nil {
		return nil, failed
	}
	return r, err
}

// evidence makes the first pass. An iteration replaces DualCG if the rows do not fit in memory.
func (j job) evidence(ctx context.Context, steps plan.Steps) (evidence, error) {
	switch {
	case !steps.Method.IsDirect():
		return j.sketch(ctx, steps)
	case j.needsSketch(steps.Method):
		return j.stage(ctx, steps)
	}
	f, err := j.factorise(ctx, steps, j.opts.Gammas)
	_, large := errors.AsType[*ridge.SizeError](err)
	if large &&
		(steps.Reason.Rule == reason.SparseRows || steps.Reason.Rule == reason.SparseLeverages) {
		j.sparse = false // excludes DualCG
		return j.evidence(ctx, plan.Choose(j.problem()))
	}
	return f, err
}

// finish chooses γ, solves, and builds the Result.
func (j job) finish(ctx context.Context, found evidence) (*Result, error) {
	c, err := found.choose(ctx)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := c.from.solve(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.result(ctx, c)
}

// result returns the Result in the original columns, with the error that Fit returns.
func (s solved) result(ctx context.Context, c choice) (*Result, error) {
	restored := s.fits
	if c.gamma != nil {
		restored = append(restored[:len(restored):len(restored)], c.gamma.Path...)
	}
	if err := s.columns.Restore(restored, s.opts.Tol); err != nil {
		return nil, err
	}
	status := s.status
	if s.columns.DependsOnRows() {
		for _, f := range s.fits {
			status = status.Worse(f.Status)
		}
	}
	labels, passes, err := s.classify(ctx, c, s.fits)
	if err != nil {
		return nil, err
	}
	for _, made := range s.trace.steps {
		passes += made.Passes
	}
	r := &Result{
		Solutions:    s.fits,
		Method:       s.method,
		Status:       status,
		Choice:       c.gamma,
		Each:         c.each,
		Bands:        s.bands,
		Classes:      labels,
		Summary:      s.summary,
		Passes:       passes,
		Trace:        s.trace.steps,
		ColumnSpread: s.spread,
		asked:        s.opts.Gammas,
		outcome: plan.Outcome{
			Problem:      s.problem(),
			Method:       s.method,
			Status:       status,
			Solutions:    s.fits,
			Summary:      s.summary,
			ColumnSpread: s.spread,
			LeastGamma:   s.leastGamma,
			Tol:          s.opts.Tol,
			MaxPasses:    s.opts.MaxPasses,
			CanRead:      s.before != nil && !s.once,
			Shared:       s.opts.Reducer != nil,
		},
	}
	return r, r.Err()
}
