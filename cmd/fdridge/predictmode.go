package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// A predictMode is a kind of predictions that fit --predict writes instead of a model.
type predictMode interface {
	// check refuses flags that do not go with the mode, before any row is read.
	check(o *fitOptions) error
	// mark sets the options of the library that the mode will use, with dummy values, for fdridge.Options.Check.
	mark(opts *fdridge.Options)
	// beforeFit sets the options of the library for the rows d.
	beforeFit(ctx context.Context, o *fitOptions, d *table.Table, opts *fdridge.Options) error
	// afterFit computes what the mode needs from f, the fit of the rows d. It returns a warning or "".
	afterFit(ctx context.Context, o *fitOptions, d *table.Table, f *report.Fit) (string, error)
}

// mode returns the mode of --predict. Without the flag it is noMode.
func (o *fitOptions) mode() predictMode {
	switch {
	case o.predict == "":
		return noMode{}
	case o.coverage.given:
		return jackknifeMode{}
	}
	return blockMode{}
}

// anyMode has the methods of a mode that does nothing.
type anyMode struct{}

func (anyMode) check(*fitOptions) error { return nil }
func (anyMode) mark(*fdridge.Options)   {}

func (anyMode) beforeFit(context.Context, *fitOptions, *table.Table, *fdridge.Options) error {
	return nil
}

func (anyMode) afterFit(context.Context, *fitOptions, *table.Table, *report.Fit) (string, error) {
	return "", nil
}

// noMode is the mode without --predict. Held-out rows give intervals for new rows.
type noMode struct{ anyMode }

func (noMode) afterFit(
	ctx context.Context,
	o *fitOptions,
	d *table.Table,
	f *report.Fit,
) (_ string, err error) {
	f.Coverage, err = o.coverage.calibrate(ctx, d, f.Found.Solutions, o.intercept)
	return "", err
}

// blockMode writes the predictions of blocks of targets, without keeping the coefficients of all targets.
type blockMode struct{ anyMode }

func (blockMode) check(o *fitOptions) error {
	switch {
	case filepath.Ext(o.out) != ".npy":
		return cli.BadInput("--predict: it needs --out FILE.npy for the predictions")
	case !o.each:
		return cli.BadInput(
			"--predict: it needs --per-target (a gamma for each target) or --coverage (intervals for new rows)")
	}
	return nil
}

func (blockMode) mark(opts *fdridge.Options) {
	opts.Block = func(int, *ridge.Solution) error { return nil }
}

func (blockMode) beforeFit(
	ctx context.Context,
	o *fitOptions,
	d *table.Table,
	opts *fdridge.Options,
) (err error) {
	opts.Block, err = o.predictBlocks(ctx, d)
	return err
}

// predictionOptions returns the options of the predictions for the rows of --predict.
func (o *fitOptions) predictionOptions() *predictOptions {
	return &predictOptions{
		modelFlags: modelFlags{out: o.out, outFormat: "auto", formats: outFormats},
		in:         o.Others(o.predict),
	}
}

// predictNew prepares the predictions of m for the rows of --predict, with the intervals by. They are written when the
// fit is delivered.
func (o *fitOptions) predictNew(ctx context.Context, m *model.Model, by model.Intervals) error {
	of, err := m.Predictor(by)
	if err != nil {
		return err
	}
	in := o.predictionOptions()
	if err := in.in.Check(); err != nil {
		return fmt.Errorf("--predict: %w", err)
	}
	rows, err := in.open(ctx, m)
	if err != nil {
		return fmt.Errorf("--predict: %w", err)
	}
	form, err := in.predictionForm()
	if err != nil {
		return err
	}
	of.Encode = prepare.EncodeOptions{Cells: rows.Opened.Cells, Tally: new(prepare.Tally)}
	o.predicted = &predictionRun{of: of, form: form, gamma: m.Fits[0].Gamma}
	o.writePredictions = func(w io.Writer) error {
		return nameData(o.predict, rows.Locate(o.predicted.run(ctx, rows.Source, w)))
	}
	return nil
}
