package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	if r.ranks, r.nnz, err = o.team.account(ctx, d.counted.nnz); err != nil {
		return err
	}
	r.scans, r.reads = d.opened.Scans+d.scans, d.opened.Passes()
	r.total = time.Since(start)
	bar.finish()
	err = r.deliver(stdout)
	if err == nil || r.failure != nil && errors.Is(err, r.failure) {
		err = firstError(o.team.wait(ctx), err)
	}
	return err
}

// sketchAndSolve makes a summary, keeps it where asked, and solves.
func (o *fitOptions) sketchAndSolve(ctx context.Context, r *result, d *data, bar *progress) error {
	begin := time.Now()
	if err := o.chooseSize(ctx, r, d, bar); err != nil {
		return err
	}
	_, dim, t := r.source.Dims()
	if err := o.room(dim, t); err != nil {
		return err
	}
	sum, err := o.summarize(ctx, r, bar)
	if err != nil {
		return err
	}
	if sum.Rows() == 0 {
		return ridge.ErrEmpty
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

// chooseSize makes a pilot of every tenth row where --size is an error, and takes
// the size that is expected to keep to it at the least γ.
func (o *fitOptions) chooseSize(ctx context.Context, r *result, d *data, bar *progress) error {
	if o.error == 0 {
		return nil
	}
	var err error
	r.sizedFor = o.error
	o.size, err = r.keep.size(func() (int, error) { return o.pilot(ctx, r, bar) })
	d.scans++
	return err
}

// pilot finds the size of sketch.
func (o *fitOptions) pilot(ctx context.Context, r *result, bar *progress) (int, error) {
	const stride, pilotSize = 10, 256
	pilot, err := dataset.Every(r.source, stride)
	if err != nil {
		return 0, err
	}
	o.size = pilotSize
	_, dim, t := r.source.Dims()
	if err := o.room(dim, t); err != nil {
		return 0, err
	}
	sum, err := ridge.Summarize(ctx, pilot, o.config(r.backend), bar.rows("pilot", r.source))
	if err == nil && o.team != nil {
		sum, err = dist.Merge(ctx, o.team, sum)
	}
	if err != nil {
		return 0, err
	}
	// n rows have stride times the spectrum of the pilot's, so γ is stride times less.
	_, size, err := sum.SizeFor(o.error, slices.Min(o.gammas)/stride)
	return size, err
}

// summarize makes the pass, with a sketch for each fold where γ is to be chosen by
// cross-validation.
func (o *fitOptions) summarize(ctx context.Context, r *result, bar *progress) (*ridge.Summary, error) {
	tell := bar.rows("sketching", r.source)
	if o.cv == 0 {
		return r.keep.summarize(ctx, r.source, o.config(r.backend), o.team, tell)
	}
	cv := ridge.CrossValidation{Folds: o.cv, Gammas: o.gammas, MaxBytes: uint64(rss.Available())}
	if tell != nil {
		cv.Progress = func(_ int, rows int64) { tell(rows) }
	}
	var err error
	r.cv, err = ridge.CrossValidate(ctx, r.source, o.config(r.backend), cv)
	if e, ok := errors.AsType[*ridge.FoldsError](err); ok {
		return nil, badInput("--cv: the sketches of %d folds take about %.3g GiB, %.3g are available; take fewer, or a smaller --size", e.Folds, float64(e.Bytes)/(1<<30), float64(e.Limit)/(1<<30))
	}
	if err != nil {
		return nil, err
	}
	return r.cv.Summary, nil
}
