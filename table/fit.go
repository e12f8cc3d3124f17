package table

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/classes"
)

// A Fitted is the result of [Fit]: the model, the rows it was fitted to, and the numerical results.
type Fitted struct {
	Model  *model.Model
	Table  *Table
	Result *fdridge.Result
	// HeldOut compares the predictions of each solution with the held-out rows. It is nil if no rows are held out,
	// or if the target is a class label.
	HeldOut *model.Evaluation
	// HeldOutClasses scores the classes that each solution predicts for the held-out rows. It is nil if no rows are
	// held out, or if the targets are numbers.
	HeldOutClasses []*classes.Score
}

// Fit opens the rows of s, runs [fdridge.Fit], and makes a model that also contains the preparation of the rows.
// Some fields of opts depend on the rows, and Fit sets them; see [Table.Options]. opts.Block must be nil.
//
// If env.Job is nil, Fit runs its own job, which uses the checkpoint and the ranks of env; see [batch.Run]. A
// checkpoint belongs to this job if s, the contents of its files, opts and the backend are the same. The checkpoint
// is removed after the fit.
//
// Errors: the errors of [Open], [fdridge.Fit], [model.New] and [model.Evaluate]. If the error is a
// *[ridge.NotConvergedError], Fit also returns the result, and the error bounds in its model hold.
func Fit(ctx context.Context, s Spec, opts fdridge.Options, env Env) (*Fitted, error) {
	if opts.Block != nil {
		return nil, &fdridge.OptionError{Fields: []string{"Block"}, Rule: "a model needs all coefficients"}
	}
	var err error
	env.Backend, err = engine.OrDefault(cmp.Or(env.Backend, opts.Backend))
	if err != nil {
		return nil, err
	}
	if env.Job != nil {
		return openAndFit(ctx, s, opts, env)
	}
	var out *Fitted
	backend, err := batch.BackendSetting(env.Backend)
	if err != nil {
		return nil, err
	}
	files := batch.Files(s.Files())
	if env.Seen == nil {
		env.Seen = Stamps(files)
	}
	job := batch.Options{
		Checkpoint: env.Checkpoint,
		Settings: slices.Concat(
			s.Settings(), batch.OptionSettings(opts), batch.FileSettings(files), []batch.Setting{backend},
		),
		Transport: env.Ranks,
		Backend:   env.Backend,
	}
	err = batch.Run(ctx, job, func(j *batch.Job) error {
		env.Job = j
		var err error
		out, err = openAndFit(ctx, s, opts, env)
		return err
	})
	return out, err
}

func openAndFit(ctx context.Context, s Spec, opts fdridge.Options, env Env) (*Fitted, error) {
	t, err := Open(ctx, s, env)
	if err != nil {
		return nil, err
	}
	return t.Fit(ctx, opts)
}

// Cover makes one pass over the held-out rows and stores a [model.Coverage] in each fit of f.Model. The model then
// gives intervals that contain the target of a new row with a probability of at least level, between 0 and 1. This
// holds if held-out and new rows are exchangeable; see [model.Intervals]. In a job of several processes, every
// process must call Cover.
//
// The error is a *[SpecError] if no rows are held out, or if the target is a class label. It is a
// *[model.CoverageRowsError] if there are too few held-out rows. Other errors are the errors of
// [model.Model.Calibrate]. After an error, f.Model is unchanged.
func (f *Fitted) Cover(ctx context.Context, level float64) error {
	if f.Table == nil || f.Result == nil || f.Model == nil {
		return specError("", "the model was not made by Fit")
	}
	found, err := f.Table.Calibrate(ctx, f.Result.Solutions, f.Model.Intercept, level)
	if err != nil {
		return err
	}
	coverages, err := found.Coverages()
	if err != nil {
		return err
	}
	for i, c := range coverages {
		f.Model.Fits[i].Coverage = c
	}
	return nil
}

// StandardErrors makes one pass over the rows of the fit. It returns the standard errors of the coefficients and of
// the intercept, for each penalty γ and each target. The rows must be readable again, and the job must have only
// one process.
//
// The error is a *[SpecError] if the model was not made by Fit. Other errors are the errors of
// [model.Model.StandardErrors].
func (f *Fitted) StandardErrors(ctx context.Context) ([][]ridge.StandardErrors, error) {
	if f.Table == nil || f.Result == nil || f.Model == nil {
		return nil, specError("", "the model was not made by Fit")
	}
	return f.Model.StandardErrors(ctx, f.Table.TrainingRows(), f.Result.Solutions)
}

// Fit fits the rows of t and makes a model, like the function [Fit].
func (t *Table) Fit(ctx context.Context, opts fdridge.Options) (*Fitted, error) {
	if t.Source == nil || t.env.Job == nil {
		return nil, specError("", "the rows were not opened by Open")
	}
	out := &Fitted{Table: t}
	opts = t.Options(opts)
	var short error
	var err error
	out.Result, err = t.env.Job.Fit(ctx, t.Source, opts)
	if _, missed := errors.AsType[*ridge.NotConvergedError](err); missed {
		short, err = err, nil
	}
	if err != nil {
		return nil, t.Rows.Locate(err)
	}
	solutions := out.Result.Solutions
	if t.Classes != nil {
		out.HeldOutClasses, err = t.EvaluateClasses(ctx, solutions)
	} else {
		out.HeldOut, err = t.Evaluate(ctx, solutions, !opts.NoIntercept)
	}
	if err != nil {
		return nil, err
	}
	details, err := t.details(out.Result, opts)
	if err != nil {
		return nil, err
	}
	out.Model, err = model.New(t.Preparation, solutions, details)
	if err != nil {
		return nil, err
	}
	return out, short
}

// details returns what a model stores besides its solutions.
func (t *Table) details(found *fdridge.Result, opts fdridge.Options) (model.Details, error) {
	columns, err := t.Rows.AllColumns()
	if err != nil {
		return model.Details{}, err
	}
	out := model.Details{
		Intercept: !opts.NoIntercept,
		Tol:       cmp.Or(opts.Tol, ridge.DefaultTol),
		Passes:    t.Rows.Opened.Scans + t.Passes,
		Columns:   columns,
		Target:    strings.Join(t.Rows.asked.spec.Target, ","),
		Before:    t.P,
		Bands:     model.Bands(t.Bands),
	}
	if found.Bands != nil {
		out.Bands = model.Bands(found.Bands.Bands)
	}
	if found.Summary != nil {
		cfg := found.Summary.Config()
		out.Size = min(cfg.Size, cfg.Dim)
	}
	if t.Classes != nil {
		out.Classes = t.Classes.Labels
	}
	return out, nil
}

// modelOf returns a model of the solutions. Its coefficients are in the units of the file.
func (t *Table) modelOf(solutions []*ridge.Solution, intercept bool) (*model.Model, error) {
	return model.New(t.Preparation, solutions, model.Details{Intercept: intercept, Before: t.P})
}

// Evaluate compares the predictions of the solutions with the held-out rows of all ranks. It returns nil if no rows
// are held out. As in the model, the coefficients are in the units of the file. intercept tells whether the
// solutions have an intercept.
func (t *Table) Evaluate(
	ctx context.Context,
	solutions []*ridge.Solution,
	intercept bool,
) (*model.Evaluation, error) {
	if t.Held == nil {
		return nil, nil
	}
	if !t.HeldAsFitted() {
		m, err := t.modelOf(solutions, intercept)
		if err != nil {
			return nil, err
		}
		solutions = nil
		for i := range m.Fits {
			solutions = append(solutions, m.Fits[i].Solution())
		}
	}
	found, err := model.Evaluate(ctx, t.Held, solutions)
	if err != nil {
		return nil, unwrapPreparation(err)
	}
	if err := t.pool(ctx, found); err != nil {
		return nil, err
	}
	return found, nil
}

// pool combines found, the results for the held-out rows of this rank, with the results of the other ranks. A
// single process has all held-out rows, and found stays unchanged.
func (t *Table) pool(ctx context.Context, found interface {
	Pool(ctx context.Context, share dataset.Share, link prepare.Link) error
}) error {
	if t.env.Ranks == nil {
		return nil
	}
	return found.Pool(ctx, t.env.shareOf(t.Rows.asked.share), t.env.Ranks)
}

// Calibrate computes the absolute residuals of the held-out rows of all ranks, for each solution. From them follow
// intervals that contain a new target with the probability level. See [model.Model.Calibrate] and
// [model.Calibration.Coverages]. If no rows are held out, or if the target is a class label, the error is a
// *[SpecError]. intercept tells whether the solutions have an intercept.
func (t *Table) Calibrate(
	ctx context.Context,
	solutions []*ridge.Solution,
	intercept bool,
	level float64,
) (*model.Calibration, error) {
	switch {
	case t.Held == nil:
		return nil, specError("Holdout", "intervals need rows that take no part in the fit")
	case t.Classes != nil:
		return nil, specError("Classes", "intervals are for numbers, and a target of labels has none")
	}
	m, err := t.modelOf(solutions, intercept)
	if err != nil {
		return nil, err
	}
	found, err := m.Calibrate(ctx, t.Held, level)
	if err != nil {
		return nil, unwrapPreparation(err)
	}
	if err := t.pool(ctx, found); err != nil {
		return nil, err
	}
	return found, nil
}

// EvaluateClasses compares the classes that the solutions predict with the classes of the held-out rows of all
// ranks. It returns nil if no rows are held out.
func (t *Table) EvaluateClasses(ctx context.Context, solutions []*ridge.Solution) ([]*classes.Score, error) {
	if t.Held == nil {
		return nil, nil
	}
	scores, err := t.Classes.Evaluate(ctx, t.Held, solutions)
	if err != nil || t.env.Ranks == nil {
		return scores, err
	}
	return scores, classes.Pool(ctx, t.env.Ranks.Allreduce, scores...)
}
