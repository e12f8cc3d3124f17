package main

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/table"
)

// measuring is how long the command plan measures the speed of the machine. The command doctor takes twice as long.
var measuring = time.Second

// measure measures the speed of the machine. It is a variable because tests replace it.
var measure = engine.Measure

// planOptions holds the flags of the command plan.
type planOptions struct {
	in     input.Flags
	pilot  sketchFlags
	runs   runFlags
	sketch string
	every  int64
	n      int64
	gamma  cli.Single
	sizes  cli.List
	tol    float64
	// oneShotError is the value of --error, the relative error that a fit in one pass must reach. If the flag is
	// not given, it is 0.
	oneShotError float64
	memory       int
	json         bool
}

func planCommand() *cobra.Command {
	o := &planOptions{in: input.NewFlags(), gamma: cli.Single{Hint: "; several are one list, G,G"}}
	c := &cobra.Command{
		Use:   "plan (--data FILE[,FILE…] | --sketch SKETCH)",
		Short: "Predict time, memory and passes of each method, and recommend one",
		Long: `Predict time, memory and passes of each method for several sketch sizes, and recommend one.

The predictions come from a sketch of the rows, of every K-th row, or from an existing sketch, and
from the speed of this machine, which is measured first. All numbers are estimates: expect times
and passes within a factor of two. If the sketch is small and no direction of the rows dominates,
up to three times too many passes are predicted. The table marks the method that
fit --method auto would run.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.check()
			if err != nil {
				return err
			}
			return nameData(
				o.in.Data.Value+o.sketch,
				o.in.NameColumns(o.run(cmd.Context(), cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())),
			)
		},
	}
	o.in.Unpiped = "plan reads rows several times to measure the speed: " +
		"make a sketch (sketch --data -) and use plan --sketch"
	o.register(c)
	return c
}

func (o *planOptions) register(c *cobra.Command) {
	f := c.Flags()
	o.in.Register(f)
	o.pilot.register(f)
	f.StringVar(&o.sketch, "sketch", "", "plan from the sketch in FILE instead of --data")
	f.Int64Var(&o.every, "every", 1, "sketch only each K-th row")
	f.Int64Var(&o.n, "n", 0, "number of rows of the fit (default: rows read)")
	f.Var(&o.gamma, "gamma", "regularisations, a list (default: mean eigenvalue of AᵀA)")
	f.Var(&o.sizes, "sizes", "sketch sizes to compare (default: powers of two from 16)")
	f.Float64Var(&o.tol, "tol", 1e-8, "relative error of the coefficients to reach")
	f.Float64Var(&o.oneShotError, "error", 0, "also find the sketch size for a one-shot fit with relative error E")
	f.IntVar(&o.memory, "memory", 8192, "available memory in MiB")
	f.BoolVar(&o.json, "json", false, "print one JSON object instead of text")
	o.runs.register(c)
}

// check returns an error if a flag has an invalid value, before any data are read. Otherwise it returns the
// settings of the plan.
func (o *planOptions) check() (cfg plan.Config, err error) {
	if err := o.checkNumbers(); err != nil {
		return cfg, err
	}
	if o.sketch == "" {
		err := cli.FirstError(o.in.Check(), o.pilot.check(), o.in.CheckGiven("plan"))
		if err != nil {
			return cfg, err
		}
	}
	if err := o.runs.check(); err != nil {
		return cfg, err
	}
	cfg = plan.Config{
		Rows:     o.n,
		Tol:      o.tol,
		MaxBytes: uint64(o.memory) << 20,
		Lanes:    o.pilot.lanes,
	}
	if text, _, _ := strings.Cut(o.gamma.Value, ":"); text == "auto" {
		return cfg, cli.BadInput(
			"--gamma: %s: plan needs numbers; without --gamma it uses the mean eigenvalue of AᵀA",
			errtext.Excerpt(o.gamma.Value),
		)
	}
	if o.gamma.Given {
		cfg.Gammas, err = cli.ParseGammas(o.gamma.Value, false)
		if err != nil {
			return cfg, err
		}
	}
	for _, s := range o.sizes.Items {
		m, err := strconv.Atoi(s)
		if err != nil || m < 1 {
			return cfg, cli.BadInput("--sizes: %q must be an integer from 1", errtext.Excerpt(s))
		}
		cfg.Sizes = append(cfg.Sizes, m)
	}
	return cfg, nil
}

func (o *planOptions) checkNumbers() error {
	switch {
	case o.sketch != "" && o.in.Data.Given:
		return cli.BadInput("--sketch: the sketch replaces the rows; leave out --data")
	case o.every < 1:
		return cli.BadInput("--every: %d, must be at least 1", o.every)
	case o.n < 0:
		return cli.BadInput("--n: %d, must be positive", o.n)
	case !(o.tol > 0 && o.tol < 1):
		return cli.BadInput("--tol: %v, must be between 0 and 1", o.tol)
	case o.oneShotError != 0 && !(o.oneShotError > 0 && o.oneShotError < 1):
		return cli.BadInput("--error: %v, must be between 0 and 1", o.oneShotError)
	case o.memory < 1:
		return cli.BadInput("--memory: %d MiB, must be at least 1", o.memory)
	}
	return nil
}

func (o *planOptions) run(ctx context.Context, cfg plan.Config, stdout, stderr io.Writer) error {
	be, err := o.runs.backend()
	if err != nil {
		return err
	}
	p, err := o.makePilot(ctx, be, stderr)
	if err != nil {
		return err
	}
	measured, err := measure(ctx, be, measuring)
	if err != nil {
		return err
	}
	if o.n == 0 {
		cfg.Rows = p.rows
	}
	cfg.BaseBytes = p.memory
	cfg.BaseSeconds = p.opening
	cfg.Entries = p.entries
	cfg.FlopRate = measured.Gemm * 1e9
	cfg.ReadRate = measured.Bandwidth * 1e9
	cfg.FreshRate = measured.Fresh * 1e9
	if p.rate > 0 {
		cfg.ReadRate = min(p.rate, cfg.ReadRate)
	}
	found, err := plan.New(p.sum, cfg)
	if err != nil {
		return err
	}
	r := report.Plan{
		Plan:      found,
		Seen:      p.sum.Rows(),
		Dim:       p.sum.Config().Dim,
		Gigaflops: measured.Gemm,
		Bandwidth: cfg.ReadRate / 1e9,
		Opening:   p.opening,
	}
	if o.oneShotError > 0 {
		for _, gamma := range found.Gammas {
			worst, estimated, err := plan.SizeFor(p.sum, o.oneShotError, gamma)
			if err != nil {
				return err
			}
			r.Sizes = append(
				r.Sizes,
				report.SizeFor{
					Gamma:     gamma,
					Error:     o.oneShotError,
					Worst:     worst,
					Estimated: estimated,
				},
			)
		}
	}
	r.Explain(cfg.Tol, cfg.MaxBytes)
	if o.json {
		return report.WriteJSON(stdout, r)
	}
	return r.WriteText(stdout)
}

// A pilot is the sketch on which a plan is based, with the measured cost of reading the rows. The sketch either
// contains every K-th row of the data or was read from a file. A sketch from a file has no measured cost.
type pilot struct {
	sum  *ridge.Summary
	rows int64 // estimated number of rows of the data; 0: equal to the rows in the sketch
	reading
}

// A reading holds the measured speed and memory of a pass over the rows.
type reading struct {
	rate    float64 // bytes per second, counting 8 bytes a number or 12 bytes a sparse entry; 0: unknown
	entries float64 // mean number of entries of a sparse row
	memory  uint64  // peak memory of the program, including its reader
	opening float64 // seconds before the first pass
}

// makePilot returns the sketch for a plan. It loads the sketch from the file that --sketch names, if any. Otherwise
// it sketches every K-th row of --data and measures how fast the rows are read.
func (o *planOptions) makePilot(
	ctx context.Context,
	be engine.Backend,
	stderr io.Writer,
) (*pilot, error) {
	if o.sketch != "" {
		sum, _, err := load(o.sketch, be)
		return &pilot{sum: sum}, err
	}
	bar := cli.NewProgress(stderr, o.runs.logFormat)
	defer bar.Finish()
	ctx = bar.Watch(ctx)
	begin := time.Now()
	d, err := o.in.Open(ctx, table.Env{}, be, bar)
	if err != nil {
		return nil, err
	}
	input.Warn(d, bar, stderr)
	p := &pilot{}
	took := time.Since(begin).Seconds()
	p.reading, err = timeReading(ctx, d.Source, 1)
	if err != nil {
		return nil, err
	}
	n, _, _ := d.Source.Dims()
	if n > 0 && o.every > n {
		return nil, cli.BadInput("--every: every %d-th of %d rows is one row; use a smaller number", o.every, n)
	}
	src, err := dataset.Every(d.Source, o.every)
	if err != nil {
		return nil, err
	}
	_, dim, t := src.Dims()
	if err := o.pilot.checkMemory(o.pilot.size, dim, t); err != nil {
		return nil, err
	}
	p.sum, err = ridge.Summarize(ctx, src, o.pilot.config(be), bar.Rows("sketching", src))
	if err != nil {
		return nil, err
	}
	again, err := timeReading(ctx, d.Source, 100)
	if err != nil {
		return nil, err
	}
	p.rate = again.rate // second reading: the files are in the page cache, as during a fit
	p.rows, _, _ = d.Source.Dims()
	if p.rows < 0 {
		p.rows = p.sum.Rows() * o.every
	}
	// Opening the rows may require passes that count the features of svmlight files or compute the scaling. If --n
	// gives another number of rows, the time of these passes is scaled to this number.
	p.opening = took
	if o.n > 0 {
		p.opening *= float64(o.n) / float64(p.sum.Rows()*o.every)
	}
	return p, nil
}

// timeReading measures how fast the rows of src are read and prepared. It makes up to maxPasses passes over src,
// but stops after half a second. The result also contains the peak memory of the program until now.
func timeReading(ctx context.Context, src dataset.Source, maxPasses int) (reading, error) {
	const enough = 500 * time.Millisecond
	_, d, _ := src.Dims()
	sparse := 0
	entries := 0
	bytes := 0.0
	begin := time.Now()
	for ; maxPasses > 0 && time.Since(begin) < enough; maxPasses-- {
		for b, err := range src.Blocks(ctx) {
			if err != nil {
				return reading{}, err
			}
			if b.Sparse != nil {
				sparse += b.N
				entries += b.Sparse.NNZ()
				bytes += 12 * float64(b.Sparse.NNZ())
			} else {
				bytes += 8 * float64(d) * float64(b.N)
			}
			if time.Since(begin) > enough {
				break
			}
		}
	}
	return reading{
		rate:    bytes / time.Since(begin).Seconds(),
		entries: float64(entries) / float64(max(sparse, 1)),
		memory:  uint64(rss.Peak()),
	}, nil
}
