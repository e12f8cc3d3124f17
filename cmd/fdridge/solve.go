package main

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/ridge"
)

// solveOptions are the flags of solve.
type solveOptions struct {
	solveFlags
	penaltyFlags
	in   rowFlags
	runs runFlags
}

func solveCommand() *cobra.Command {
	o := &solveOptions{solveFlags: newSolveFlags(), in: newRowFlags()}
	c := &cobra.Command{
		Use:   "solve SKETCH --gamma G[,G…]|auto",
		Short: "Fit from a sketch; with --data refine by passes over its rows",
		Long:  "Fit from a sketch; with --data refine by passes over its rows." + exitCodes,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badInput("solve needs one sketch, %d are named; merge makes one of several", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := firstError(o.check(), distinct(slices.Concat(o.in.files(), o.penaltyFlags.files(), args), o.outputs()...)); err != nil {
				return err
			}
			o.command = invocation(cmd, args)
			return nameSketch(nameData(args[0], o.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())))
		},
	}
	o.in.unpiped = "the rows refine a solution pass by pass: write them to a file, or leave --data out for the one-shot solution"
	o.solveFlags.register(c.Flags(), "auto", "auto, one-shot, cg, galerkin (the fewest passes) or newton; auto is cg or galerkin with --data, otherwise one-shot", "")
	f := c.Flags()
	f.Var(&o.in.data, "data", "all the rows of the sketch, in any order: they are read again to refine the solution")
	f.StringVar(&o.in.format, "format", "auto", "as for fit")
	f.StringVar(&o.in.delimiter, "delimiter", "", "as for fit")
	f.StringVar(&o.in.header, "header", "auto", "as for fit")
	f.Var(&o.in.target, "target", "the file of the targets, where they have one of their own (default: the column that the sketch names)")
	f.Var(&o.in.weights, "weights", "as for fit")
	f.StringVar(&o.in.rows, "rows", "", "as for fit")
	o.in.registerTurned(f)
	o.penaltyFlags.register(f, "of the sketch, whether or not it was made with another: they multiply")
	o.runs.register(c)
	return c
}

func (o *solveOptions) check() error {
	if err := firstError(o.runs.check(), o.solveFlags.check(false), o.penaltyFlags.check(false)); err != nil {
		return err
	}
	opts := o.options()
	opts.Bands = o.given()
	if err := nameOptions(opts.Check()); err != nil {
		return err
	}
	switch {
	case o.selectBy == "cv":
		return badInput("--select: a sketch has no rows to deal into folds; say gcv or loo")
	case o.selectBy == "loo" && !o.in.data.set:
		return badInput("--select: loo needs the rows, --data")
	case o.in.data.set && o.method == ridge.OneShot:
		return badInput("--data: --method one-shot reads no rows")
	case !o.in.data.set && o.method != ridge.OneShot && o.method != ridge.Auto:
		return badInput("--method: %s needs the rows, --data", o.method)
	case o.in.data.set:
		return firstError(o.in.check(), o.in.checkTurned())
	case o.strict:
		return errNoTolerance
	}
	for _, name := range []string{"format", "delimiter", "header", "target", "weights", "rows"} {
		if o.runs.cmd.Flags().Changed(name) {
			return badInput("--%s: it says how to read rows, and there is no --data", name)
		}
	}
	return nil
}

func (o *solveOptions) run(ctx context.Context, name string, stdout, stderr io.Writer) error {
	be, err := o.runs.backend()
	if err != nil {
		return err
	}
	bar := newProgress(stderr, o.runs.logFormat)
	defer bar.finish()
	ctx = bar.watch(ctx)
	start := time.Now()
	sum, d, err := load(name, be)
	if err != nil {
		return err
	}
	if err := d.refuseIncomplete(name); err != nil {
		return err
	}
	if err := o.checkFaded(name, d); err != nil {
		return err
	}
	cfg := sum.Config()
	f, traces, opts := o.begin(be, cfg.Intercept, o.options())
	after, err := o.penalise(ctx, d)
	if err != nil {
		return err
	}
	opts.Penalty, opts.Bands = after.p, after.bands
	if after.bands != nil {
		opts.Penalty = nil
	}
	f.Data = report.Data{Name: name, Format: d.Format, Nonzeros: d.NNZ, Preparation: d.Preparation, Before: d.Penalty, Bands: after.bands}
	var opened *file.Opened
	var src dataset.Source
	if o.in.data.set {
		var rows dataset.Source
		if opened, rows, err = o.reopen(d, cfg); err != nil {
			return err
		}
		if d.HeldOut > 0 {
			if rows, _, err = (dataset.Holdout{Share: d.HeldOut, First: o.firstRow()}).Split(rows); err != nil {
				return err
			}
		}
		if src, err = prepareEncoded(&d.Preparation, rows, be, dataset.EncodeOptions{Cells: opened.Cells}); err != nil {
			return err
		}
		opts.Progress = bar.fit(src, sum.Rows)
		o.doubt(bar, stderr)
	}
	if sum.Weight() != float64(sum.Rows()) && opened != nil && !o.in.weights.set {
		return badInput("--weights: the sketch in %s is of weighted rows, %d that weigh %g: name their weights, as when it was made", name, sum.Rows(), sum.Weight())
	}
	found, err := fdridge.FitSummary(ctx, src, sum, opts)
	if err := o.end(f, traces, found, err); err != nil {
		return nameData(o.in.data.value, err)
	}
	if opened != nil {
		f.Cost.PreparingReads, f.Cost.Reads = opened.Scans, opened.Passes()
	}
	f.Cost.Total = time.Since(start)
	bar.finish()
	return o.deliver(f, d.Columns, d.Target, stdout)
}

// checkFaded refuses what counts rows, where they have faded.
func (o *solveOptions) checkFaded(name string, d *description) error {
	switch {
	case !d.Fades:
		return nil
	case o.in.data.set:
		return badInput("--data: the rows of %s have faded, and those of files have not: leave it out", name)
	case o.gamma.value == "auto":
		return badInput("--gamma: GCV counts rows, whatever they weigh, and those of %s have faded: say a gamma", name)
	}
	return nil
}

// reopen opens the rows of a sketch as they were opened for it.
func (o *solveOptions) reopen(d *description, cfg ridge.SummaryConfig) (*file.Opened, dataset.Source, error) {
	in, ownTarget := o.in, false
	in.targets = cfg.Targets
	if d.Target != "" && !in.target.set {
		in.target.value, in.target.set, ownTarget = d.Target, true, true
	}
	return in.openLike(&d.Preparation, "sketch", 0, ownTarget)
}

// firstRow is the number of the first row that is read, from 0.
func (o *solveOptions) firstRow() int64 {
	if o.in.rows == "" {
		return 0
	}
	lo, _, err := parseRows(o.in.rows)
	if err != nil { // which check has refused
		return 0
	}
	return lo
}

// penalise reads what is put on the sketch.
func (o *solveOptions) penalise(ctx context.Context, d *description) (penalised, error) {
	flag := "--penalty"
	if o.bands != "" {
		flag = "--bands"
	}
	if d.Preparation.Expansion() != nil && o.penalty+o.bands != "" {
		return penalised{}, badInput("%s: penalties are of input columns, and the sketch is of features that were computed of them", flag)
	}
	return o.penaltyFlags.read(ctx, nil, &d.Preparation)
}
