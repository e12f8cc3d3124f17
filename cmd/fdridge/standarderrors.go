package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// standardErrorFlags holds --standard-errors.
type standardErrorFlags struct{ wanted bool }

func (o *standardErrorFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&o.wanted, "standard-errors", false, "report standard errors of the coefficients")
}

// check refuses fits whose coefficients have no standard errors.
func (o *standardErrorFlags) check(isOfClasses, isUnpenalized, isPredicted bool) error {
	switch {
	case !o.wanted:
		return nil
	case isOfClasses:
		return cli.BadInput("--standard-errors: they need noise of one variance, and --classes fits labels of ±1")
	case isUnpenalized:
		return cli.BadInput(
			"--standard-errors: with --unpenalized they are not available; give these columns a small penalty by --penalty")
	case isPredicted:
		return cli.BadInput("--standard-errors: --predict keeps no coefficients; leave out one of the two")
	}
	return nil
}

// compute returns the standard errors of all solutions, for coefficients in the units of the file. They come from the
// summary of the fit if it holds AᵀA. Otherwise one more pass computes AᵀA, or the sketch of the fit gives
// brackets. If they are not available, missing tells the reason.
func (o *standardErrorFlags) compute(
	ctx context.Context,
	d *table.Table,
	env table.Env,
	f *report.Fit,
	config ridge.SummaryConfig,
) (out [][]ridge.StandardErrors, missing string, err error) {
	if !o.wanted {
		return nil, "", nil
	}
	sum := f.Found.Summary
	if slices.ContainsFunc(f.Found.Solutions, func(s *ridge.Solution) bool { return s.Gamma == 0 }) {
		return nil, "standard errors are not available at gamma = 0; use a positive gamma", nil
	}
	if sum == nil || !sum.HoldsGram() {
		_, dim, _ := d.Source.Dims()
		switch {
		case dim <= wholeDim && !dataset.Once(d.Source) && env.Ranks == nil:
			config.Store = fd.StoreScatter
			sum, err = ridge.Summarize(ctx, d.Source, config, nil)
			if err != nil {
				return nil, "", err
			}
			sum.WithErrors(ridge.RowErrors{Rounding: d.Options(fdridge.Options{}).Rounding})
		case sum != nil:
		case dim > wholeDim:
			return nil, fmt.Sprintf(
				"standard errors are not available from a direct method with more than %d features; --method cg gives brackets",
				wholeDim), nil
		default:
			return nil, "standard errors are not available: the rows can be read only once; --cache DIR keeps them", nil
		}
	}
	for _, s := range f.Found.Solutions {
		of := sum
		if s.Penalty != nil && sum.Penalty() == nil {
			of, err = sum.Penalize(s.Penalty)
			if err != nil {
				return nil, "", err
			}
		}
		all, err := of.StandardErrors(s)
		if err != nil {
			return nil, "", err
		}
		if d.Preparation.Scaling != nil && d.Preparation.Expansion() == nil {
			for j := range all {
				unscale(all[j].Sampling, d.Preparation.Scaling.Scale)
				unscale(all[j].Posterior, d.Preparation.Scaling.Scale)
			}
		}
		out = append(out, all)
	}
	return out, "", nil
}

// unscale divides brackets by the scales of their columns, rounding outwards.
func unscale(v []ridge.Interval, scale []float64) {
	for i := range v {
		v[i] = ridge.Interval{Lo: v[i].Lo / scale[i] * (1 - 0x1p-51), Hi: v[i].Hi / scale[i] * (1 + 0x1p-51)}
	}
}
