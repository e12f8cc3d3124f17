package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// standardErrorFlags holds --standard-errors.
type standardErrorFlags struct{ wanted bool }

func (o *standardErrorFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&o.wanted, "standard-errors", false, "report standard errors of the coefficients")
}

// check refuses fits whose coefficients have no standard errors.
func (o *standardErrorFlags) check(isOfClasses, isPredicted bool) error {
	switch {
	case !o.wanted:
		return nil
	case isOfClasses:
		return cli.BadInput("--standard-errors: they need noise of one variance, and --classes fits labels of ±1")
	case isPredicted:
		return cli.BadInput("--standard-errors: --predict keeps no coefficients; leave out one of the two")
	}
	return nil
}

// compute returns the standard errors for all solutions and targets, in the units of the file. If there are at most
// wholeDim features, a pass over the rows computes them. Otherwise they come from the sketch of the fit, which
// gives none for intercepts and for columns without penalty. If some are not available, missing tells the reason.
func (o *standardErrorFlags) compute(
	ctx context.Context,
	d *table.Table,
	env table.Env,
	f *report.Fit,
	intercept bool,
) (out [][]ridge.StandardErrors, missing string, err error) {
	if !o.wanted {
		return nil, "", nil
	}
	why := ""
	train := d.TrainingRows()
	switch _, dim, _ := train.Dims(); {
	case env.Ranks != nil:
		why = "by the rows of --mpi; use one process"
	case dataset.Once(train):
		why = "from rows that can be read only once; --cache DIR keeps them"
	case dim > wholeDim:
		why = fmt.Sprintf("with more than %d features; --method cg gives brackets for columns with a penalty", wholeDim)
	default:
		out, err = fromRows(ctx, d, f.Found.Solutions, intercept)
		if !errors.Is(err, ridge.ErrIllConditioned) {
			return out, "", err
		}
		why = "because AᵀA + gamma·P is too close to a singular matrix; use a larger gamma, or scale the columns"
	}
	zero := slices.ContainsFunc(f.Found.Solutions, func(s *ridge.Solution) bool {
		return s.Gamma == 0
	})
	sum := f.Found.Summary
	if sum != nil && !zero && len(d.Options(fdridge.Options{}).Unpenalized) == 0 {
		out, err = fromSummary(d, sum, f.Found.Solutions)
		if err != nil || !intercept {
			return out, "", err
		}
		return out, "the standard error of the intercept is not available " + why, nil
	}
	return nil, "standard errors are not available " + why, nil
}

// fromRows computes the standard errors by a pass over the rows of the fit.
func fromRows(
	ctx context.Context, d *table.Table, fits []*ridge.Solution, intercept bool,
) ([][]ridge.StandardErrors, error) {
	m, err := model.New(d.Preparation, fits, model.Details{Intercept: intercept, Before: d.P})
	if err != nil {
		return nil, err
	}
	return m.StandardErrors(ctx, d.TrainingRows(), fits)
}

// fromSummary computes the standard errors of the coefficients from the summary of the fit, which contains the
// sketch. It makes no pass over the rows.
func fromSummary(
	d *table.Table,
	sum *ridge.Summary,
	fits []*ridge.Solution,
) (out [][]ridge.StandardErrors, err error) {
	for _, s := range fits {
		of := sum
		if s.Penalty != nil && sum.Penalty() == nil {
			of, err = sum.Penalize(s.Penalty)
			if err != nil {
				return nil, err
			}
		}
		all, err := of.StandardErrors(s)
		if err != nil {
			return nil, err
		}
		if scaling := d.Preparation.Reversible(); scaling != nil {
			for j := range all {
				all[j].Unscale(scaling.Scale)
			}
		}
		out = append(out, all)
	}
	return out, nil
}
