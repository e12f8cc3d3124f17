package fdridge

import (
	"context"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// Fit fits ridge regression to the rows of src, from end to end:
//
//  1. Every option gets its value. Contradictions are an *[OptionError].
//  2. [plan.Choose] chooses the method.
//  3. One pass reads the rows: into a summary ([ridge.Summarize], or [choose.CrossValidate] for folds), or into the matrix that a direct
//     method factors ([ridge.Factorize]).
//  4. γ is chosen, if none is given; and the penalties of bands.
//  5. The solutions are read off, factored, or found by further passes.
//
// If the number of rows is unknown until the sketch's pass has counted them, the method is chosen once more after it.
//
// If the tolerance is not reached, Fit returns the Result together with its Err(), a *[ridge.NotConvergedError]; the certificates
// of the Result hold. With any other error there is no Result. Rows that can be read only once ([dataset.Once]) are read once; options that need
// a second pass are a *[dataset.OnceError], before any row is read. Other errors are those of the functions named.
func Fit(ctx context.Context, src dataset.Source, opts Options) (*Result, error) {
	ctx = background.IfNil(ctx)
	j, err := resolve(src, opts)
	if err != nil {
		return nil, err
	}
	steps := plan.Choose(j.problem())
	if err := j.admit(steps.Method); err != nil {
		return nil, err
	}
	known, err := j.summarise(ctx, steps)
	if err != nil {
		return nil, err
	}
	return j.finish(ctx, known)
}

// MethodOf returns the method that [Fit] starts with. It reads no rows. Errors are those of Fit before it reads any.
func MethodOf(src dataset.Source, opts Options) (ridge.Method, error) {
	j, err := resolve(src, opts)
	if err != nil {
		return ridge.Auto, err
	}
	m := plan.Choose(j.problem()).Method
	return m, j.admit(m)
}

// FitSummary fits to a summary of rows: it does steps 4 and 5 of [Fit]. src yields the rows of the summary; if it is nil, the only method is
// OneShot. Direct methods and folds are an *[OptionError], and options of the sketch are ignored. Result.Passes counts
// the reads of src.
func FitSummary(ctx context.Context, src dataset.Source, sum *ridge.Summary, opts Options) (*Result, error) {
	ctx = background.IfNil(ctx)
	j, err := resolveSummary(src, sum, opts)
	if err != nil {
		return nil, err
	}
	if j.penalty != nil {
		if sum, err = sum.Penalize(j.penalty); err != nil {
			return nil, err
		}
	}
	return j.finish(ctx, j.known(sum))
}

// evidence is what one pass keeps of the rows: a summary, or what a direct method factors.
type evidence interface {
	// chooseGamma returns the γ to solve for: those given, or the one that is chosen.
	chooseGamma(ctx context.Context) ([]float64, error)
	// solve returns the solutions at these γ and the status of the fit.
	solve(ctx context.Context, gammas []float64) ([]*ridge.Solution, ridge.Status, error)
	// report adds to a Result what is particular to the kind of evidence.
	report(r *Result)
}

// finish chooses γ, solves, and reports.
func (j *job) finish(ctx context.Context, known evidence) (*Result, error) {
	gammas, err := known.chooseGamma(ctx)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	solutions, status, err := known.solve(ctx, gammas)
	if err != nil {
		return nil, err
	}
	r := &Result{Solutions: solutions, Status: status, Choice: j.choice, Bands: j.bands, Trace: j.trace, asked: j.Gammas}
	for _, s := range r.Trace {
		r.Passes += s.Passes
	}
	known.report(r)
	r.outcome = plan.Outcome{
		Problem: j.problem(), Method: r.Method, Status: r.Status, Solutions: r.Solutions, Summary: r.Summary,
		ColumnSpread: r.ColumnSpread, Tol: j.Tol, MaxPasses: j.MaxPasses, CanRead: j.src != nil && !j.once, Shared: j.Reducer != nil,
	}
	j.unscale(r)
	return r, r.Err()
}

// summarise makes the first pass.
func (j *job) summarise(ctx context.Context, steps plan.Steps) (evidence, error) {
	if steps.Method.IsDirect() {
		return j.factorise(ctx, steps)
	}
	known, err := j.sketch(ctx, steps)
	if err != nil || j.n >= 0 || j.once {
		return known, err
	}
	j.n = known.sum.Rows()
	if again := plan.Choose(j.problem()); again.Method.IsDirect() {
		return j.factorise(ctx, again)
	}
	return known, nil
}
