package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// holdoutFlags say which rows are held out of the fit, to score it by.
type holdoutFlags struct{ share float64 }

func (o *holdoutFlags) register(f *pflag.FlagSet) {
	f.Float64Var(&o.share, "holdout", 0, "hold this share of the rows out of the fit, by a hash of their numbers, and report R² and RMSE on them, by a pass of its own")
}

func (o *holdoutFlags) holdout() dataset.Holdout { return dataset.Holdout{Share: o.share} }

func (o *holdoutFlags) check() error {
	if o.holdout().Check() != nil {
		return badInput("--holdout: %v, must be at least 0 and below 1", o.share)
	}
	return nil
}

// flag names the flag where it is given, "" where it is not.
func (o *holdoutFlags) flag() string {
	if o.share > 0 {
		return "holdout"
	}
	return ""
}

// checkCells refuses what --missing, --onehot and --holdout cannot be had with.
func (o *fitOptions) checkCells() error {
	if o.held.share > 0 && !o.part.share.Whole() {
		return badInput("--holdout: rows are held out by their numbers, and those of --part are not known by these; say which rows by --rows")
	}
	return o.checkKept(&o.rows)
}

// evaluate scores solutions by the rows that were held out, nil where none were.
func (d *data) evaluate(ctx context.Context, run session, solutions []*ridge.Solution, bar *progress) (*report.HeldOut, error) {
	if d.held == nil {
		return nil, nil
	}
	found, err := model.Evaluate(ctx, d.held, solutions)
	if err != nil {
		return nil, predictionError(err)
	}
	if run.ranks != nil {
		if err := found.Pool(ctx, run.share(), run.ranks); err != nil {
			return nil, err
		}
	}
	return &report.HeldOut{Share: d.holdout.Share, Evaluation: found}, nil
}
