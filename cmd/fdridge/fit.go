package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
	"github.com/fdridge/fdridge/ridge/columns"
	"github.com/fdridge/fdridge/table"
)

// fitOptions has the flags of fit.
type fitOptions struct {
	input.Flags
	sketchFlags
	solveFlags
	runs       runFlags
	checkpoint checkpointFlags
	rows       input.CacheFlags
	save       string
	cv         int
	mpi        bool
	coverage   coverageFlags
	errors     standardErrorFlags
}

func fitCommand(mpi joiner) *cobra.Command {
	o := &fitOptions{Flags: input.NewFlags(), solveFlags: newSolveFlags()}
	c := &cobra.Command{
		Use:   "fit --data FILE[,FILE…] [--gamma G[,G…]|auto]",
		Short: "Fit ridge regression to files, with a proved error bound",
		Long:  "Fit ridge regression to files, with a proved error bound." + exitCodes,
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			o.command = invocation(cmd, args)
			o.Flags.Listen(cmd, false)
			if o.mpi {
				return o.runAsRank(cmd.Context(), mpi, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return input.ExplainOnce(
				o.run(cmd.Context(), nil, cmd.OutOrStdout(), cmd.ErrOrStderr()),
				o.Data.Value,
				input.WaysOfFit,
			)
		},
	}
	o.Flags.Register(c.Flags())
	o.RegisterPart(c.Flags())
	o.sketchFlags.register(c.Flags())
	o.solveFlags.register(c.Flags(), "auto, one-shot, cg, galerkin, newton, exact or dual", true)
	c.Flags().StringVar(&o.save, "save-sketch", "", "write the sketch to FILE, for solve, merge and predict --interval")
	c.Flags().IntVar(&o.cv, "cv", 0, "choose by cross-validation with K folds (default 5 with --select cv)")
	c.Flags().BoolVar(&o.mpi, "mpi", false, "run as one rank of mpirun or srun (needs a build with -tags mpi)")
	o.RegisterHoldout(c.Flags())
	o.coverage.register(c.Flags())
	o.errors.register(c.Flags())
	o.RegisterClasses(c.Flags())
	o.RegisterUnpenalized(c.Flags())
	c.Flags().StringVar(&o.predict, "predict", "", "write predictions for FILE to --out (--per-target, --coverage)")
	o.checkpoint.register(c.Flags())
	o.rows.Register(c.Flags())
	o.runs.register(c)
	return c
}

// check validates the flags before any data are read.
func (o *fitOptions) check() error {
	if o.criterion().Needs().Folds && o.cv == 0 {
		o.cv = choose.DefaultFolds
	}
	err := cli.FirstError(
		o.Flags.Check(),
		o.sketchFlags.check(),
		o.runs.check(),
		o.solveFlags.check(true),
		cli.CheckOutput("save-sketch", o.save),
		o.checkpoint.check(),
		o.rows.Check(),
		o.coverage.check(o.runs.cmd.Flags(), o.Spec(), o.predict != ""),
		o.mode().check(o),
		o.errors.check(o.Spec().Classes, o.predict != ""),
		o.CheckKept(&o.rows),
		o.checkPipe(),
	)
	if err == nil && !o.mpi {
		err = refuseUnusedMPI()
	}
	s := o.Spec()
	switch {
	case err != nil:
		return err
	case o.mpi && s.Part != "":
		return cli.BadInput("--part: with --mpi each rank already reads a part")
	case o.predict != "" &&
		(o.coef != "" || o.report != "" || s.Holdout > 0 || o.mpi):
		return cli.BadInput("--predict: the coefficients are not kept; leave out --coef, --report, --holdout and --mpi")
	}
	if err := o.checkOptions(); err != nil {
		return err
	}
	rows := o.Others(o.predict)
	return cli.Distinct(
		append(o.Files(), rows.Files()...),
		append(
			append(o.solveFlags.outputs(), cli.Output{Flag: "save-sketch", Path: o.save}),
			o.checkpoint.outputs()...)...)
}

// options returns the options of the library.
func (o *fitOptions) options() fdridge.Options {
	opts := o.solveFlags.options()
	size := o.size
	if o.each && !o.runs.cmd.Flags().Changed("size") {
		size = 0 // a size of 0 keeps all information of the rows
	}
	opts.Size = size
	opts.NoIntercept = !o.intercept
	opts.Lanes = o.lanes
	opts.Folds = o.cv
	opts.KeepSummary = o.save != ""
	return opts
}

// checkOptions returns an error if options contradict each other. It is called before rows are read, so it sets
// dummy values for options that depend on the rows.
func (o *fitOptions) checkOptions() error {
	opts := o.options()
	s := o.Spec()
	opts.Bands = s.NamedBands()
	o.mode().mark(&opts)
	if o.Unpenalized.Given {
		opts.Unpenalized = []int{0}
	}
	if s.Classes {
		opts.Classes = &classes.Classes{}
	}
	if o.checkpoint.name != "" {
		opts.Journal = struct{ ridge.Journal }{}
	}
	if o.mpi {
		opts.Reducer = struct{ ridge.Reducer }{}
		opts.Merge = func(context.Context, *ridge.Summary) (*ridge.Summary, error) {
			return nil, nil
		}
		opts.Gather = func(context.Context, []byte) ([][]byte, error) { return nil, nil }
	}
	return nameOptions(opts.Check())
}

// refuseUnusedMPI returns an error if mpirun or srun started several processes, but --mpi is not given. Otherwise
// each process would fit all rows and write the same files.
func refuseUnusedMPI() error {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 1 {
			return cli.BadInput(
				"this is one of %d processes of an MPI job (%s), and each would fit all rows: use --mpi, or start one process",
				n,
				name,
			)
		}
	}
	return nil
}

// runAsRank runs the fit in one process of an MPI job. Only the process with rank (number) 0 writes files and the
// report.
func (o *fitOptions) runAsRank(ctx context.Context, mpi joiner, stdout, stderr io.Writer) error {
	joined, err := mpi.join()
	if err != nil {
		return err
	}
	r := rank{joined}
	if r.Rank() > 0 {
		o.out = ""
		o.report = ""
		o.coef = ""
		o.save = ""
		o.runs.logFormat = "none"
		stdout = io.Discard
	}
	err = dist.Agree(ctx, r, "the program", version())
	if err == nil {
		err = dist.Agree(ctx, r, "the command", o.command)
	}
	if err == nil {
		err = o.run(ctx, r, stdout, stderr)
	}
	return leaveJob(r, err, mpi.grace, stderr)
}

// run performs the fit. If --checkpoint is given, it saves checkpoints. ranks connects the processes of an MPI job,
// and is nil for a single process.
func (o *fitOptions) run(ctx context.Context, ranks dist.Transport, stdout, stderr io.Writer) error {
	be, err := o.runs.backend()
	if err != nil {
		return err
	}
	bar := cli.NewProgress(stderr, o.runs.logFormat)
	defer bar.Finish()
	ctx = bar.Watch(ctx)
	settings, seen, err := o.settings(be)
	if err != nil {
		return err
	}
	env := table.Env{
		Ranks: ranks,
		Seen:  seen,
		Cache: o.rows.Cache(),
		Alone: true,
	}
	err = batch.Run(ctx, batch.Options{
		Checkpoint: o.checkpoint.name,
		Every:      o.checkpoint.every,
		Settings:   settings,
		Transport:  ranks,
		Backend:    be,
		Room:       o.checkMemory,
		Notify:     func(e batch.Event) { bar.Checkpoint(e, env.Leads(), stderr) },
	}, func(j *batch.Job) error {
		env.Job = j
		err := o.NameColumns(o.fit(ctx, env, be, bar, stdout, stderr))
		if share := o.Spec().Holdout; errors.Is(err, ridge.ErrEmpty) && share > 0 {
			err = cli.BadInput("--holdout: %v leaves no row for the fit; use a smaller fraction", share)
		}
		return nameData(o.Data.Value, err)
	})
	input.EndCache(env.Cache, bar, stderr)
	return err
}

// fit reads the rows, fits and delivers the result.
func (o *fitOptions) fit(
	ctx context.Context,
	env table.Env,
	be engine.Backend,
	bar *cli.Progress,
	stdout, stderr io.Writer,
) error {
	start := time.Now()
	d, err := o.Open(ctx, env, be, bar)
	if err != nil {
		return err
	}
	if env.Leads() {
		input.Warn(d, bar, stderr)
		o.warnTolerance(bar, stderr)
	}
	f, err := o.fitRows(ctx, env, d, be, bar)
	if err != nil {
		return err
	}
	if env.Leads() {
		input.RemarkEnd(d.Rows, bar, stderr)
	}
	columns, err := d.Rows.AllColumns()
	if err != nil {
		return err
	}
	if d.Classes != nil {
		f.Classes = &report.Classes{Classes: d.Classes, Decisions: f.Found.Classes}
		f.Classes.HeldOut, err = d.EvaluateClasses(ctx, f.Found.Solutions)
	} else {
		f.HeldOut, err = o.evaluate(ctx, d, f.Found.Solutions)
		if err == nil {
			var warning string
			warning, err = o.mode().afterFit(ctx, o, d, f)
			if warning != "" {
				bar.Warn(stderr, warning)
			}
		}
		if err == nil {
			f.StandardErrors, f.NoStandardErrors, err = o.errors.compute(ctx, d, env, f, o.intercept)
		}
	}
	if err != nil {
		return err
	}
	work, err := env.Job.Work(ctx)
	if err != nil {
		return err
	}
	nonzeros := d.Counted.Nonzeros()
	if env.Ranks != nil {
		nonzeros = 0 // summed over the ranks below
		if d.Encoded != nil {
			if err := d.Encoded.Tally.Pool(ctx, env.Ranks.Allreduce); err != nil {
				return err
			}
		}
	}
	for rank, w := range work {
		nonzeros += w.Nonzeros
		f.Cost.Ranks = append(
			f.Cost.Ranks,
			report.NewRank(rank, w.Rows, w.Seconds, w.Communicating, w.Sent, w.Received),
		)
	}
	f.Data = report.Data{
		Name:        o.Name(),
		Format:      d.Rows.Opened.Format,
		Targets:     d.Rows.Opened.TargetNames,
		Nonzeros:    nonzeros,
		Preparation: d.Preparation,
		Before:      d.P,
		Bands:       d.Bands,
		Encoded:     (*report.Encoded)(d.Encoded),
	}
	if d.Classes != nil && d.Classes.Targets() > 1 {
		f.Data.Targets = d.Classes.Labels
	}
	f.Cost.PreparingReads = d.Rows.Opened.Scans + d.Passes
	f.Cost.Reads = d.Rows.Opened.Passes()
	if d.Encoded != nil && d.Encoded.Encoding.Columns != nil && d.Encoded.Learnt != nil {
		f.Cost.Reads++ // the pass over the columns, which the model does not count
	}
	f.Written.Sketch = o.save
	f.Cost.Total = time.Since(start)
	bar.Finish()
	o.resumes = o.checkpoint.name
	o.once = dataset.Once(d.Source)
	err = o.deliver(f, columns, o.Target.Value, stdout)
	if o.predicted != nil {
		o.predicted.printTally(stderr)
	}
	return err
}

// fitRows fits the opened rows and returns the report.
func (o *fitOptions) fitRows(
	ctx context.Context,
	env table.Env,
	d *table.Table,
	be engine.Backend,
	bar *cli.Progress,
) (*report.Fit, error) {
	begin := time.Now()
	f, traces, opts := o.begin(be, o.intercept, o.options())
	var sum *ridge.Summary
	opts.Progress = bar.Fit(d.Source, func() int64 { // rows of a refining pass
		if env.Ranks != nil {
			n, _, _ := d.Source.Dims()
			return n
		}
		return sum.Rows()
	})
	opts = d.Options(opts)
	opts.Summarized = func(made *ridge.Summary) error {
		sum = made
		f.Cost.Sketched = time.Since(begin)
		if o.save == "" {
			return nil
		}
		described, err := describe(d, o.Target.Value)
		if err != nil {
			return err
		}
		return described.save("save-sketch", o.save, sum)
	}
	if o.cv != 0 {
		_, dim, t := d.Source.Dims()
		if err := o.checkMemory(o.size, dim, t); err != nil {
			return nil, err
		}
	}
	there := uint64(rss.Available())
	if there > 0 && (o.cv != 0 || there < ridge.DefaultMaxBytes) {
		opts.MaxBytes = there
	}
	opts.Chosen = func(m ridge.Method) error {
		if o.strict && m == ridge.OneShot {
			return fmt.Errorf("%w; it was chosen because the rows can be read only once", errNoTolerance)
		}
		return nil
	}
	if err := o.mode().beforeFit(ctx, o, d, &opts); err != nil {
		return nil, err
	}
	found, err := env.Job.Fit(ctx, d.Source, opts)
	if e, ok := errors.AsType[*columns.DependentError](err); ok {
		name := func(j int) string { return report.ColumnName(&d.Preparation, j) }
		return nil, cli.BadInput("--unpenalized: column %s is %s", name(e.Column), e.Reason(name))
	}
	if e, ok := errors.AsType[*choose.FoldsError](err); ok {
		return nil, cli.BadInput(
			"--cv: the sketches of %d folds need about %.3g GiB, %.3g GiB are available%s; use fewer folds or a smaller --size",
			e.Folds,
			float64(e.Bytes)/(1<<30),
			float64(e.Limit)/(1<<30),
			cli.MemoryLimit(),
		)
	}
	return f, o.end(f, traces, found, err)
}

// predictBlocks opens the rows of --predict. It returns a function that predicts a block of targets for these rows.
// The solution s has the targets of the block, and first is the number of the first target.
func (o *fitOptions) predictBlocks(
	ctx context.Context,
	d *table.Table,
) (func(first int, s *ridge.Solution) error, error) {
	in := predictOptions{in: o.Others(o.predict)}
	if err := in.in.Check(); err != nil {
		return nil, fmt.Errorf("--predict: %w", err)
	}
	rows, err := in.open(ctx, &model.Model{Preparation: d.Preparation})
	if err != nil {
		return nil, fmt.Errorf("--predict: %w", err)
	}
	n, _, _ := rows.Source.Dims()
	_, _, t := d.Source.Dims()
	if err := cli.CheckMemory(8*float64(n)*float64(t), "predict fewer rows at a time",
		"--predict: the predictions of %d targets for %d rows", t, n); err != nil {
		return nil, err
	}
	all := &blockPredictions{targets: t}
	return func(first int, s *ridge.Solution) error {
		details := model.Details{Intercept: o.intercept, Before: d.P}
		m, err := model.New(d.Preparation, []*ridge.Solution{s}, details)
		if err != nil {
			return err
		}
		of, err := m.Predictor(nil)
		if err != nil {
			return err
		}
		all.first = first
		of.Encode = prepare.EncodeOptions{Cells: rows.Opened.Cells, Tally: new(prepare.Tally)}
		o.predicted = &predictionRun{of: of, block: all}
		o.writePredictions = func(w io.Writer) error {
			return npy.Write(w, all.rows, all.targets, all.all)
		}
		return nameData(o.predict, rows.Locate(o.predicted.run(ctx, rows.Source, nil)))
	}, nil
}

// evaluate compares the predictions of all solutions with the targets of the held-out rows. If no rows are held
// out, it returns nil.
func (o *fitOptions) evaluate(
	ctx context.Context, d *table.Table, solutions []*ridge.Solution,
) (*report.HeldOut, error) {
	found, err := d.Evaluate(ctx, solutions, o.intercept)
	if found == nil || err != nil {
		return nil, predictionError(err)
	}
	return &report.HeldOut{Share: d.Holdout.Share, Evaluation: found}, nil
}

// checkPipe returns an error if --data is a pipe and other flags forbid it. These are flags that need a second pass
// over the rows, --mpi and --checkpoint.
func (o *fitOptions) checkPipe() error {
	var why string
	switch data := input.Name(o.Data.Value); {
	case !o.Piped():
		return nil
	case o.mpi:
		why = "--mpi: ranks share files, and only one process can read %s; " +
			"sketch the rows of each rank (sketch --data -) and merge the sketches"
	case o.checkpoint.name != "":
		why = "--checkpoint: a resumed run reads the rows again, and %s can be read only once; write the rows to a file"
	default:
		return o.rows.CheckPipe(data, o.Scales(), o.Learns(), o.HoldsOut())
	}
	return cli.BadInput(why, input.Name(o.Data.Value))
}
