package fdridge

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// Errors for missing arguments.
var (
	errNoSource  = fmt.Errorf("%w: no source of rows", ridge.ErrShape)
	errNoSummary = fmt.Errorf("%w: no summary", ridge.ErrShape)
)

// resolve returns the job of a fit to the rows of src.
func resolve(src dataset.Source, opts Options) (job, error) {
	if err := opts.Check(); err != nil {
		return job{}, err
	}
	if src == nil {
		return job{}, errNoSource
	}
	r := &request{asksLOO: opts.Select.Needs().Pass}
	if err := r.encode(&src, opts.Classes); err != nil {
		return job{}, err
	}
	r.once = dataset.Once(src)
	n, d, t := src.Dims()
	var err error
	r.opts, err = opts.complete(!r.once, n, d, t)
	if err != nil {
		return job{}, err
	}
	return r.job(data{
		before: src,
		n:      n,
		d:      d,
		t:      t,
	})
}

// encode replaces the labels in src by targets of ±1, if there are classes.
func (r *request) encode(src *dataset.Source, of *classes.Classes) error {
	if of == nil {
		return nil
	}
	if _, _, t := (*src).Dims(); t != 1 {
		return &OptionError{[]string{"Classes"}, fmt.Sprintf("%d targets; the labels must be in one column", t)}
	}
	r.labelled = *src
	*src = of.Encode(*src)
	return nil
}

// resolveSummary returns the job of a fit to a summary. src may be nil.
func resolveSummary(src dataset.Source, sum *ridge.Summary, opts Options) (job, error) {
	if sum == nil {
		return job{}, errNoSummary
	}
	if _, err := sum.Spectrum(); err != nil {
		return job{}, err
	}
	cfg := sum.Config()
	reducer := opts.Reducer
	opts.Summarize, opts.Summarized, opts.Reducer = nil, nil, nil // the summary exists already
	if err := opts.Check(); err != nil {
		return job{}, err
	}
	opts.Reducer = reducer
	opts.Size = cfg.Size
	opts.NoIntercept = !cfg.Intercept
	opts.Backend = cfg.Backend
	if err := opts.checkForSummary(src); err != nil {
		return job{}, err
	}
	r := &request{asksLOO: opts.Select.Needs().Pass}
	if err := r.encode(&src, opts.Classes); err != nil {
		return job{}, err
	}
	var err error
	r.opts, err = opts.complete(
		src != nil && !dataset.Once(src),
		sum.Rows(),
		cfg.Dim,
		cfg.Targets,
	)
	if err != nil {
		return job{}, err
	}
	return r.job(data{
		before: src,
		n:      sum.Rows(),
		d:      cfg.Dim,
		t:      cfg.Targets,
	})
}

// checkForSummary returns an error if the options do not fit a summary of the rows of src, which may be nil.
func (o *Options) checkForSummary(src dataset.Source) error {
	switch {
	case o.Classes != nil && src == nil:
		return &OptionError{[]string{"Classes"}, "the labels are in the rows, and there is no source"}
	case o.projects():
		return &OptionError{
			[]string{"Unpenalized"},
			"the summary is of rows with these columns, and a sketch does not determine the projection",
		}
	case o.Method.IsDirect():
		return &OptionError{[]string{"Method"}, "a direct method factors the rows, and uses no summary"}
	case o.crossValidates():
		return &OptionError{[]string{"Folds"}, "one summary of all rows does not determine the summaries of folds"}
	case src == nil && o.Select.Needs().Pass:
		return &OptionError{
			[]string{"Select"},
			"leave-one-out errors need a pass over the rows, and there is no source",
		}
	case src == nil && o.Method != ridge.OneShot && o.Method != ridge.Auto:
		return &OptionError{[]string{"Method"}, o.Method.String() + " needs the rows, and there is no source"}
	}
	return nil
}

// job returns the job of the request for rows whose columns have not been changed yet.
func (r *request) job(rows data) (job, error) {
	if o := &r.opts; o.PerTarget && !o.choosesGamma() && len(o.Gammas) != rows.t {
		return job{}, &OptionError{
			[]string{"PerTarget", "Gammas"},
			fmt.Sprintf("%d gammas for %d targets", len(o.Gammas), rows.t),
		}
	}
	changed, err := rows.change(r)
	return job{
		request: r,
		data:    changed,
		by:      r.opts.Select,
		trace:   new(trace),
	}, err
}

// count counts the rows if the choice of the method needs their number. If the choice depends on it, count also finds
// out whether the rows are sparse.
func (j job) count(ctx context.Context) (job, error) {
	if j.columns.DependsOnRows() { // projected rows are dense
		return j, nil
	}
	_, isColumnar := dataset.ByColumns(j.src)
	if isColumnar || !plan.DependsOnRows(j.problem()) {
		return j, nil
	}
	rows := int64(0)
	for b, err := range j.src.Blocks(ctx) {
		if err != nil {
			return j, err
		}
		j.sparse = b.Sparse != nil
		if j.n >= 0 {
			return j, nil
		}
		rows += int64(b.N)
	}
	j.n = rows
	j.before = counted{j.before, rows}
	return j.changeRows()
}

// A counted source is a source with n rows.
type counted struct {
	dataset.Source
	n int64
}

// Dims returns the counted number of rows.
func (s counted) Dims() (n int64, d, t int) {
	_, d, t = s.Source.Dims()
	return s.n, d, t
}

// problem describes the job for [plan.Choose].
func (j job) problem() plan.Problem {
	return plan.Problem{
		Method:      j.opts.Method,
		Rows:        j.n,
		Dim:         j.d,
		Targets:     j.t,
		Gammas:      j.opts.Gammas,
		Grid:        choose.GridSize,
		LeaveOneOut: j.by.Needs().Pass && j.opts.choosesGamma(),
		Size:        j.opts.Size,
		MaxBytes:    j.opts.MaxBytes,
		Once:        j.once,
		Sparse:      j.sparse,
		NeedsSketch: j.opts.whySketch(),
	}
}

// whySketch returns why the fit needs a sketch, or the zero Reason.
func (o *Options) whySketch() (why reason.Reason) {
	switch {
	case o.Reducer != nil:
		why.Rule = reason.RanksShareRows
	case o.PerTarget:
		why.Rule = reason.TargetsNeedSummary
	case o.choosesBands():
		why.Rule = reason.BandsNeedSketch
	case o.KeepSummary:
		why.Rule = reason.SketchIsKept
	case o.Journal != nil:
		why.Rule = reason.CheckpointIsKept
	case o.crossValidates():
		why.Rule = reason.FoldsNeedSketch
	}
	return why
}

// needsSketch reports whether a fit by the direct method m also needs a sketch.
func (j job) needsSketch(m ridge.Method) bool {
	return j.opts.choosesBands() ||
		j.choosesFromSketch(m)
}

// choosesFromSketch reports whether γ is chosen from a sketch if m solves. Cross-validation takes a sketch of each
// fold. DualCG brackets leave-one-out errors of a moderate number of rows; its other scores are too wide. If the caller
// asked for leave-one-out errors, and m has no leverages, a pass takes the leverages from a sketch.
func (j job) choosesFromSketch(m ridge.Method) bool {
	switch {
	case !j.opts.choosesGamma():
		return false
	case j.opts.crossValidates(), !m.IsDirect():
		return true
	case m == ridge.DualCG:
		return !j.choosesByTrials()
	}
	return j.asksLOO && j.lacksLeverages(m)
}

// choosesByTrials reports whether DualCG chooses γ.
func (j job) choosesByTrials() bool {
	return j.by.Needs().Pass &&
		!j.opts.PerTarget &&
		!j.columns.DependsOnRows() &&
		j.n >= 0 &&
		j.n <= plan.MaxTrialRows
}

// keepsApart reports whether the caller wants a summary that a fit by method m does not build.
func (j job) keepsApart(m ridge.Method) bool {
	return j.opts.KeepSummary && (j.columns.DependsOnRows() || m.IsDirect())
}

// checkMethod returns an error if method m cannot run.
func (j job) checkMethod(m ridge.Method) error {
	for _, gammas := range [][]float64{j.opts.Candidates, j.opts.Gammas} {
		for _, g := range gammas {
			if err := m.Takes(g); err != nil {
				return err
			}
		}
	}
	leavesOut := j.by.Needs().Pass && j.opts.choosesGamma()
	switch {
	case !j.once:
	case j.opts.crossValidates() && j.opts.Summarize != nil:
		return &dataset.OnceError{What: "a summary of each fold by Summarize"}
	case j.keepsApart(m):
		return &dataset.OnceError{What: "a sketch besides method " + m.String()}
	case m.IsDirect() && j.needsSketch(m):
		return &dataset.OnceError{What: "a choice from a sketch before method " + m.String()}
	case leavesOut &&
		!(m.IsDirect() && m.For(j.n, j.d, nil).IsDual()):
		return &dataset.OnceError{What: "leave-one-out errors"}
	case !m.IsDirect() && m != ridge.OneShot:
		return &dataset.OnceError{What: "method " + m.String()}
	}
	return nil
}

// progress returns a callback that calls Options.Progress, or nil.
func (j job) progress(s Stage, pass int) func(rows int64) {
	tell := j.opts.Progress
	if tell == nil {
		return nil
	}
	return func(rows int64) {
		tell(s, ridge.Progress{Pass: pass, Rows: rows, RelativeError: math.Inf(1)})
	}
}
