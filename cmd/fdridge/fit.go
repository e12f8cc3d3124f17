package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
)

// fitOptions are the flags of fit.
type fitOptions struct {
	inputFlags
	sketchFlags
	solveFlags
	runs runFlags
	kept checkpointFlags
	save string
	cv   int
	mpi  bool
}

var methodNames = []string{"auto", "one-shot", "cg", "galerkin", "chebyshev", "newton", "exact"}

func fitCommand(ranks joiner) *cobra.Command {
	o := &fitOptions{inputFlags: newInputFlags(), solveFlags: newSolveFlags()}
	c := &cobra.Command{
		Use:   "fit --data FILE[,FILE…] --gamma G[,G…]|auto",
		Short: "Fit ridge regression and certify its error",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			o.command = invocation(cmd, args)
			if o.mpi {
				return o.together(cmd.Context(), ranks, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return about(o.data.value, o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	o.inputFlags.register(c.Flags())
	o.sketchFlags.register(c.Flags())
	o.solveFlags.register(c.Flags(), "auto", "auto, one-shot, cg, galerkin (the fewest passes), chebyshev, newton or exact")
	c.Flags().StringVar(&o.save, "save-sketch", "", "keep the sketch here, for solve, merge and predict --interval")
	c.Flags().IntVar(&o.cv, "cv", 0, "with --gamma auto: choose by cross-validation with so many folds, in the same pass, in place of GCV")
	c.Flags().BoolVar(&o.mpi, "mpi", false, "be one of the ranks that mpirun or srun has started: each reads its share of the files (whole ones where there are enough, else rows of npy, npz and Parquet or bytes of csv and svmlight); rank 0 reports; needs a build with -tags mpi")
	o.kept.register(c.Flags())
	o.runs.register(c)
	return c
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return badInput("unexpected argument %q", excerpt.Of(args[0]))
	}
	return nil
}

// check validates all flags before any data are read.
func (o *fitOptions) check() error {
	err := firstError(o.inputFlags.check(), o.sketchFlags.check(), o.runs.check(), o.solveFlags.check(methodNames...), checkOutput("save-sketch", o.save), o.kept.check())
	if err == nil && !o.mpi {
		err = alone()
	}
	switch {
	case err != nil:
		return err
	case o.cv != 0 && o.cv < 2:
		return badInput("--cv: %d folds, there must be two", o.cv)
	case o.cv != 0 && !o.auto:
		return badInput("--cv: it chooses gamma, say --gamma auto")
	case o.error > 0 && o.auto:
		return badInput("--size: %v is the error at a gamma, and --gamma auto has yet to be chosen", o.error)
	case o.error > 0 && o.method == "exact":
		return badInput("--size: --method exact makes no sketch")
	}
	switch {
	case o.mpi && o.method == "exact":
		return badInput("--mpi: --method exact solves on one machine alone; say cg, galerkin, chebyshev, newton or one-shot")
	case o.mpi && o.cv != 0:
		return badInput("--mpi: --cv keeps a sketch of each fold on one machine alone; choose gamma by --gamma auto alone")
	case o.kept.name != "" && o.method == "exact":
		return badInput("--checkpoint: --method exact keeps none, it reads the rows once")
	case o.kept.name != "" && o.cv != 0:
		return badInput("--checkpoint: --cv keeps none, it has a sketch of each fold; choose gamma by --gamma auto alone")
	}
	if o.save != "" && o.method == "exact" {
		return badInput("--save-sketch: --method exact makes no sketch")
	}
	return distinct(o.files(), append(append(o.solveFlags.outputs(), named{"save-sketch", o.save}), o.kept.outputs()...)...)
}

func (o *fitOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	be, err := o.runs.backend()
	if err != nil {
		return err
	}
	bar := newProgress(stderr, o.runs.logFormat)
	defer bar.finish()
	settings, err := o.settings(be)
	if err != nil {
		return err
	}
	if err := o.team.agree(ctx, o.command, settings); err != nil {
		return err
	}
	if err := o.kept.ofRank(o.team); err != nil {
		return err
	}
	keep, err := openKeeper(o.kept, settings, be, bar, stderr)
	if o.kept.name != "" {
		err = o.team.begun(ctx, keep, err)
	}
	if err != nil {
		return err
	}
	return keep.end(o.fit(ctx, be, keep, bar, stdout))
}

func (o *fitOptions) fit(ctx context.Context, be engine.Backend, keep *keeper, bar *progress, stdout io.Writer) error {
	start := time.Now()
	if err := o.team.catchUp(ctx, keep); err != nil {
		return err
	}
	o.scaling = keep.scaling()
	d, err := openData(ctx, &o.inputFlags, be, bar)
	if err != nil {
		return err
	}
	keep.attach(d)
	r := &result{o: &o.solveFlags, backend: be, source: d.source, prep: d.prep, intercept: o.intercept, data: o.data.value, format: d.opened.Format, target: o.target.value, targetNames: d.opened.TargetNames, keep: keep, team: o.team}
	if err := o.solve(ctx, r, d, bar); err != nil {
		return err
	}
	if r.columns, err = d.columns(&o.inputFlags); err != nil {
		return err
	}
	if r.ranks, r.nnz, err = o.team.account(ctx, d.counted.nnz); err != nil {
		return err
	}
	r.scans, r.reads = d.opened.Scans+d.scans, d.opened.Passes()
	if r.sizedFor > 0 {
		r.scans++
	}
	r.total = time.Since(start)
	bar.finish()
	err = r.deliver(stdout)
	if err == nil || r.failure != nil && errors.Is(err, r.failure) {
		err = firstError(o.team.wait(ctx), err)
	}
	return err
}

// solve has the library choose and fit.
func (o *fitOptions) solve(ctx context.Context, r *result, d *data, bar *progress) error {
	begin := time.Now()
	opts := r.options(bar)
	cfg := o.config(r.backend)
	opts.Size, opts.Error, opts.Intercept, opts.Shrink = cfg.Size, o.error, cfg.Intercept, cfg.Shrink
	if o.error > 0 {
		opts.Size = r.keep.size()
	}
	opts.KeepSummary = o.save != ""
	opts.Summarized = func(sum *ridge.Summary) error {
		r.sum, r.sketched = sum, time.Since(begin)
		return o.keepSketch(d, sum)
	}
	if o.cv == 0 {
		opts.Summarize = func(ctx context.Context, s ridge.Stage, src dataset.Source, cfg ridge.SummaryConfig, tell func(int64)) (*ridge.Summary, error) {
			return o.summarize(ctx, r, s, src, cfg, tell)
		}
	} else {
		_, dim, t := r.source.Dims()
		if err := room(cfg.Size, dim, t); err != nil {
			return err
		}
		opts.Folds, opts.MaxBytes = o.cv, uint64(rss.Available())
	}
	found, err := ridge.Fit(ctx, r.source, opts)
	if e, ok := errors.AsType[*ridge.FoldsError](err); ok {
		return badInput("--cv: the sketches of %d folds take about %.3g GiB, %.3g are available; take fewer, or a smaller --size", e.Folds, float64(e.Bytes)/(1<<30), float64(e.Limit)/(1<<30))
	}
	return r.take(found, err)
}

// summarize makes the summary of all ranks' rows, or of a pilot.
func (o *fitOptions) summarize(ctx context.Context, r *result, s ridge.Stage, src dataset.Source, cfg ridge.SummaryConfig, tell func(int64)) (*ridge.Summary, error) {
	if s == ridge.Sketching && o.error > 0 {
		r.keep.sized(cfg.Size)
	}
	_, dim, t := src.Dims()
	if err := room(cfg.Size, dim, t); err != nil {
		return nil, err
	}
	if s == ridge.Sketching {
		return r.keep.summarize(ctx, src, cfg, o.team, tell)
	}
	sum, err := ridge.Summarize(ctx, src, cfg, tell)
	if err == nil && o.team != nil {
		sum, err = dist.Merge(ctx, o.team, sum)
	}
	return sum, err
}

// keepSketch writes the summary where it is asked for.
func (o *fitOptions) keepSketch(d *data, sum *ridge.Summary) error {
	if o.save == "" {
		return nil
	}
	described, err := d.describe(&o.inputFlags)
	if err != nil {
		return err
	}
	if err := described.save(o.save, sum); err != nil {
		return fmt.Errorf("--save-sketch: %w", err)
	}
	return nil
}
