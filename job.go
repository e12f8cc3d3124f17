package fdridge

import (
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// These report a nil source and a nil summary.
var (
	errNoSource  = fmt.Errorf("%w: no source of rows", ridge.ErrShape)
	errNoSummary = fmt.Errorf("%w: no summary", ridge.ErrShape)
)

// A job is a fit under way: its options, with every field filled in, and what has been done so far.
type job struct {
	Options
	src  dataset.Source // the rows, in penalised columns; nil if there are none
	n    int64          // number of rows, -1 if it is unknown
	d, t int
	once bool // the rows can be read only once

	penalty []float64 // the penalty of each column, nil for 1
	trace   []Step
	choice  *choose.GammaChoice
	bands   *choose.BandChoice
}

// resolve fills in the options of a fit and applies the penalties that are given.
func resolve(src dataset.Source, opts Options) (*job, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	if src == nil {
		return nil, errNoSource
	}
	if err := opts.fill(); err != nil {
		return nil, err
	}
	j := &job{Options: opts, src: src, once: dataset.Once(src)}
	j.n, j.d, j.t = src.Dims()
	return j, j.resolvePenalty()
}

// resolveSummary is resolve for a summary.
func resolveSummary(src dataset.Source, sum *ridge.Summary, opts Options) (*job, error) {
	if sum == nil {
		return nil, errNoSummary
	}
	if _, err := sum.Spectrum(); err != nil {
		return nil, err
	}
	cfg := sum.Config()
	reducer := opts.Reducer
	opts.Summarize, opts.Summarized, opts.Reducer = nil, nil, nil // the summary is made
	if err := opts.Check(); err != nil {
		return nil, err
	}
	opts.Reducer, opts.Size, opts.NoIntercept, opts.Backend = reducer, cfg.Size, !cfg.Intercept, cfg.Backend
	switch {
	case opts.Method.IsDirect():
		return nil, &OptionError{[]string{"Method"}, "a summary has no rows to factor"}
	case opts.crossValidates():
		return nil, &OptionError{[]string{"Folds"}, "a summary has no rows to deal into folds"}
	case src == nil && opts.Select == choose.LOO:
		return nil, &OptionError{[]string{"Select"}, "leave-one-out errors take a pass over the rows, and there is no source"}
	case src == nil && opts.Method != ridge.OneShot && opts.Method != ridge.Auto:
		return nil, &OptionError{[]string{"Method"}, opts.Method.String() + " needs the rows, and there is no source"}
	}
	if err := opts.fill(); err != nil {
		return nil, err
	}
	j := &job{Options: opts, src: src, n: sum.Rows(), d: cfg.Dim, t: cfg.Targets}
	return j, j.resolvePenalty()
}

// resolvePenalty finds the penalty of each column, and scales the rows by it.
func (j *job) resolvePenalty() error {
	switch {
	case j.Bands != nil:
		p, err := choose.Penalties(j.d, j.Bands)
		if err != nil {
			return err
		}
		if !j.choosesBands() {
			j.penalty, j.bands = p, &choose.BandChoice{Bands: j.Bands, Choice: choose.Least(nil)}
		}
	case j.Penalty != nil && len(j.Penalty) != j.d:
		return &OptionError{[]string{"Penalty"}, "there must be one penalty for each feature"}
	default:
		j.penalty = j.Penalty
	}
	return j.scale()
}

// scale puts the rows into penalised columns.
func (j *job) scale() error {
	if j.penalty == nil || j.src == nil {
		return nil
	}
	scaling, err := dataset.Penalty(j.penalty)
	if err != nil {
		return err
	}
	j.src, err = scaling.Apply(j.src)
	return err
}

// unscale turns the solutions of a result into those of the columns as they are.
func (j *job) unscale(r *Result) {
	if j.penalty == nil {
		return
	}
	all := r.Solutions
	if r.Choice != nil {
		all = append(all[:len(all):len(all)], r.Choice.Path...)
	}
	for _, s := range all {
		s.Unscale(j.penalty)
	}
}

// problem describes the job to the planner.
func (j *job) problem() plan.Problem {
	p := plan.Problem{
		Method: j.Method, Rows: j.n, Dim: j.d, Targets: j.t, Gammas: j.Gammas, Grid: choose.GridSize, LeaveOneOut: j.Select == choose.LOO && j.chooses(),
		Size: j.Size, MaxBytes: j.MaxBytes, Once: j.once,
	}
	switch {
	case j.Reducer != nil:
		p.NeedsSketch.Rule = ridge.RanksShareRows
	case j.choosesBands():
		p.NeedsSketch.Rule = ridge.BandsNeedSketch
	case j.KeepSummary:
		p.NeedsSketch.Rule = ridge.SketchIsKept
	case j.Journal != nil:
		p.NeedsSketch.Rule = ridge.CheckpointIsKept
	case j.crossValidates():
		p.NeedsSketch.Rule = ridge.FoldsNeedSketch
	}
	return p
}

// admit returns an error if the method cannot take a γ, or needs a second pass over rows that can be read only once.
func (j *job) admit(m ridge.Method) error {
	for _, g := range append(j.Candidates[:len(j.Candidates):len(j.Candidates)], j.Gammas...) {
		if err := m.Takes(g); err != nil {
			return err
		}
	}
	switch {
	case !j.once:
	case j.Select == choose.LOO && j.chooses() && !(m.IsDirect() && m.For(j.n, j.d, nil).IsDual()):
		return &dataset.OnceError{What: "leave-one-out errors"}
	case !m.IsDirect() && m != ridge.OneShot:
		return &dataset.OnceError{What: "method " + m.String()}
	}
	return nil
}

// did adds a step to the trace.
func (j *job) did(s Step) { j.trace = append(j.trace, s) }

// progress returns the function that is told the rows read in a stage, nil if there is none.
func (j *job) progress(s Stage, pass int) func(rows int64) {
	if j.Progress == nil {
		return nil
	}
	return func(rows int64) {
		j.Progress(s, ridge.Progress{Pass: pass, Rows: rows, RelativeError: math.Inf(1)})
	}
}
