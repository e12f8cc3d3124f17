package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/table"
)

// solveOptions holds the flags of the command solve.
type solveOptions struct {
	solveFlags
	input.PenaltyFlags
	in   input.RowFlags
	runs runFlags
}

func solveCommand() *cobra.Command {
	o := &solveOptions{solveFlags: newSolveFlags(), in: input.NewRowFlags()}
	c := &cobra.Command{
		Use:   "solve SKETCH [--gamma G[,G…]|auto]",
		Short: "Fit from a sketch; with --data, refine by passes over the rows",
		Long:  "Fit from a sketch. With --data, refine the solution by passes over the rows." + exitCodes,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.BadInput("solve needs one sketch, not %d; merge makes one of several", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			penalties := o.Penalties()
			err := cli.FirstError(
				o.check(),
				cli.Distinct(slices.Concat(o.in.Files(), penalties.Files(), args), o.outputs()...),
			)
			if err != nil {
				return err
			}
			o.command = invocation(cmd, args)
			err = o.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
			return nameSketch(nameData(args[0], err))
		},
	}
	o.in.Unpiped = "refining needs several passes: write the rows to a file, or leave out --data for the one-shot solution"
	o.solveFlags.register(c.Flags(), "auto, one-shot, cg, galerkin or newton", false)
	f := c.Flags()
	f.Var(&o.in.Data, "data", "all rows of the sketch, to refine the solution by passes over them")
	o.in.RegisterText(f)
	f.Var(&o.in.Target, "target", "file of the targets, if they have one (default: column of the sketch)")
	f.Var(&o.in.Weights, "weights", "sample weights: a column, or a file")
	o.in.RegisterRows(f)
	o.in.RegisterSamples(f)
	o.PenaltyFlags.Register(f)
	o.runs.register(c)
	return c
}

func (o *solveOptions) check() error {
	if err := cli.FirstError(
		o.runs.check(), o.solveFlags.check(false), input.NameFields(o.Penalties().CheckPenalties()),
	); err != nil {
		return err
	}
	opts := o.options()
	penalties := o.Penalties()
	opts.Bands = penalties.NamedBands()
	if err := nameOptions(opts.Check()); err != nil {
		return err
	}
	switch {
	case o.criterion().Needs().Folds:
		return cli.BadInput(
			"--select: a sketch has no rows for cross-validation; use %s",
			strings.Join(criteriaFor(false), " or "),
		)
	case o.criterion().Needs().Pass && !o.in.Data.Given:
		return cli.BadInput("--select: %s needs the rows, --data", o.criterion())
	case o.in.Data.Given && o.method == ridge.OneShot:
		return cli.BadInput("--data: --method one-shot reads no rows")
	case !o.in.Data.Given && o.method != ridge.OneShot && o.method != ridge.Auto:
		return cli.BadInput("--method: %s needs the rows, --data", o.method)
	case o.in.Data.Given:
		return cli.FirstError(o.in.Check(), o.in.CheckSamples())
	case o.strict:
		return errNoTolerance
	}
	for _, name := range []string{"format", "delimiter", "header", "target", "weights", "rows"} {
		if o.runs.cmd.Flags().Changed(name) {
			return cli.BadInput("--%s: it needs --data", name)
		}
	}
	return nil
}

func (o *solveOptions) run(ctx context.Context, name string, stdout, stderr io.Writer) error {
	be, err := o.runs.backend()
	if err != nil {
		return err
	}
	bar := cli.NewProgress(stderr, o.runs.logFormat)
	defer bar.Finish()
	ctx = bar.Watch(ctx)
	start := time.Now()
	sum, d, err := load(name, be)
	if err != nil {
		return err
	}
	if err := d.checkComplete(name); err != nil {
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
	opts.Penalty = after.P
	opts.Bands = after.ToChoose()
	f.Data = report.Data{
		Name:        name,
		Format:      d.Format,
		Nonzeros:    d.NNZ,
		Preparation: d.Preparation,
		Before:      d.Penalty,
		Bands:       after.Bands,
	}
	var opened *table.Rows
	var src dataset.Source
	if o.in.Data.Given {
		opened, err = o.reopen(ctx, d, cfg)
		if err != nil {
			return err
		}
		rows := opened.Source
		if d.HeldOut > 0 {
			s := o.in.Spec()
			rows, _, err = (dataset.Holdout{Share: d.HeldOut, First: s.FirstRow()}).Split(rows)
			if err != nil {
				return err
			}
		}
		src, err = table.Prepare(&d.Preparation, rows, be, prepare.EncodeOptions{Cells: opened.Opened.Cells})
		err = input.NameFields(err)
		if err != nil {
			return err
		}
		opts.Progress = bar.Fit(src, sum.Rows)
		o.warnTolerance(bar, stderr)
	}
	if sum.Weight() != float64(sum.Rows()) &&
		opened != nil &&
		!o.in.Weights.Given {
		return cli.BadInput(
			"--weights: the sketch in %s has weighted rows (%d rows, total weight %g): give their sample weights, "+
				"as for the sketch",
			name,
			sum.Rows(),
			sum.Weight(),
		)
	}
	opts.Rounding = d.Preparation.Reversible().Rounding()
	found, err := fdridge.FitSummary(ctx, src, sum, opts)
	if err := o.end(f, traces, found, err); err != nil {
		if d.HeldOut == 0 { // otherwise the number of the row does not count held-out rows
			err = opened.Locate(err)
		}
		return nameData(o.in.Data.Value, err)
	}
	if opened != nil {
		f.Cost.PreparingReads, f.Cost.Reads = opened.Opened.Scans, opened.Opened.Passes()
	}
	f.Cost.Total = time.Since(start)
	bar.Finish()
	return o.deliver(f, d.Columns, d.Target, stdout)
}

// checkFaded returns an error if older rows of the sketch have a smaller weight (--half-life) and a flag needs
// equal weights. Such flags are --data and --gamma auto.
func (o *solveOptions) checkFaded(name string, d *description) error {
	switch {
	case !d.Fades:
		return nil
	case o.in.Data.Given:
		return cli.BadInput(
			"--data: older rows of %s have a decreased weight, which the rows of a file do not have: leave out --data",
			name,
		)
	case o.gamma.Value == "auto":
		return cli.BadInput(
			"--gamma: GCV counts rows regardless of their weight, and older rows of %s weigh less: give a number",
			name,
		)
	}
	return nil
}

// reopen opens the rows of --data and prepares them like the rows of the sketch. It uses the target of the sketch
// unless --target is given.
func (o *solveOptions) reopen(
	ctx context.Context,
	d *description,
	cfg ridge.SummaryConfig,
) (*table.Rows, error) {
	like := table.Like{Preparation: &d.Preparation, Owner: "sketch", Targets: cfg.Targets}
	like.OwnTarget = d.Target != "" && !o.in.Target.Given
	return o.in.OpenLike(ctx, like, d.Target)
}

// penalise reads the penalties of --penalty and --bands, which solve applies to the columns of an existing sketch.
func (o *solveOptions) penalise(ctx context.Context, d *description) (table.Penalised, error) {
	flag := "--penalty"
	if o.Bands.Given {
		flag = "--bands"
	}
	if d.Preparation.Expansion() != nil && (o.Penalty != "" || o.Bands.Given) {
		return table.Penalised{}, cli.BadInput(
			"%s: penalties apply to input columns, and the sketch has computed features",
			flag,
		)
	}
	s, text := o.Penalties(), o.in.Spec()
	s.Delimiter = text.Delimiter
	s.Header = text.Header
	s.Decimal = text.Decimal
	s.MissingMarks = text.MissingMarks
	s.SkipRows = text.SkipRows
	s.Comment = text.Comment
	s.Escape = text.Escape
	s.Transposed = text.Transposed
	found, err := s.Penalties(ctx, &d.Preparation, nil, true)
	return found, input.NameFields(err)
}
