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

// byLOO chooses by leave-one-out errors, for which K is computed first where the sketch has
// lost anything and that is worth while. The grid goes on as that of [Summary.ChooseGamma]
// does, by a pass each time.
func (c *chooser) byLOO() (*GammaChoice, error) {
	why := c.unaffordable()
	if spec, err := c.sum.spectrum(); err != nil {
		return nil, err
	} else if spec.Bound.Shrinkage == 0 || math.IsInf(c.opts.gammaTol(), 1) {
		why = "leave-one-out errors take a pass of their own"
	} else if why == "" {
		if err := c.whole(); err != nil {
			return nil, err
		}
		why = "leave-one-out errors take a pass of their own, and one more has computed AᵀA itself, of which leverages follow for every gamma"
	}
	choice, err := chooseOf(c.opts.Candidates, c.sum.Grid(gridGCV), c.leftOut)
	if err != nil {
		return nil, err
	}
	choice.By, choice.Passes, choice.Spent, choice.Whole = ByLOO, c.made, why, c.sum.ofWhole
	return choice, nil
}

// leftOut makes a pass that finds the leave-one-out errors of some γ. No journal keeps it.
func (c *chooser) leftOut(gammas []float64) ([]candidate, error) {
	path, err := c.sum.Path(gammas)
	if err != nil {
		return nil, err
	}
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
	excess := choice.RelativeExcess()
	why := c.unaffordable()
	if why == "" {
		if err := c.whole(); err != nil {
			return nil, err
		}
		if choice, err = c.sum.ChooseGamma(c.opts.Candidates); err != nil {
			return nil, err
		}
		why = fmt.Sprintf("the sketch leaves open that another gamma is better by %s, so that one pass more has computed AᵀA itself", percent(excess))
	}
	before := c.made
	for _, tol := range []float64{1e-4, 1e-8} {
		if c.settled(choice) || !c.byResiduals(choice) {
			break
		}
		if choice, err = c.approach(choice, tol); err != nil {
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

// approach solves for all γ that may be the best together, to a relative error of tol, and
// chooses by what is then proved of their GCV.
func (c *chooser) approach(choice *GammaChoice, tol float64) (*GammaChoice, error) {
	var gammas []float64
	for _, i := range choice.Possible {
		gammas = append(gammas, choice.Path[i].Gamma)
	}
	solve := c.options()
	solve.Tol, solve.MaxPasses, solve.Method = tol, c.opts.MaxPasses, Galerkin
	if c.sum.ofWhole { // all but solved: they are to be measured
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
	return chooseCandidate(byGCV(path))
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
	d, o := c.sum.cfg.Dim, c.opts
	_, least := iterative(d, min(c.sum.cfg.Size, d), c.sum.cfg.Targets)
	eigen := float64(o.Folds*len(cv.Gammas)) * eigenFlops * float64(d) * float64(d) / float64(c.sum.Rows())
	switch flops := readFlops + 3*float64(d) + eigen; {
	case c.sum.cfg.Size >= d:
		choice.Spent = "the sketches of the folds have lost nothing, round-off alone leaves it open"
		return choice, nil
	case !prefersExact(flops, least):
		choice.Spent = fmt.Sprintf("sketches of d rows for each fold take %.0f·d flops a row, more than twice the %.0f·d of a dozen passes", flops, least)
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

// unaffordable says why no pass computes K, "" where one does.
func (c *chooser) unaffordable() string {
	d, t, m := c.sum.cfg.Dim, c.sum.cfg.Targets, min(c.sum.cfg.Size, c.sum.cfg.Dim)
	_, least := iterative(d, m, t)
	flops := readFlops + productFlops*float64(d)
	switch need := wholeBytes(d, t); {
	case need > exactBudget || need > float64(c.opts.maxBytes()):
		return fmt.Sprintf("d² for d = %d takes too much memory for a pass that computes AᵀA itself, %.3g MiB", d, need/(1<<20))
	case !prefersExact(flops, least):
		return fmt.Sprintf("a pass that computes AᵀA itself takes %.0f·d flops a row, more than twice the %.0f·d of a dozen passes", flops, least)
	}
	return ""
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
