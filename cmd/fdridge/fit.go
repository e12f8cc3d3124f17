package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/job"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
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
	rows cacheFlags
	save string
	cv   int
	mpi  bool
	held holdoutFlags
}

// sketchMethods are those that begin with a sketch, which are all that solve has.
func sketchMethods() []string { return append([]string{"auto", "one-shot"}, ridge.Iterations()...) }

// methodNames are all that fit has.
var methodNames = append(sketchMethods(), directMethods...)

// directMethods are those that make no sketch: dual is exact through AAᵀ, by a factor of it.
var directMethods = []string{"exact", "dual"}

// isDirect says that a method makes no sketch.
func isDirect(method string) bool { return slices.Contains(directMethods, method) }

func fitCommand(joiner job.Joiner) *cobra.Command {
	o := &fitOptions{inputFlags: newInputFlags(), solveFlags: newSolveFlags()}
	c := &cobra.Command{
		Use:   "fit --data FILE[,FILE…] --gamma G[,G…]|auto",
		Short: "Fit ridge regression and certify its error",
		Long:  "Fit ridge regression and certify its error." + exitCodes,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			o.command = invocation(cmd, args)
			o.inputFlags.listen(cmd, false)
			if o.mpi {
				return o.runAsRank(cmd.Context(), joiner, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return nameOnce(nameData(o.data.value, o.run(cmd.Context(), nil, cmd.OutOrStdout(), cmd.ErrOrStderr())), o.data.value, waysOfFit)
		},
	}
	o.inputFlags.register(c.Flags())
	o.part.registerPart(c.Flags(), "it is fitted alone, and the certificate is about its rows (of csv, what comes before them in a file is looked through); for a fit of all rows sketch each part, merge and solve")
	o.sketchFlags.register(c.Flags())
	o.solveFlags.register(c.Flags(), "auto", "auto, one-shot, cg, galerkin (the fewest passes), chebyshev, newton, exact or dual (exact through AAᵀ)", ", cv (cross-validation, see --cv)")
	c.Flags().StringVar(&o.save, "save-sketch", "", "keep the sketch here, for solve, merge and predict --interval")
	c.Flags().IntVar(&o.cv, "cv", 0, "with --gamma auto: choose by cross-validation with so many folds, in the same pass, in place of GCV; 5 with --select cv")
	c.Flags().BoolVar(&o.mpi, "mpi", false, "be one of the ranks that mpirun or srun has started: each reads its share of the files (whole ones where there are enough, else rows of npy, npz, Parquet and Arrow or bytes of csv and svmlight); rank 0 reports; needs a build with -tags mpi")
	o.held.register(c.Flags())
	o.kept.register(c.Flags())
	o.rows.register(c.Flags())
	o.runs.register(c)
	return c
}

// check validates all flags before any data are read.
func (o *fitOptions) check() error {
	if o.selectBy == "cv" && o.cv == 0 {
		o.cv = 5
	}
	err := firstError(o.inputFlags.check(), o.sketchFlags.check(), o.runs.check(), o.solveFlags.check(methodNames...), checkOutput("save-sketch", o.save), o.kept.check(), o.rows.check(), o.held.check(), o.checkCells(), o.checkPipe())
	if err == nil && !o.mpi {
		err = refuseUntold()
	}
	switch {
	case err != nil:
		return err
	case o.cv != 0 && o.cv < 2:
		return badInput("--cv: %d folds, there must be two", o.cv)
	case o.cv != 0 && isDirect(o.method):
		return badInput("--cv: it chooses from sketches of the folds, which --method %s does without", o.method)
	case o.cv != 0 && !o.auto:
		return badInput("--cv: it chooses gamma, say --gamma auto")
	case o.cv != 0 && o.selectBy == "gcv":
		return badInput("--cv: --select gcv makes no folds; leave out one of the two")
	case o.cv != 0 && o.selectBy == "loo":
		return badInput("--cv: --select loo leaves out one row at a time, not folds")
	case o.oneShotError > 0 && o.auto:
		return badInput("--size: %v is the error at a gamma, and --gamma auto has yet to be chosen", o.oneShotError)
	case o.oneShotError > 0 && isDirect(o.method):
		return badInput("--size: --method %s makes no sketch", o.method)
	}
	switch {
	case o.mpi && isDirect(o.method):
		return badInput("--mpi: --method %s solves on one machine alone; say cg, galerkin, chebyshev, newton or one-shot", o.method)
	case o.mpi && o.part.given:
		return badInput("--part: with --mpi each rank reads its own part already")
	case o.mpi && o.cv != 0:
		return badInput("--mpi: --cv keeps a sketch of each fold on one machine alone; choose gamma by --gamma auto alone")
	case o.kept.name != "" && isDirect(o.method):
		return badInput("--checkpoint: --method %s keeps none, it reads the rows once", o.method)
	case o.kept.name != "" && o.cv != 0:
		return badInput("--checkpoint: --cv keeps none, it has a sketch of each fold; choose gamma by --gamma auto alone")
	}
	if err := o.checkChoice(&o.gammaFlags, o.method, o.cv != 0); err != nil {
		return err
	}
	if o.save != "" && isDirect(o.method) {
		return badInput("--save-sketch: --method %s makes no sketch", o.method)
	}
	return distinct(o.files(), append(append(o.solveFlags.outputs(), output{"save-sketch", o.save}), o.kept.outputs()...)...)
}

// refuseUntold refuses to be one of several processes that a launcher of MPI has started and that
// would each fit all rows and write the same files.
func refuseUntold() error {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 1 {
			return badInput("this is one of %d processes of an MPI job (%s), each of which would fit all rows: say --mpi, or start one process", n, name)
		}
	}
	return nil
}

// runAsRank is run, by one of several ranks. Rank 0 alone writes anything.
func (o *fitOptions) runAsRank(ctx context.Context, joiner job.Joiner, stdout, stderr io.Writer) error {
	ranks, err := job.Join(joiner)
	if err != nil {
		return err
	}
	if !ranks.Leads() {
		o.out, o.report, o.coef, o.save, o.runs.logFormat, stdout = "", "", "", "", "none", io.Discard
	}
	return ranks.End(nameData(o.data.value, o.run(ctx, ranks, stdout, stderr)), message, stderr)
}

// run fits, as a job; ranks is nil for a process alone.
func (o *fitOptions) run(ctx context.Context, ranks *job.Ranks, stdout, stderr io.Writer) error {
	be, err := o.runs.backend()
	if err != nil {
		return err
	}
	bar := newProgress(stderr, o.runs.logFormat)
	defer bar.finish()
	ctx = bar.watch(ctx)
	settings, seen, err := o.settings(be)
	if err != nil {
		return err
	}
	j, err := job.Begin(ctx, job.Config{
		Program: version(), Command: o.command, Settings: settings, Checkpoint: o.kept.name, Every: o.kept.every,
		Backend: be, Log: checkpointLog{bar, stderr}, Room: o.checkMemory,
	}, ranks)
	if err != nil {
		return err
	}
	cache := &rowCache{cacheFlags: &o.rows}
	err = j.End(o.nameColumns(o.fit(ctx, j, session{ranks: ranks, seen: seen, cache: cache, alone: true, holdout: o.held.holdout()}, be, bar, stdout, stderr)))
	cache.end(bar, stderr)
	return err
}

// fit reads the rows, fits, and delivers what was found.
func (o *fitOptions) fit(ctx context.Context, j *job.Job, run session, be engine.Backend, bar *progress, stdout, stderr io.Writer) error {
	start := time.Now()
	d, err := openData(ctx, &o.inputFlags, run, j.Scaling(), be, bar)
	if err != nil {
		return err
	}
	j.Attach(d.counted, d.prep.Scaling)
	if run.ranks.Leads() {
		d.doubtCategories(bar, stderr)
		o.doubt(bar, stderr)
	}
	f, err := o.fitRows(ctx, j, d, be, bar)
	if err != nil {
		return err
	}
	columns, err := d.columns(&o.rowFlags)
	if err != nil {
		return err
	}
	if f.HeldOut, err = d.evaluate(ctx, run, f.Found.Solutions, bar); err != nil {
		return err
	}
	work, nonzeros, err := j.Account(ctx, d.counted.Nonzeros())
	if err != nil {
		return err
	}
	f.Data = report.Data{Name: o.name(), Format: d.opened.Format, Targets: d.opened.TargetNames, Nonzeros: nonzeros, Preparation: d.prep, Before: d.p, Bands: d.bands, Encoded: d.encoded}
	f.Cost.PreparingReads, f.Cost.Reads, f.Cost.Ranks = d.opened.Scans+d.scans, d.opened.Passes(), ranksOf(work)
	if f.Found.SizedFor > 0 {
		f.Cost.PreparingReads++
	}
	f.Cost.Total = time.Since(start)
	bar.finish()
	o.resumes, o.once = o.kept.name, dataset.Once(d.source)
	err = o.deliver(f, columns, o.target.value, stdout)
	if _, short := errors.AsType[*ridge.NotConvergedError](err); err == nil || short {
		err = firstError(j.Wait(ctx), err)
	}
	return err
}

// fitRows has the library choose and fit.
func (o *fitOptions) fitRows(ctx context.Context, j *job.Job, d *data, be engine.Backend, bar *progress) (*report.Fit, error) {
	begin := time.Now()
	f, traces, opts := o.begin(be, o.intercept)
	var sum *ridge.Summary
	opts.Progress = bar.fit(d.source, func() int64 { return j.Rows(d.source, sum) })
	cfg := o.config(be)
	opts.Size, opts.Error, opts.Intercept = cfg.Size, o.oneShotError, cfg.Intercept
	opts.Shrink, opts.Store, opts.Lanes = cfg.Shrink, cfg.Store, cfg.Lanes
	if o.oneShotError > 0 {
		opts.Size = j.Size()
	}
	if d.p == nil { // else the rows are penalised as they come
		opts.Bands = d.bands
	}
	opts.KeepSummary = o.save != ""
	opts.Summarized = func(made *ridge.Summary) error {
		sum, f.Cost.Sketched = made, time.Since(begin)
		return o.keepSketch(d, made)
	}
	if o.cv != 0 {
		_, dim, t := d.source.Dims()
		if err := o.checkMemory(cfg.Size, dim, t); err != nil {
			return nil, err
		}
		opts.Folds, opts.MaxBytes = o.cv, uint64(rss.Available())
	}
	if opts.Once = dataset.Once(d.source); opts.Once {
		n, dim, t := d.source.Dims()
		method, _ := ridge.ChooseMethod(n, dim, t, opts)
		if err := o.strictly(method); err != nil {
			return nil, err
		}
	}
	found, err := j.Fit(ctx, d.source, opts)
	if e, ok := errors.AsType[*ridge.FoldsError](err); ok {
		return nil, badInput("--cv: the sketches of %d folds take about %.3g GiB, %.3g are available; take fewer, or a smaller --size", e.Folds, float64(e.Bytes)/(1<<30), float64(e.Limit)/(1<<30))
	}
	return f, o.end(f, traces, found, err)
}

// keepSketch writes the summary where it is asked for.
func (o *fitOptions) keepSketch(d *data, sum *ridge.Summary) error {
	if o.save == "" {
		return nil
	}
	described, err := d.describe(&o.rowFlags)
	if err != nil {
		return err
	}
	return described.save("save-sketch", o.save, sum)
}

// ranksOf are what ranks have done, as a report has it.
func ranksOf(work []job.Work) []report.Rank {
	var out []report.Rank
	for rank, w := range work {
		out = append(out, report.NewRank(rank, w.Rows, w.Seconds, w.Communicating, w.Sent, w.Received))
	}
	return out
}
