package ridge

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
)

// finish chooses penalties and γ and makes the solutions of a summary.
func (r *Result) finish(ctx context.Context, src dataset.Source, cv *CVResult, opts *Options) (*Result, error) {
	c := chooser{ctx: ctx, src: src, opts: opts, method: r.Method, sum: r.Summary}
	spec, err := r.Summary.spectrum()
	if err != nil {
		return nil, err
	}
	r.ColumnSpread = columnSpread(spec)
	if !opts.choosesBands() {
		return r.solve(&c, cv)
	}
	p, err := r.chooseBands(&c)
	if err != nil {
		return nil, err
	}
	found, err := r.solve(&c, cv)
	return found.penalized(p, nil), err
}

// solve chooses γ and makes the solutions of what is known.
func (r *Result) solve(c *chooser, cv *CVResult) (*Result, error) {
	gammas, opts := c.opts.Gammas, c.opts
	if opts.chooses() {
		var err error
		if r.Choice, err = c.choose(cv); err != nil {
			return nil, err
		}
		r.Passes += c.made
		gammas = []float64{r.Choice.Gamma()}
	}
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if r.Method == oneShotName {
		if err := r.oneShot(gammas, opts.PlainFD); err != nil {
			return nil, err
		}
		return r, nil
	}
	return r.refine(c, gammas)
}

// oneShot reads the solutions off.
func (r *Result) oneShot(gammas []float64, plain bool) (err error) {
	r.Status = OnePass
	if !plain {
		r.Solutions, err = r.Summary.Path(gammas)
		return err
	}
	for _, g := range gammas {
		f, err := r.Summary.FitFD(g)
		if err != nil {
			return err
		}
		r.Solutions = append(r.Solutions, f)
	}
	return nil
}

// refine makes further passes, from what is known once γ was chosen.
func (r *Result) refine(c *chooser, gammas []float64) (*Result, error) {
	opts := c.opts
	method, err := ParseMethod(r.Method)
	if err != nil {
		return nil, err
	}
	var start *mat.Dense
	if c.made > 0 {
		if x := r.Choice.Path[r.Choice.Index].Coef(); !math.IsInf(mat.Norm(x, 1), 0) && !math.IsNaN(mat.Norm(x, 1)) {
			start = x
		}
	}
	solve := SolveOptions{
		Method: method, Tol: opts.Tol, MaxPasses: opts.MaxPasses, PlainFD: opts.PlainFD,
		Observe: opts.Observe, Journal: after(opts.Journal, c.kept), Reducer: opts.Reducer, Start: start,
	}
	if tell := opts.Progress; tell != nil {
		solve.Progress = func(p Progress) { tell(Refining, p) }
	}
	r.Solutions, err = SolvePath(c.ctx, c.src, c.sum, gammas, solve)
	if short, ok := errors.AsType[*NotConvergedError](err); ok {
		r.Solutions = short.Solutions
	} else if err != nil {
		return nil, err
	}
	passes := 0
	for _, f := range r.Solutions {
		passes = max(passes, f.Iterations)
		f.Passes += c.made
		if c.sum != r.Summary { // what is said of the sketch stays true of that
			k, err := r.Summary.known(r.Method, 1)
			if err != nil {
				return nil, err
			}
			f.Shrinkage, f.Contraction = k.Bound().FD(), solve.contraction(k, f.Gamma)
		}
		r.Status = r.Status.worse(f.Status)
	}
	r.Passes += passes
	return r, r.Err()
}
