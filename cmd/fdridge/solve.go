package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/ridge"
)

// solveOptions are the flags of solve.
type solveOptions struct {
	solveFlags
	in   inputFlags
	runs runFlags
}

func solveCommand() *cobra.Command {
	o := &solveOptions{solveFlags: newSolveFlags(), in: newInputFlags()}
	c := &cobra.Command{
		Use:   "solve SKETCH --gamma G[,G…]|auto",
		Short: "Fit from a sketch; with --data refine by passes over its rows",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badInput("solve needs one sketch, %d are named; merge makes one of several", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := firstError(o.check(), distinct(append(o.in.files(), args...), o.outputs()...)); err != nil {
				return err
			}
			o.command = invocation(cmd, args)
			return about(args[0], o.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	o.solveFlags.register(c.Flags(), "auto", "auto, one-shot, cg, galerkin (the fewest passes), chebyshev or newton; auto is cg or galerkin with --data, otherwise one-shot")
	f := c.Flags()
	f.Var(&o.in.data, "data", "all the rows of the sketch, in any order: they are read again to refine the solution")
	f.StringVar(&o.in.format, "format", "auto", "as for fit")
	f.StringVar(&o.in.delimiter, "delimiter", "", "as for fit")
	f.StringVar(&o.in.header, "header", "auto", "as for fit")
	f.Var(&o.in.target, "target", "the file of the targets, where they have one of their own (default: the column that the sketch names)")
	f.Var(&o.in.weights, "weights", "as for fit")
	f.StringVar(&o.in.rows, "rows", "", "as for fit")
	o.runs.register(c)
	return c
}

func (o *solveOptions) check() error {
	if err := firstError(o.runs.check(), o.solveFlags.check(methodNames[:len(methodNames)-1]...)); err != nil {
		return err
	}
	switch {
	case o.in.data.set && o.method == "one-shot":
		return badInput("--data: --method one-shot reads no rows")
	case !o.in.data.set && o.method != "one-shot" && o.method != "auto":
		return badInput("--method: %s needs the rows, --data", o.method)
	case o.in.data.set:
		return o.in.checkSource()
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
	start := time.Now()
	sum, d, err := load(name, be)
	if err != nil {
		return err
	}
	cfg := sum.Config()
	r := &result{
		o: &o.solveFlags, backend: be, prep: d.Preparation, intercept: cfg.Intercept, data: name, format: d.Format, target: d.Target, columns: d.Columns, nnz: d.NNZ,
		sum: sum,
	}
	var opened *data
	if o.in.data.set {
		if opened, err = o.reopen(d, cfg); err != nil {
			return err
		}
		if r.source, err = prepare(&d.Preparation, opened.counted, be); err != nil {
			return err
		}
	}
	found, err := ridge.FitSummary(ctx, r.source, sum, r.options(bar))
	if err := r.take(found, err); err != nil {
		return about(o.in.data.value, err)
	}
	r.reason = "" // with --data or without is all there is to it
	if opened != nil {
		r.scans, r.reads = opened.opened.Scans, opened.opened.Passes()
	}
	r.total = time.Since(start)
	bar.finish()
	return r.deliver(stdout)
}

// reopen opens the rows of a sketch as they were opened for it.
func (o *solveOptions) reopen(d *description, cfg ridge.SummaryConfig) (*data, error) {
	in := o.in
	in.targets = cfg.Targets
	if d.Target != "" && !in.target.set {
		in.target.value, in.target.set, in.told = d.Target, true, true
	}
	opened, src, err := in.again(&d.Preparation, "sketch", 0)
	if err != nil {
		return nil, err
	}
	return &data{opened: opened, counted: &counted{Source: src}}, nil
}
