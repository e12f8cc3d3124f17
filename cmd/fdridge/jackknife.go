package main

import (
	"context"
	"errors"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// jackknifeMode writes the predictions of --predict with jackknife+ intervals.
type jackknifeMode struct{ anyMode }

func (jackknifeMode) check(o *fitOptions) error {
	switch {
	case o.each:
		return cli.BadInput("--coverage: with --per-target each target has a gamma of its own; fit one target")
	case !o.auto && len(o.gammas) != 1:
		return cli.BadInput("--coverage: with --predict it needs one --gamma")
	case o.out == "":
		return cli.BadInput("--predict: it needs --out FILE for the predictions")
	}
	_, err := o.predictionOptions().predictionForm()
	return err
}

// afterFit makes a pass over the rows of the fit, and prepares predictions with jackknife+ intervals. It
// returns a warning if the guarantee of the intervals does not hold.
func (jackknifeMode) afterFit(
	ctx context.Context,
	o *fitOptions,
	d *table.Table,
	f *report.Fit,
) (string, error) {
	details := model.Details{Intercept: o.intercept, Before: d.P}
	m, err := model.New(d.Preparation, f.Found.Solutions, details)
	if err != nil {
		return "", err
	}
	train := d.TrainingRows()
	if dataset.Once(train) {
		return "", cli.BadInput(
			"--coverage: with --predict it reads the rows again; --cache DIR keeps them, or use --holdout")
	}
	jackknife, err := m.Jackknife(ctx, train, o.coverage.level)
	if e, ok := errors.AsType[*model.CoverageRowsError](err); ok {
		return "", cli.BadInput(
			"--coverage: intervals of coverage %v need at least %d rows, and the fit has %d", e.Level, e.Needed, e.Rows)
	}
	if errors.Is(err, ridge.ErrIllConditioned) {
		return "", cli.BadInput("--coverage: %w", err)
	}
	if err != nil {
		return "", err
	}
	if err := o.predictNew(ctx, m, model.JackknifeIntervals{Jackknife: jackknife}); err != nil {
		return "", err
	}
	if o.auto || d.ToChoose() != nil {
		const text = "jackknife+ guarantees no probability if gamma is chosen from the same rows"
		return text + "; give --gamma, or use --holdout", nil
	}
	return "", nil
}
