package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
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

// methodNames returns the names of the methods that fit has, or of those that begin with a sketch, which solve has.
func methodNames(direct bool) []string {
	var names []string
	for _, m := range ridge.Methods() {
		if direct || !m.IsDirect() {
			names = append(names, m.String())
		}
	}
	return names
}

func fitCommand(mpi joiner) *cobra.Command {
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
				return o.runAsRank(cmd.Context(), mpi, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return nameOnce(o.run(cmd.Context(), nil, cmd.OutOrStdout(), cmd.ErrOrStderr()), o.data.value, waysOfFit)
		},
	}
	o.inputFlags.register(c.Flags())
	o.part.registerPart(c.Flags(), "it is fitted alone, and the certificate is about its rows (of csv, what comes before them in a file is looked through); for a fit of all rows sketch each part, merge and solve")
	o.sketchFlags.register(c.Flags())
	o.solveFlags.register(c.Flags(), "auto", "auto, one-shot, cg, galerkin (the fewest passes), newton, exact or dual (exact through AAᵀ)", ", cv (cross-validation, see --cv)")
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
	err := firstError(o.inputFlags.check(), o.sketchFlags.check(), o.runs.check(), o.solveFlags.check(true), checkOutput("save-sketch", o.save), o.kept.check(), o.rows.check(), o.held.check(), o.checkCells(), o.checkPipe())
	if err == nil && !o.mpi {
		err = refuseUntold()
	}
	switch {
	case err != nil:
		return err
	case o.cv != 0 && o.selectBy == "gcv":
		return badInput("--cv: --select gcv makes no folds; leave out one of the two")
	case o.mpi && o.part.given:
		return badInput("--part: with --mpi each rank reads its own part already")
	}
	if err := o.checkOptions(); err != nil {
		return err
	}
	return distinct(o.files(), append(append(o.solveFlags.outputs(), output{"save-sketch", o.save}), o.kept.outputs()...)...)
}

// options returns the options of the fit.
func (o *fitOptions) options() fdridge.Options {
	opts := o.solveFlags.options()
	opts.Size, opts.NoIntercept, opts.Lanes, opts.Folds, opts.KeepSummary = o.size, !o.intercept, o.lanes, o.cv, o.save != ""
	return opts
}

// checkOptions refuses options that contradict each other. Those that the job sets are there, but do nothing.
func (o *fitOptions) checkOptions() error {
	opts := o.options()
	opts.Bands = o.given()
	if o.kept.name != "" {
		opts.Journal = struct{ ridge.Journal }{}
	}
	if o.mpi {
		opts.Reducer = struct{ ridge.Reducer }{}
		opts.Summarize = func(context.Context, dataset.Source, ridge.SummaryConfig, func(int64)) (*ridge.Summary, error) {
			return nil, nil
		}
	}
	return nameOptions(opts.Check())
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
func (o *fitOptions) runAsRank(ctx context.Context, mpi joiner, stdout, stderr io.Writer) error {
	joined, err := mpi.join()
	if err != nil {
		return err
	}
	r := rank{joined}
	if r.Rank() > 0 {
		o.out, o.report, o.coef, o.save, o.runs.logFormat, stdout = "", "", "", "", "none", io.Discard
	}
	err = dist.Agree(ctx, r, "the program", version())
	if err == nil {
		err = dist.Agree(ctx, r, "the command", o.command)
	}
	if err == nil {
		err = o.run(ctx, r, stdout, stderr)
	}
	return leave(r, err, mpi.grace, stderr)
}

// run fits, as a job; ranks is nil for a process alone.
func (o *fitOptions) run(ctx context.Context, ranks dist.Transport, stdout, stderr io.Writer) error {
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
	cache := &rowCache{cacheFlags: &o.rows}
	run := session{ranks: ranks, seen: seen, cache: cache, alone: true, holdout: o.held.holdout()}
	err = batch.Run(ctx, batch.Options{
		Checkpoint: o.kept.name, Every: o.kept.every, Settings: settings, Retired: isRetired, Transport: ranks, Backend: be, Room: o.checkMemory,
		Notify: func(e batch.Event) { bar.checkpoint(e, run.leads(), stderr) },
	}, func(j *batch.Job) error {
		run.job = j
		return nameData(o.data.value, o.nameColumns(o.fit(ctx, run, be, bar, stdout, stderr)))
	})
	cache.end(bar, stderr)
	return err
}

// fit reads the rows, fits, and delivers what was found.
func (o *fitOptions) fit(ctx context.Context, run session, be engine.Backend, bar *progress, stdout, stderr io.Writer) error {
	start := time.Now()
	d, err := openData(ctx, &o.inputFlags, run, be, bar)
	if err != nil {
		return err
	}
	if run.leads() {
		d.doubtCategories(bar, stderr)
		o.doubt(bar, stderr)
	}
	f, err := o.fitRows(ctx, run, d, be, bar)
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
	work, err := run.job.Work(ctx)
	if err != nil {
		return err
	}
	nonzeros := d.counted.Nonzeros()
	if run.ranks != nil {
		nonzeros = 0 // of all ranks
	}
	for rank, w := range work {
		nonzeros += w.Nonzeros
		f.Cost.Ranks = append(f.Cost.Ranks, report.NewRank(rank, w.Rows, w.Seconds, w.Communicating, w.Sent, w.Received))
	}
	f.Data = report.Data{Name: o.name(), Format: d.opened.Format, Targets: d.opened.TargetNames, Nonzeros: nonzeros, Preparation: d.prep, Before: d.p, Bands: d.bands, Encoded: d.encoded}
	f.Cost.PreparingReads, f.Cost.Reads = d.opened.Scans+d.scans, d.opened.Passes()
	f.Cost.Total = time.Since(start)
	bar.finish()
	o.resumes, o.once = o.kept.name, dataset.Once(d.source)
	return o.deliver(f, columns, o.target.value, stdout)
}

// fitRows has the library choose and fit.
func (o *fitOptions) fitRows(ctx context.Context, run session, d *data, be engine.Backend, bar *progress) (*report.Fit, error) {
	begin := time.Now()
	f, traces, opts := o.begin(be, o.intercept, o.options())
	var sum *ridge.Summary
	opts.Progress = bar.fit(d.source, func() int64 { // the rows of a pass that refines
		if run.ranks != nil {
			n, _, _ := d.source.Dims()
			return n
		}
		return sum.Rows()
	})
	if d.p == nil { // else the rows are penalised as they come
		opts.Bands = d.bands
	}
	opts.Summarized = func(made *ridge.Summary) error {
		sum, f.Cost.Sketched = made, time.Since(begin)
		return o.keepSketch(d, made)
	}
	if o.cv != 0 {
		_, dim, t := d.source.Dims()
		if err := o.checkMemory(o.size, dim, t); err != nil {
			return nil, err
		}
		opts.MaxBytes = uint64(rss.Available())
	}
	if dataset.Once(d.source) {
		method, err := fdridge.MethodOf(d.source, opts)
		if err != nil {
			return nil, err
		}
		if err := o.strictly(method); err != nil {
			return nil, err
		}
	}
	found, err := run.job.Fit(ctx, d.source, opts)
	if e, ok := errors.AsType[*choose.FoldsError](err); ok {
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
