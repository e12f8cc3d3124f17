package ridge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
)

// A Result is what [Fit] has found: what ran, why, and why it stopped.
type Result struct {
	Solutions []*Solution // for each γ, in the order of Options.Gammas; the one that was chosen
	Method    string      // what ran, as Options.Method has it
	Reason    string      // why, in words; "" where it was asked for
	Tried     []Attempt   // what was given up before
	Status    Status      // why it stopped: for the last target and γ that was not certified to the tolerance, if any

	Choice   *GammaChoice // how γ was chosen; nil where Options.Gammas has it
	Bands    *BandChoice  // the penalties of Options.Bands, and how they were chosen; nil where there are none
	Summary  *Summary     // nil for a direct method
	SizedFor float64      // the error that a pilot chose the sketch's size for; 0: none did
	Passes   int          // reads of the data
	// ColumnSpread is how many times the least norm of a feature that isn't zero the largest is, as
	// they were fitted, and at least that where a sketch tells; 0 where nothing is known.
	ColumnSpread float64

	asked *asked
}

// An Attempt is a method that was tried, and why it was given up.
type Attempt struct {
	Method string
	Err    error
}

// Best is the solution at the γ that was chosen; of several that were asked for, that
// of the least proved GCV over all targets.
func (r *Result) Best() *Solution {
	c, err := ChooseGCV(r.Solutions, -1)
	if err != nil || c.Index < 0 {
		return nil // no γ at all
	}
	return r.Solutions[c.Index]
}

// Err is nil where the method did what was asked of it, otherwise a *[NotConvergedError].
func (r *Result) Err() error {
	if r.Status.Err() == nil {
		return nil
	}
	return &NotConvergedError{Solutions: r.Solutions, Status: r.Status}
}

// Fit fits ridge regression to the rows of src, from end to end:
//
//  1. the method is chosen, see [ChooseMethod], where opts does not say;
//  2. the sketch's size, where it is given as an error;
//  3. one pass makes a summary ([Summarize] or [CrossValidate]), or, for a direct method, all
//     there is to do ([Exact]); where that pass has first found how many rows there are, and a
//     direct method would have been chosen for so many, it is made now;
//  4. γ is chosen, by [Summary.ChooseGamma] or [CVResult.ChooseGamma], where opts has none; with
//     "exact" or "tridiagonal", of the direct solutions at all candidates, by GCV or by
//     leave-one-out errors;
//  5. where that leaves open that another γ is better by more than GammaTol, and an iteration
//     is to follow, a further pass computes K = AᵀA itself, if d² numbers fit and it takes no
//     more than two dozen others: from K the score of every γ follows, to round-off. Else it
//     makes a larger sketch, if the spectrum falls. Where another γ may be better by twice
//     even so, and opts has no method, direct solutions are chosen of, which may take five times
//     as long. Leave-one-out errors take a pass of their
//     own (see [LeaveOneOut]), and one more for each time that the grid goes on;
//     Of sparse rows, fewer than features, where neither n² nor d² numbers fit, and no method is
//     named, solutions are found on the rows in memory ("dual-cg"), and γ is chosen by
//     cross-validation of these, whatever opts.Select says: of degrees of freedom and leverages
//     too little is known;
//  6. the solutions are read off ([Summary.Path]) or found by further passes
//     ([SolvePath]), with the sketch, or what was made in its place.
//
// Rows that can be read once ([dataset.Once]) leave what one pass does: what reads them again is
// refused before any is read, as a *[dataset.OnceError], and a direct solution that further passes
// would have corrected stops at [PassLimit].
//
// They are, to the bit, those of the functions named, where no pass was spent on the choice.
//
// Where the tolerance was not reached the Result comes with its Err(), a
// *[NotConvergedError], and its certificates hold: whoever can do with less than was asked for
// goes on with the Result. Direct methods have a tolerance where opts.Tol is given. With any
// other error, that of a cancelled ctx among them, there is no Result. Errors are those of the functions named; what
// opts has that makes no sense ([ErrInput]), and a γ that the method cannot take
// (*[GammaError]), is refused before any row is read.
func Fit(ctx context.Context, src dataset.Source, opts Options) (*Result, error) {
	ctx = background.IfNil(ctx)
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.complete()
	if src == nil {
		return nil, errNoSource
	}
	n, d, t := src.Dims()
	if p, err := opts.penalty(d); err != nil {
		return nil, err
	} else if p != nil {
		return fitPenalized(ctx, src, p, opts)
	}
	opts.Once = opts.Once || dataset.Once(src)
	r := &Result{asked: &asked{opts, n, d, t, true, opts.Method == ""}}
	r.Method, r.Reason = ChooseMethod(n, d, t, opts)
	if opts.Once {
		if err := opts.checkOnce(r.Method, n, d); err != nil {
			return nil, err
		}
	}
	if err := opts.checkGammas(r.Method); err != nil {
		return nil, err
	}
	if factors(r.Method) {
		return r.factor(ctx, src, n, &opts)
	}
	if done, err := r.bySparseRows(ctx, src, &opts); err != nil {
		return nil, err
	} else if done {
		return r, r.Err()
	}
	cv, err := r.summarize(ctx, src, &opts)
	if err != nil {
		return nil, err
	}
	if n < 0 && cv == nil && opts.Reducer == nil && !opts.Once {
		n = r.Summary.Rows()
		if method, why := ChooseMethod(n, d, t, opts); factors(method) {
			r.asked.n, r.Method, r.Summary = n, method, nil
			r.Reason = fmt.Sprintf("the sketch's pass has found that there are %d rows: %s", n, why)
			return r.factor(ctx, src, n, &opts)
		}
	}
	return r.finish(ctx, src, cv, &opts)
}

// factor makes a direct fit of n rows, -1 where that is not known.
func (r *Result) factor(ctx context.Context, src dataset.Source, n int64, opts *Options) (*Result, error) {
	direct, choose := r.exact, r.exactChoice
	if byRows(r.Method, n, r.asked.d, opts.Gammas) {
		direct, choose = r.dual, r.dualChoice
	}
	if opts.chooses() {
		direct = choose
	}
	if err := direct(ctx, src, opts); err != nil {
		return nil, err
	}
	return r, r.Err()
}

// FitSummary is what [Fit] does once it has a summary: it chooses the method, "one-shot" where
// src is nil, else an iteration, and γ, and solves. src has to yield the rows of sum.
// Options of how rows are summarised are not looked at; direct methods and folds are refused.
// Result.Passes are those over src.
func FitSummary(ctx context.Context, src dataset.Source, sum *Summary, opts Options) (*Result, error) {
	ctx = background.IfNil(ctx)
	if !sum.made() {
		return nil, errUnmade
	}
	if err := opts.checkPenalty(); err != nil {
		return nil, err
	}
	if p, err := opts.penalty(sum.cfg.Dim); err != nil {
		return nil, err
	} else if p != nil {
		return fitSummaryPenalized(ctx, src, sum, p, opts)
	}
	r := &Result{Method: opts.Method, Summary: sum, asked: &asked{opts, sum.Rows(), sum.cfg.Dim, sum.cfg.Targets, src != nil, false}}
	if r.Method == "" {
		if r.Method, r.Reason = oneShotName, "there are no rows, but a sketch"; src != nil {
			r.Method, _ = iterative(sum.cfg.Dim, min(sum.cfg.Size, sum.cfg.Dim), opts.solved()*sum.cfg.Targets)
			r.Reason = "there is a sketch, and the rows to refine by"
		}
	}
	switch {
	case factors(r.Method):
		return nil, badinput.Errorf("ridge: a summary has no rows for %s to factor", r.Method)
	case opts.Folds != 0 || opts.Select == ByCV:
		return nil, badinput.Errorf("ridge: a summary has no rows to deal into folds: CrossValidate the source")
	}
	opts.complete()
	opts.Error, opts.Summarize, opts.Summarized = 0, nil, nil
	// A larger sketch, for the choice of γ, is of the same problem.
	opts.Intercept, opts.Shrink, opts.Backend = sum.cfg.Intercept, sum.cfg.Shrink, sum.cfg.Backend
	reducer := opts.Reducer
	opts.Reducer = nil // which sum is of all rows for
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.Reducer = reducer
	if src == nil && opts.Select == ByLOO {
		return nil, badinput.Errorf("ridge: leave-one-out errors take a pass over the rows, and there is no source")
	}
	if src == nil && r.Method != oneShotName {
		return nil, badinput.Errorf("ridge: %s needs the rows, and there is no source", r.Method)
	}
	if err := opts.checkGammas(r.Method); err != nil {
		return nil, err
	}
	return r.finish(ctx, src, nil, &opts)
}

// exact makes a direct fit.
func (r *Result) exact(ctx context.Context, src dataset.Source, opts *Options) error {
	return r.direct(ctx, src, opts, directFactor(r.Method, opts.Gammas))
}

// dual makes a direct fit through G = AAᵀ: "exact" by whatever takes less time.
func (r *Result) dual(ctx context.Context, src dataset.Source, opts *Options) (err error) {
	if r.Method == DualCG.String() {
		return r.direct(ctx, src, opts, DualCG)
	}
	if err = r.direct(ctx, src, opts, Dual); err == nil && r.Method == exactName && r.Solutions[0].Method == DualCG.String() {
		r.because("conjugate gradients on sparse rows are the soonest, by which the effective dimension, and GCV with it, is hardly known: method dual factors AAᵀ, and has them")
	}
	return err
}

// because adds to the reason.
func (r *Result) because(why string) {
	if r.Reason != "" {
		why = r.Reason + "; " + why
	}
	r.Reason = why
}

// byRows says that a direct method works with the n×n matrix of rows, n = -1 where that is not
// known: where it is called dual, and "exact" where there are fewer rows than features or, if
// that is not known, too many features for d² numbers. Least squares is not for it.
func byRows(method string, n int64, d int, gammas []float64) bool {
	switch {
	case method == Dual.String() || method == DualCG.String():
		return true
	case method != exactName || slices.Contains(gammas, 0):
		return false
	case n < 0:
		return !exactFits(d)
	}
	return n < int64(d)
}

// exact are the options of a direct fit.
func (o *Options) exact(factor Factor) ExactOptions {
	return ExactOptions{
		Factor: factor, Intercept: o.Intercept, Backend: o.Backend, MaxBytes: o.MaxBytes, Progress: o.progress(Reading), Tol: o.Tol,
	}
}

// directFactor is what a direct method factors at these γ.
func directFactor(method string, gammas []float64) Factor {
	exact := method == exactName
	switch {
	case method == QR.String() || exact && slices.Contains(gammas, 0):
		return QR
	case method == Tridiagonal.String() || exact && reduces(len(gammas)):
		return Tridiagonal
	}
	return Cholesky
}

// summarize makes the pass that every method but the direct ones begins with, and before it
// that of the pilot where the size is to be found.
func (r *Result) summarize(ctx context.Context, src dataset.Source, opts *Options) (*CVResult, error) {
	m := opts.size()
	r.SizedFor = opts.Error
	if opts.Error > 0 && opts.Size == 0 {
		var err error
		r.Passes++
		if m, err = pilot(ctx, src, opts); err != nil {
			return nil, err
		}
	}
	r.Passes++
	var cv *CVResult
	var err error
	if opts.Folds == 0 {
		r.Summary, err = opts.summarize(ctx, Sketching, src, m)
	} else {
		folds := CrossValidation{Folds: opts.Folds, Gammas: opts.Candidates, MaxBytes: opts.MaxBytes}
		if tell := opts.progress(Sketching); tell != nil {
			folds.Progress = func(_ int, rows int64) { tell(rows) }
		}
		if cv, err = CrossValidate(ctx, src, opts.config(m), folds); err == nil {
			r.Summary = cv.Summary
		}
	}
	if err != nil {
		return nil, err
	}
	if r.Summary.Rows() == 0 {
		return nil, ErrEmpty
	}
	if opts.Summarized != nil {
		err = opts.Summarized(r.Summary)
	}
	return cv, err
}

// summarize makes a summary of m rows.
func (o *Options) summarize(ctx context.Context, s Stage, src dataset.Source, m int) (*Summary, error) {
	if o.Summarize != nil {
		return o.Summarize(ctx, s, src, o.config(m), o.progress(s))
	}
	return Summarize(ctx, src, o.config(m), o.progress(s))
}

// pilot finds the size of sketch that is expected to have the error at the least γ.
func pilot(ctx context.Context, src dataset.Source, opts *Options) (int, error) {
	const stride = 10
	sample, err := dataset.Every(src, stride)
	if err != nil {
		return 0, err
	}
	sum, err := opts.summarize(ctx, Piloting, sample, defaultSize)
	if err != nil {
		return 0, inSource(err, stride)
	}
	// n rows have stride times the spectrum of the pilot's, so γ is stride times less.
	_, size, err := sum.SizeFor(opts.Error, slices.Min(opts.Gammas)/stride)
	return size, err
}

// inSource makes an error about a row of a sample, of every stride-th row, one about that row
// of the source.
func inSource(err error, stride int) error {
	if e, ok := errors.AsType[*fd.NonFiniteError](err); ok {
		return &fd.NonFiniteError{Row: e.Row * stride, Col: e.Col, Value: e.Value}
	}
	if e, ok := errors.AsType[*fd.RangeError](err); ok {
		return &fd.RangeError{Row: e.Row * stride}
	}
	return err
}
