package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
		if r.asked.free && c.directly(r.Choice) {
			n := r.Summary.Rows()
			r.Reason = fmt.Sprintf("a sketch of %d rows leaves open that another gamma is better by %s", r.Summary.cfg.Size, percent(r.Choice.RelativeExcess()))
			r.asked.n, r.Method, r.Summary, r.Choice = n, exactName, nil, nil
			return r.factor(c.ctx, c.src, n, opts)
		}
		if spec, err := c.sum.spectrum(); err != nil {
			return nil, err
		} else if c.made > 0 { // and more may be known of the columns
			r.ColumnSpread = math.Max(r.ColumnSpread, columnSpread(spec))
		}
		gammas = []float64{r.Choice.Gamma()}
	}
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if r.Method == oneShotName {
		if err := r.oneShot(gammas, opts.PlainFD); err != nil {
			return nil, err
		}
		return r, r.Err()
	}
	return r.refine(c, gammas)
}

// oneShot reads the solutions off. One pass is too few for those of which nothing is proved.
func (r *Result) oneShot(gammas []float64, plain bool) (err error) {
	if r.Solutions, err = r.Summary.path(gammas, !plain); err != nil {
		return err
	}
	r.Status = OnePass
	for _, f := range r.Solutions {
		if !f.proves() {
			f.Status = Unproved
		}
		r.Status = r.Status.worse(f.Status)
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
	iterated, err := c.sum.ranged(gammas, method, opts.PlainFD)
	if err != nil {
		return nil, err
	}
	r.Solutions, err = SolvePath(c.ctx, c.src, c.sum, iterated, solve)
	if short, ok := errors.AsType[*NotConvergedError](err); ok {
		r.Solutions = short.Solutions
	} else if err != nil {
		return nil, err
	}
	if r.Solutions, err = c.sum.orBegun(r.Solutions, gammas, opts.PlainFD); err != nil {
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

// ranged are those of some γ at which the sketch proves a range of the spectrum of Ĥ⁻¹H, which
// Chebyshev needs: all where it is at none, which is an error.
func (s *Summary) ranged(gammas []float64, method Method, plain bool) ([]float64, error) {
	if method != Chebyshev {
		return gammas, nil
	}
	spec, err := s.spectrum()
	if err != nil {
		return nil, err
	}
	without := func(g float64) bool { lo, _ := s.rangeOf(spec, g, !plain); return !(lo > 0) }
	if left := slices.DeleteFunc(slices.Clone(gammas), without); len(left) > 0 {
		return left, nil
	}
	return gammas, nil
}

// orBegun are the solutions at some γ: those found and, where there is none, the one that an
// iteration begins with.
func (s *Summary) orBegun(found []*Solution, gammas []float64, plain bool) ([]*Solution, error) {
	if len(found) == len(gammas) {
		return found, nil
	}
	begun, err := s.path(gammas, !plain)
	if err != nil {
		return nil, err
	}
	for i, f := range begun {
		f.Status = Diverged // which it would, for all that is proved
		if len(found) > 0 && found[0].Gamma == f.Gamma {
			begun[i], found = found[0], found[1:] // which are in the same order
		}
	}
	return begun, nil
}
