package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
)

// A chooser chooses γ for [Fit], and spends passes on that.
type chooser struct {
	ctx    context.Context
	src    dataset.Source // nil for one-shot, which makes no pass
	opts   *Options
	method string   // that is to run
	sum    *Summary // what the choice is made of, and what is refined afterwards
	made   int      // passes
	kept   int      // those of them that the journal has
}

// choose chooses γ by the criterion that is asked for; cv is nil but for cross-validation.
func (c *chooser) choose(cv *CVResult) (*GammaChoice, error) {
	if cv != nil {
		return c.byCV(cv)
	}
	if c.opts.Select == ByLOO {
		return c.byLOO()
	}
	return c.byGCV()
}

// ownPass says why leave-one-out errors spend passes.
const ownPass = "leave-one-out errors take a pass of their own, and one each time that the grid goes on"

// byLOO chooses by leave-one-out errors, for which K is computed first where the sketch has
// lost anything and that is worth while. The grid goes on as that of [Summary.ChooseGamma]
// does, by a pass each time. Where what is left open are the fits, and not the leverages, those γ
// that may be the best are solved for before another one.
func (c *chooser) byLOO() (*GammaChoice, error) {
	why := ownPass
	if spec, err := c.sum.spectrum(); err != nil {
		return nil, err
	} else if spec.Bound.Shrinkage > 0 && !math.IsInf(c.opts.gammaTol(), 1) {
		more, err := c.sharpen(0)
		if err != nil {
			return nil, err
		}
		why += "; for the leverages, " + more
	}
	grid, err := c.sum.grid(gridGCV)
	if err != nil {
		return nil, err
	}
	choice, err := chooseOf(c.opts.Candidates, grid, func(gammas []float64) ([]candidate, error) {
		path, err := c.sum.Path(gammas)
		if err != nil {
			return nil, err
		}
		return c.leftOut(path)
	})
	if err != nil {
		return nil, err
	}
	if before := c.made; !c.settled(choice) && c.byFits(choice) && c.haveRoom(choice) {
		path, err := c.approach(choice, 1e-4)
		if err != nil {
			return nil, err
		}
		all, err := c.leftOut(path)
		if err != nil {
			return nil, err
		}
		if choice, err = choice.again(all); err != nil {
			return nil, err
		}
		why += fmt.Sprintf("; %d more have narrowed the errors of those that are left open", c.made-before)
	}
	choice.By, choice.Passes, choice.Spent, choice.Whole = ByLOO, c.made, why, c.sum.ofWhole
	return choice, nil
}

// leftOut makes a pass that finds the leave-one-out errors of the γ of a path. No journal
// keeps it.
func (c *chooser) leftOut(path []*Solution) ([]candidate, error) {
	o := LeaveOneOutOptions{Reducer: c.opts.Reducer}
	if tell := c.opts.Progress; tell != nil {
		pass := c.made + 1
		o.Progress = func(rows int64) {
			tell(Choosing, Progress{Pass: pass, Rows: rows, RelativeError: math.Inf(1)})
		}
	}
	c.made++
	scores, err := LeaveOneOut(c.ctx, c.src, c.sum, path, o)
	if err != nil {
		return nil, err
	}
	out := make([]candidate, len(path))
	for i, f := range path {
		out[i] = candidate{f, scores[i]}
	}
	return out, nil
}

// byGCV chooses by GCV as the sketch has it. Where that leaves open that another γ is better by
// more than GammaTol, by GCV as K has it, if a pass that computes K is worth while; and where
// the training errors are what leaves it open, these are narrowed by further passes.
func (c *chooser) byGCV() (*GammaChoice, error) {
	choice, err := c.sum.ChooseGamma(c.opts.Candidates)
	if err != nil || c.settled(choice) || c.method == oneShotName {
		return choice, err
	}
	why, err := c.sharpen(0)
	if err != nil {
		return nil, err
	}
	why = fmt.Sprintf("the sketch leaves open that another gamma is better by %s, and %s", percent(choice.RelativeExcess()), why)
	if c.made > 0 {
		if choice, err = c.sum.ChooseGamma(c.opts.Candidates); err != nil {
			return nil, err
		}
	}
	before := c.made
	for _, tol := range []float64{1e-4, 1e-8} {
		if c.settled(choice) || !c.byResiduals(choice) || !c.haveRoom(choice) {
			break
		}
		path, err := c.approach(choice, tol)
		if err != nil {
			return nil, err
		}
		if choice, err = choice.again(byGCV(path)); err != nil {
			return nil, err
		}
	}
	if more := c.made - before; more > 0 {
		why += fmt.Sprintf("; %d more have narrowed the training errors of those that are left open", more)
	}
	choice.Passes, choice.Spent, choice.Whole = c.made, why, c.sum.ofWhole
	return choice, nil
}

// settled says that no other γ can be better by more than GammaTol, or by what round-off
// leaves open of squares that are all fitted.
func (c *chooser) settled(choice *GammaChoice) bool {
	const fitted, nothing = 1e-12, 1e-300
	squares := 0.0
	for _, o := range choice.Path[choice.Index].Targets {
		squares += o.TSS.Hi
	}
	return choice.RelativeExcess() <= c.opts.gammaTol() || choice.Excess <= fitted*squares/float64(c.sum.Rows())+nothing
}

// byResiduals says that the choice would be settled if training errors were known, but for
// one of degrees of freedom: of no γ that may be the best do these leave more open than
// GammaTol.
func (c *chooser) byResiduals(choice *GammaChoice) bool {
	n := float64(c.sum.Rows())
	if c.sum.cfg.Intercept {
		n--
	}
	for _, i := range choice.Possible {
		df := choice.Path[i].EffectiveDimension
		if free := (n - df.Lo) / (n - df.Hi); !(n > df.Hi && free*free-1 <= c.opts.gammaTol()) {
			return false
		}
	}
	return true
}

// byFits says that the choice by leave-one-out errors would be settled if the solutions were
// known: of no γ that may be the best is the mean leverage uncertain by more than half of
// GammaTol, though all that rows have were outside of the sketch.
func (c *chooser) byFits(choice *GammaChoice) bool {
	b, n := c.sum.bound(), float64(c.sum.Rows())
	for _, i := range choice.Possible {
		gamma := choice.Path[i].Gamma
		if !(2*b.Frobenius2/n*b.Shrinkage/gamma/(gamma+b.Shrinkage) <= c.opts.gammaTol()) {
			return false
		}
	}
	return true
}

// haveRoom says that there is memory to solve for all γ that may be the best together.
func (c *chooser) haveRoom(choice *GammaChoice) bool {
	o, err := c.sum.outlook()
	if err != nil { // which the choice would have met with
		return false
	}
	systems := len(choice.Possible) * c.sum.cfg.Targets
	if c.sum.lostNothing() {
		return c.opts.mayTake(o.separateCost(o.rows, o.d, systems, 1).memory)
	}
	return c.opts.mayTake(o.galerkinCost(o.rows, c.sum.cfg.Size, systems, 1).memory)
}

// approach solves for all γ that may be the best together, to a relative error of tol. It
// returns the path with what was found of these.
func (c *chooser) approach(choice *GammaChoice, tol float64) ([]*Solution, error) {
	var gammas []float64
	for _, i := range choice.Possible {
		gammas = append(gammas, choice.Path[i].Gamma)
	}
	solve := c.options()
	solve.Tol, solve.MaxPasses, solve.Method = tol, c.opts.MaxPasses, Galerkin
	if c.sum.lostNothing() { // all but solved: they are to be measured
		solve.Method = CG
	}
	fits, err := SolvePath(c.ctx, c.src, c.sum, gammas, solve)
	if short, ok := errors.AsType[*NotConvergedError](err); ok {
		fits = short.Solutions
	} else if err != nil {
		return nil, err
	}
	path, passes := slices.Clone(choice.Path), 0
	for k, i := range choice.Possible {
		path[i] = fits[k]
		passes = max(passes, fits[k].Iterations)
	}
	c.made, c.kept = c.made+passes, c.kept+passes
	return path, nil
}

// byCV chooses by cross-validation. Where the sketches of the folds leave open that another γ is
// better by more than GammaTol it is made once more, by sketches of d rows, which lose nothing,
// if that is worth while.
func (c *chooser) byCV(cv *CVResult) (*GammaChoice, error) {
	oneShot := c.method == oneShotName
	choice, err := cv.ChooseGamma(oneShot)
	if err != nil || oneShot || c.settled(choice) {
		return choice, err
	}
	d, o, most := c.sum.cfg.Dim, c.opts, c.mostFlops()
	eigen := float64(o.Folds*len(cv.Gammas)) * eigenFlops * float64(d) * float64(d) / float64(c.sum.Rows())
	switch flops := readFlops + 3*float64(d) + eigen; {
	case c.sum.cfg.Size >= d || c.sum.lostNothing():
		choice.Spent = "the sketches of the folds have lost nothing, round-off alone leaves it open"
		return choice, nil
	case flops > most:
		choice.Spent = fmt.Sprintf("sketches of d rows for each fold would be %.2g times the work of two dozen passes", flops/most)
		return choice, nil
	}
	folds := CrossValidation{Folds: o.Folds, Gammas: o.Candidates, MaxBytes: o.MaxBytes}
	if tell := o.Progress; tell != nil {
		pass := c.made + 1
		folds.Progress = func(_ int, rows int64) {
			tell(Choosing, Progress{Pass: pass, Rows: rows, RelativeError: math.Inf(1)})
		}
	}
	excess := choice.RelativeExcess()
	whole, err := CrossValidate(c.ctx, c.src, o.config(d), folds)
	if tooMuch, ok := errors.AsType[*FoldsError](err); ok {
		choice.Spent = fmt.Sprintf("sketches of d rows for each of the %d folds take about %.3g GiB", tooMuch.Folds, float64(tooMuch.Bytes)/(1<<30))
		return choice, nil
	} else if err != nil {
		return nil, err
	}
	c.made++
	c.sum = whole.Summary
	c.sum.ofWhole = true
	if choice, err = whole.ChooseGamma(false); err == nil {
		choice.Passes, choice.Whole = c.made, true
		choice.Spent = fmt.Sprintf("the sketches of the folds leave open that another gamma is better by %s, so that one pass more has made ones that lose nothing", percent(excess))
	}
	return choice, err
}

// sharpen makes a pass that knows more than the sketch: K itself or, where that takes too much,
// a larger sketch. It says in words which, or why neither is made. So many eigenproblems of the order
// of what is then known are to follow.
func (c *chooser) sharpen(eigenproblems int) (what string, err error) {
	if c.sum.lostNothing() {
		return "AᵀA itself is kept, so that round-off alone leaves it open", nil
	}
	why := c.unaffordable(eigenproblems)
	if why == "" {
		return "one pass more has computed AᵀA itself", c.whole()
	}
	size, err := c.largerSize()
	if err != nil || size == 0 {
		return why, err
	}
	c.made++
	more, err := c.opts.summarizeMore(c.ctx, c.src, size)
	if err == nil {
		err = c.sum.sameRows(more)
	}
	if err != nil {
		return why, err
	}
	c.sum = more
	return fmt.Sprintf("%s: one pass more has made a sketch of %d rows", why, size), nil
}

// unaffordable says why no pass computes K, for so many eigenproblems of it, "" where one does.
func (c *chooser) unaffordable(eigenproblems int) string {
	d, t := c.sum.cfg.Dim, c.sum.cfg.Targets
	eigen := float64(eigenproblems) * eigenFlops * float64(d) * float64(d) / float64(c.sum.Rows())
	flops, most := readFlops+productFlops*float64(d)+eigen, c.mostFlops()
	switch need := wholeBytes(d, t); {
	case !c.opts.mayTake(need):
		return fmt.Sprintf("d² for d = %d takes too much memory for a pass that computes AᵀA itself, %.3g MiB", d, need/(1<<20))
	case flops > most:
		return fmt.Sprintf("a pass that computes AᵀA itself, with what follows, would be %.2g times the work of two dozen others", flops/most)
	}
	return ""
}

// mostFlops is how many flops, for each number of A, a pass may take that is made for the
// choice: as many as a direct solution may in place of an iteration.
func (c *chooser) mostFlops() float64 {
	d, m := c.sum.cfg.Dim, min(c.sum.cfg.Size, c.sum.cfg.Dim)
	_, least := iterative(d, m, c.sum.cfg.Targets)
	return 2 * least
}

// mayTake says that a pass for the choice may take so many bytes.
func (o *Options) mayTake(bytes float64) bool {
	return bytes <= exactBudget && bytes <= float64(o.maxBytes())
}

// largerSize is the size of a sketch that is worth a pass: four times the rows, or at least
// twice, of which η is expected to be less than half of what it would be if the spectrum did
// not fall. 0 says that none is.
func (c *chooser) largerSize() (int, error) {
	d, m := c.sum.cfg.Dim, c.sum.cfg.Size
	o, err := c.sum.outlook()
	if err != nil {
		return 0, err
	}
	for size := min(4*m, d/2); size >= 2*m; size -= m {
		cost, err := o.sketchCost(c.sum.Rows(), size, c.opts.Lanes)
		if err != nil {
			return 0, err
		}
		if c.opts.mayTake(cost.memory) && readFlops+cost.flops/float64(d) <= c.mostFlops() && o.eta.estimate(size) <= o.known.Bound().Shrinkage*float64(m)/float64(2*size) {
			return size, nil
		}
	}
	return 0, nil
}

// summarizeMore makes a summary of m rows for the choice of γ. Only where workers share the
// rows is it made as the first one was.
func (o *Options) summarizeMore(ctx context.Context, src dataset.Source, m int) (*Summary, error) {
	if o.Reducer != nil {
		return o.summarize(ctx, Choosing, src, m)
	}
	return Summarize(ctx, src, o.config(m), o.progress(Choosing))
}

// options are those of the next pass.
func (c *chooser) options() SolveOptions {
	o := c.opts
	solve := SolveOptions{Journal: after(o.Journal, c.kept), Reducer: o.Reducer}
	if tell := o.Progress; tell != nil {
		before := c.made
		solve.Progress = func(p Progress) {
			p.Pass += before
			tell(Choosing, p)
		}
	}
	return solve
}

// whole makes the pass that computes K.
func (c *chooser) whole() error {
	solve := c.options()
	c.made, c.kept = c.made+1, c.kept+1
	sum, err := c.sum.whole(c.ctx, c.src, &solve)
	if err == nil {
		c.sum = sum
	}
	return err
}

// percent is a ratio above one, for a sentence.
func percent(excess float64) string {
	if !(excess < 100) {
		return "any factor"
	}
	return fmt.Sprintf("%.2g %%", 100*excess)
}
