package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/ridge"
)

// fitOptions are the flags of fit.
type fitOptions struct {
	inputFlags
	sketchFlags
	solveFlags
	runs runFlags
	save string
}

var methodNames = []string{"auto", "one-shot", "cg", "chebyshev", "newton", "exact"}

func fitCommand() *cobra.Command {
	o := &fitOptions{inputFlags: newInputFlags(), solveFlags: newSolveFlags()}
	c := &cobra.Command{
		Use:   "fit --data FILE[,FILE…] --gamma G[,G…]|auto",
		Short: "Fit ridge regression and certify its error",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return about(o.data.value, o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	o.inputFlags.register(c.Flags())
	o.sketchFlags.register(c.Flags())
	o.solveFlags.register(c.Flags(), "auto", "auto, one-shot, cg, chebyshev, newton or exact")
	c.Flags().StringVar(&o.save, "save-sketch", "", "keep the sketch here, for solve, merge and predict --interval")
	o.runs.register(c)
	return c
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return badInput("unexpected argument %q", args[0])
	}
	return nil
}

// check validates all flags before any data are read.
func (o *fitOptions) check() error {
	err := firstError(o.inputFlags.check(), o.sketchFlags.check(), o.runs.check(), o.solveFlags.check(methodNames...), checkOutput("save-sketch", o.save))
	if err == nil && o.save != "" && o.method == "exact" {
		return badInput("--save-sketch: --method exact makes no sketch")
	}
	return err
}

func (o *fitOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	be, err := o.runs.backend()
	if err != nil {
		return err
	}
	bar := newProgress(stderr, o.runs.logFormat)
	defer bar.finish()
	start := time.Now()
	d, err := openData(ctx, &o.inputFlags, be, bar)
	if err != nil {
		return err
	}
	r := &result{o: &o.solveFlags, backend: be, source: d.source, prep: d.prep, intercept: o.intercept, format: d.opened.Format, target: o.target.value}
	if r.method, r.reason = o.chooseMethod(d); r.method == "exact" {
		err = r.solveExact(ctx, bar)
	} else {
		err = o.sketchAndSolve(ctx, r, d, bar)
	}
	if err != nil {
		return err
	}
	if r.columns, err = d.columns(&o.inputFlags); err != nil {
		return err
	}
	r.nnz, r.scans, r.reads = d.counted.nnz, d.opened.Scans+d.scans, d.opened.Passes()
	r.total = time.Since(start)
	bar.finish()
	return r.deliver(stdout)
}

// sketchAndSolve makes a summary, keeps it where asked, and solves.
func (o *fitOptions) sketchAndSolve(ctx context.Context, r *result, d *data, bar *progress) error {
	begin := time.Now()
	sum, err := ridge.Summarize(ctx, r.source, o.config(r.backend), bar.rows("sketching", r.source))
	if err != nil {
		return err
	}
	r.sketched = time.Since(begin)
	if o.save != "" {
		described, err := d.describe(&o.inputFlags)
		if err != nil {
			return err
		}
		if err := described.save(o.save, sum); err != nil {
			return fmt.Errorf("--save-sketch: %w", err)
		}
	}
	return r.solve(ctx, sum, bar)
}
