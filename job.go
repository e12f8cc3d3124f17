package fdridge

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// Errors for missing arguments.
var (
	errNoSource  = fmt.Errorf("%w: no source of rows", ridge.ErrShape)
	errNoSummary = fmt.Errorf("%w: no summary", ridge.ErrShape)
)

// A job is the state of a running fit.
type job struct {
	Options
	asksLOO bool  // the caller asked for leave-one-out errors
	n       int64 // number of rows, -1 if it is unknown
	d, t    int   // numbers of columns after the change of columns, and of targets
	once    bool  // the rows can be read only once
	sparse  bool  // the first rows are sparse; set only by countRows

	mapping // the change of columns
	decided // state of a classification

	kept  *ridge.Summary // the summary for the caller, if the fit builds none of all columns
	trace []Step
	chosen
	bands *choose.BandChoice
}

// chosen holds a γ for all targets, or one for each.
type chosen struct {
	choice *choose.GammaChoice
	each   *choose.TargetChoice
}

// manyTargets or more targets keep all cores busy without parallel sketches.
const manyTargets = 512

// resolve returns a job with completed options and changed columns.
func resolve(src dataset.Source, opts Options) (*job, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	if src == nil {
		return nil, errNoSource
	}
	var labelled dataset.Source
	if opts.Classes != nil {
		if _, _, t := src.Dims(); t != 1 {
			return nil, &OptionError{
				[]string{"Classes"},
				fmt.Sprintf("%d targets; the labels must be in one column", t),
			}
		}
		labelled, src = src, opts.Classes.Encode(src)
	}
	once, asksLOO := dataset.Once(src), opts.Select.Needs().Pass
	if err := opts.fill(!once); err != nil {
		return nil, err
	}
	j := &job{Options: opts, asksLOO: asksLOO, once: once}
	j.rows, j.labelled = src, labelled
	j.n, j.d, j.t = src.Dims()
	if j.PerTarget && j.Lanes == 0 && j.t >= manyTargets {
		j.Lanes = 1
	}
	if j.Size == 0 {
		j.Size = plan.LosslessSize(j.n, j.d)
	}
	if err := j.checkPerTarget(); err != nil {
		return nil, err
	}
	return j, j.resolveColumns()
}

// resolveSummary returns the job of a fit to a summary.
func resolveSummary(src dataset.Source, sum *ridge.Summary, opts Options) (*job, error) {
	if sum == nil {
		return nil, errNoSummary
	}
	if _, err := sum.Spectrum(); err != nil {
		return nil, err
	}
	cfg := sum.Config()
	reducer := opts.Reducer
	opts.Summarize, opts.Summarized, opts.Reducer = nil, nil, nil // the summary exists already
	if err := opts.Check(); err != nil {
		return nil, err
	}
	opts.Reducer, opts.Size, opts.NoIntercept, opts.Backend = reducer, cfg.Size, !cfg.Intercept, cfg.Backend
	switch {
	case opts.Classes != nil:
		return nil, &OptionError{[]string{"Classes"}, "a summary has no labels"}
	case opts.Block != nil:
		return nil, &OptionError{[]string{"Block"}, "a summary has all targets together"}
	case opts.projects():
		return nil, &OptionError{
			[]string{"Unpenalized"},
			"a summary has no rows from which columns can be projected out",
		}
	case opts.Method.IsDirect():
		return nil, &OptionError{[]string{"Method"}, "a summary has no rows to factor"}
	case opts.crossValidates():
		return nil, &OptionError{[]string{"Folds"}, "a summary has no rows to deal into folds"}
	case src == nil && opts.Select.Needs().Pass:
		return nil, &OptionError{
			[]string{"Select"},
			"leave-one-out errors need a pass over the rows, and there is no source",
		}
	case src == nil && opts.Method != ridge.OneShot && opts.Method != ridge.Auto:
		return nil, &OptionError{[]string{"Method"}, opts.Method.String() + " needs the rows, and there is no source"}
	}
	if err := opts.fill(src != nil && !dataset.Once(src)); err != nil {
		return nil, err
	}
	j := &job{Options: opts, n: sum.Rows(), d: cfg.Dim, t: cfg.Targets}
	j.rows = src
	if err := j.checkPerTarget(); err != nil {
		return nil, err
	}
	return j, j.resolveColumns()
}

// checkPerTarget returns an error unless there is a γ for each target, or for none.
func (j *job) checkPerTarget() error {
	if !j.PerTarget || j.choosesGamma() || len(j.Gammas) == j.t {
		return nil
	}
	return &OptionError{
		[]string{"PerTarget", "Gammas"},
		fmt.Sprintf("%d gammas for %d targets", len(j.Gammas), j.t),
	}
}

// countRows counts the rows if the choice of the method needs their number, and sets j.n. It sets j.sparse if the
// choice depends on it.
func (j *job) countRows(ctx context.Context) error {
	_, isColumnar := dataset.ByColumns(j.src)
	// projected rows and columns are dense
	if j.columns.DependsOnRows() || isColumnar || !plan.DependsOnRows(j.problem()) {
		return nil
	}
	rows := int64(0)
	for b, err := range j.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		j.sparse = b.Sparse != nil
		if j.n >= 0 {
			return nil
		}
		rows += int64(b.N)
	}
	j.n, j.rows = rows, counted{j.rows, rows}
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
func (j *job) problem() plan.Problem {
	p := plan.Problem{
		Method:      j.Method,
		Rows:        j.n,
		Dim:         j.d,
		Targets:     j.t,
		Gammas:      j.Gammas,
		Grid:        choose.GridSize,
		LeaveOneOut: j.Select.Needs().Pass && j.choosesGamma(),
		Size:        j.Size,
		MaxBytes:    j.MaxBytes,
		Once:        j.once,
		Sparse:      j.sparse,
	}
	p.NeedsSketch = j.whySketch()
	return p
}

// whySketch returns why the fit needs a sketch, or the zero Reason.
func (j *job) whySketch() (why reason.Reason) {
	switch {
	case j.Reducer != nil:
		why.Rule = reason.RanksShareRows
	case j.PerTarget:
		why.Rule = reason.TargetsNeedSummary
	case j.choosesBands():
		why.Rule = reason.BandsNeedSketch
	case j.KeepSummary:
		why.Rule = reason.SketchIsKept
	case j.Journal != nil:
		why.Rule = reason.CheckpointIsKept
	case j.crossValidates():
		why.Rule = reason.FoldsNeedSketch
	}
	return why
}

// needsSketch reports whether a fit by the direct method m also needs a sketch.
func (j *job) needsSketch(m ridge.Method) bool { return j.choosesBands() || j.choosesFromSketch(m) }

// choosesFromSketch reports whether γ is chosen from a sketch if m solves. Cross-validation takes a sketch of each
// fold. DualCG brackets leave-one-out errors of a moderate number of rows; its other scores are too wide.
func (j *job) choosesFromSketch(m ridge.Method) bool {
	return j.choosesGamma() && (j.crossValidates() || m == ridge.DualCG && !j.choosesByTrials() || !m.IsDirect())
}

// choosesByTrials reports whether DualCG chooses γ.
func (j *job) choosesByTrials() bool {
	return j.Select.Needs().Pass && !j.PerTarget && !j.columns.DependsOnRows() && j.n >= 0 && j.n <= plan.MaxTrialRows
}

// keepsApart reports whether the caller wants a summary that a fit by method m does not build.
func (j *job) keepsApart(m ridge.Method) bool {
	return j.KeepSummary && (j.columns.DependsOnRows() || m.IsDirect())
}

// checkMethod returns an error if method m cannot run.
func (j *job) checkMethod(m ridge.Method) error {
	for _, g := range append(j.Candidates[:len(j.Candidates):len(j.Candidates)], j.Gammas...) {
		if err := m.Takes(g); err != nil {
			return err
		}
	}
	switch {
	case !j.once:
	case j.keepsApart(m):
		return &dataset.OnceError{What: "a sketch besides method " + m.String()}
	case m.IsDirect() && j.needsSketch(m):
		return &dataset.OnceError{What: "a choice from a sketch before method " + m.String()}
	case j.Select.Needs().Pass && j.choosesGamma() && !(m.IsDirect() && m.For(j.n, j.d, nil).IsDual()):
		return &dataset.OnceError{What: "leave-one-out errors"}
	case !m.IsDirect() && m != ridge.OneShot:
		return &dataset.OnceError{What: "method " + m.String()}
	}
	return nil
}

// record adds a step to the trace.
func (j *job) record(s Step) { j.trace = append(j.trace, s) }

// progress returns a callback that calls Options.Progress, or nil.
func (j *job) progress(s Stage, pass int) func(rows int64) {
	if j.Progress == nil {
		return nil
	}
	return func(rows int64) {
		j.Progress(s, ridge.Progress{Pass: pass, Rows: rows, RelativeError: math.Inf(1)})
	}
}
