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

// A predictMode describes what fit does in addition to the fit. With --predict it writes predictions instead of a
// model.
type predictMode interface {
	// check returns an error if a flag cannot be combined with the mode. It is called before any row is read.
	check(o *fitOptions) error
	// mark sets the fields of opts that the mode will use to dummy values. The method fdridge.Options.Check then
	// takes them into account.
	mark(opts *fdridge.Options)
	// beforeFit sets the fields of opts that the mode needs for the fit of the rows d.
	beforeFit(ctx context.Context, o *fitOptions, d *table.Table, opts *fdridge.Options) error
	// afterFit uses the fit f of the rows d to compute what the mode writes. It returns a warning or "".
	afterFit(ctx context.Context, o *fitOptions, d *table.Table, f *report.Fit) (string, error)
}

// mode returns the mode that the flags --predict and --coverage select. It returns noMode if --predict is not
// given.
func (o *fitOptions) mode() predictMode {
	switch {
	case o.predict == "":
		return noMode{}
	case o.coverage.given:
		return jackknifeMode{}
	}
	return blockMode{}
}

// anyMode does nothing in each method. Other modes embed it and replace some of its methods.
type anyMode struct{}

func (anyMode) check(*fitOptions) error { return nil }
func (anyMode) mark(*fdridge.Options)   {}

func (anyMode) beforeFit(context.Context, *fitOptions, *table.Table, *fdridge.Options) error {
	return nil
}

func (anyMode) afterFit(context.Context, *fitOptions, *table.Table, *report.Fit) (string, error) {
	return "", nil
}

// noMode is the mode if --predict is not given. With --coverage, it computes intervals for new observations from
// the held-out rows.
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

// blockMode writes predictions for one block of targets after the other. Therefore the coefficients for all targets
// need not be kept.
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

// predictionOptions returns the options with which the rows of --predict are read and predicted.
func (o *fitOptions) predictionOptions() *predictOptions {
	return &predictOptions{
		modelFlags: modelFlags{out: o.out, outFormat: "auto", formats: outFormats},
		in:         o.Others(o.predict),
	}
}

// predictNew prepares the predictions of m for the rows of --predict, with intervals of the kind by. The function
// o.writePredictions, which it sets, computes and writes them later.
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
