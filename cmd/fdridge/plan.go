package main

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// measuring is how long plan measures the machine; doctor takes twice as long.
var measuring = time.Second

// planOptions are the flags of plan.
type planOptions struct {
	in     inputFlags
	pilot  sketchFlags
	runs   runFlags
	sketch string
	every  int64
	n      int64
	gamma  once
	sizes  string
	tol    float64
	// oneShotError is an error for which a size is to be named; 0: none.
	oneShotError float64
	memory       int
	json         bool
}

func planCommand() *cobra.Command {
	o := &planOptions{in: newInputFlags(), gamma: once{hint: "; several are one list, G,G"}}
	c := &cobra.Command{
		Use:   "plan (--data FILE[,FILE…] | --sketch SKETCH)",
		Short: "Predict what each method and size of sketch takes, and recommend one",
		Long: `Sketches the rows, or every K-th of them, or takes a sketch that is there, and
predicts η, the passes, the memory and the time of each method for several sizes m.
All of this is estimated, the largest η that is possible, too. Times are from
the speed of matrix products, of new memory and of reading these files, measured first
(these once they have been read, from memory if that holds them), and
good to a factor of about two, as are the passes; of these up to three times too many
are expected where no direction of the rows is much larger than others and the sketch
is small. It marks
what fit --method auto runs, which guesses spectrum and machine, and names what would
be sooner. Memory includes the program with its reader as it stands then.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.check()
			if err != nil {
				return err
			}
			return nameData(o.in.data.value+o.sketch, o.in.nameColumns(o.run(cmd.Context(), cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())))
		},
	}
	o.in.unpiped = "plan reads rows more than once, to time it: make a sketch of them (sketch --data -), and plan from that (--sketch)"
	o.register(c)
	return c
}

func (o *planOptions) register(c *cobra.Command) {
	f := c.Flags()
	o.in.register(f)
	o.pilot.register(f)
	f.StringVar(&o.sketch, "sketch", "", "plan from this sketch, in place of --data")
	f.Int64Var(&o.every, "every", 1, "sketch every K-th row")
	f.Int64Var(&o.n, "n", 0, "rows of the data that are to be fitted (default: those read)")
	f.Var(&o.gamma, "gamma", "the regularisations to be solved for, a list (default: the mean eigenvalue of AᵀA)")
	f.StringVar(&o.sizes, "sizes", "", "sizes m to consider, a list (default: the powers of two from 16)")
	f.Float64Var(&o.tol, "tol", 1e-8, "relative error of the weights wanted")
	f.Float64Var(&o.oneShotError, "error", 0, "also say which size makes the one-shot fit's relative error at most this")
	f.IntVar(&o.memory, "memory", 8192, "MiB there are")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	o.runs.register(c)
}

// check validates the flags before any data are read, and returns what of the plan they say.
func (o *planOptions) check() (cfg plan.Config, err error) {
	if err := o.checkNumbers(); err != nil {
		return cfg, err
	}
	if o.sketch == "" {
		if err := firstError(o.in.check(), o.pilot.check(), o.in.checkGiven("plan")); err != nil {
			return cfg, err
		}
	}
	if err := o.runs.check(); err != nil {
		return cfg, err
	}
	cfg = plan.Config{Rows: o.n, Tol: o.tol, MaxBytes: uint64(o.memory) << 20, Lanes: o.pilot.lanes}
	if text, _, _ := strings.Cut(o.gamma.value, ":"); text == "auto" {
		return cfg, badInput("--gamma: %s: it is fit that chooses; say numbers to plan for, or leave it out for the mean eigenvalue of AᵀA", excerpt.Of(o.gamma.value))
	}
	if o.gamma.set {
		if cfg.Gammas, err = parseGammas(o.gamma.value, false); err != nil {
			return cfg, err
		}
	}
	for _, s := range splitList(o.sizes) {
		m, err := strconv.Atoi(s)
		if err != nil || m < 1 {
			return cfg, badInput("--sizes: %q must be a whole number from 1", excerpt.Of(s))
		}
		cfg.Sizes = append(cfg.Sizes, m)
	}
	return cfg, nil
}

func (o *planOptions) checkNumbers() error {
	switch {
	case o.sketch != "" && o.in.data.set:
		return badInput("--sketch: --data is given too")
	case o.every < 1:
		return badInput("--every: %d, must be at least 1", o.every)
	case o.n < 0:
		return badInput("--n: %d, must be positive", o.n)
	case !(o.tol > 0 && o.tol < 1):
		return badInput("--tol: %v, must be between 0 and 1", o.tol)
	case o.oneShotError != 0 && !(o.oneShotError > 0 && o.oneShotError < 1):
		return badInput("--error: %v, must be between 0 and 1", o.oneShotError)
	case o.memory < 1:
		return badInput("--memory: %d MiB, must be at least 1", o.memory)
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
	measured, err := engine.Measure(ctx, be, measuring)
	if err != nil {
		return err
	}
	if o.n == 0 {
		cfg.Rows = p.rows
	}
	cfg.BaseBytes, cfg.BaseSeconds, cfg.Entries = p.memory, p.opening, p.entries
	cfg.FlopRate, cfg.ReadRate, cfg.FreshRate = measured.Gemm*1e9, measured.Bandwidth*1e9, measured.Fresh*1e9
	if p.rate > 0 {
		cfg.ReadRate = min(p.rate, cfg.ReadRate)
	}
	found, err := plan.New(p.sum, cfg)
	if err != nil {
		return err
	}
	r := report.Plan{Plan: found, Seen: p.sum.Rows(), Dim: p.sum.Config().Dim, Gigaflops: measured.Gemm, Bandwidth: cfg.ReadRate / 1e9, Opening: p.opening}
	if o.oneShotError > 0 {
		for _, gamma := range found.Gammas {
			worst, estimated, err := plan.SizeFor(p.sum, o.oneShotError, gamma)
			if err != nil {
				return err
			}
			r.Sizes = append(r.Sizes, report.SizeFor{Gamma: gamma, Error: o.oneShotError, Worst: worst, Estimated: estimated})
		}
	}
	r.Explain(cfg.Tol, cfg.MaxBytes)
	if o.json {
		return report.WriteJSON(stdout, r)
	}
	return r.WriteText(stdout)
}

// A pilot is a sketch of the rows, or of every K-th, and what it took to read them. Of a sketch
// that is read from a file that is not known.
type pilot struct {
	sum  *ridge.Summary
	rows int64 // of the data; 0: those that the sketch has seen
	reading
}

// A reading is what a pass over the rows was found to take.
type reading struct {
	rate    float64 // bytes of rows, as float64, or 12 an entry of sparse ones, in a second; 0: not found
	entries float64 // of a row, in the mean, where they are sparse
	memory  uint64  // of the program with its reader
	opening float64 // seconds that come before any pass
}

// makePilot sketches rows, or reads the sketch.
func (o *planOptions) makePilot(ctx context.Context, be engine.Backend, stderr io.Writer) (*pilot, error) {
	if o.sketch != "" {
		sum, _, err := load(o.sketch, be)
		return &pilot{sum: sum}, err
	}
	bar := newProgress(stderr, o.runs.logFormat)
	defer bar.finish()
	ctx = bar.watch(ctx)
	begin := time.Now()
	d, err := openData(ctx, &o.in, session{}, be, bar)
	if err != nil {
		return nil, err
	}
	d.doubtCategories(bar, stderr)
	p := &pilot{}
	took := time.Since(begin).Seconds()
	if p.reading, err = timeReading(ctx, d.source, 1); err != nil {
		return nil, err
	}
	n, _, _ := d.source.Dims()
	if n > 0 && o.every > n {
		return nil, badInput("--every: every %d-th of %d rows is one row; say less", o.every, n)
	}
	src, err := dataset.Every(d.source, o.every)
	if err != nil {
		return nil, err
	}
	_, dim, t := src.Dims()
	if err := o.pilot.checkMemory(o.pilot.size, dim, t); err != nil {
		return nil, err
	}
	if p.sum, err = ridge.Summarize(ctx, src, o.pilot.config(be), bar.rows("sketching", src)); err != nil {
		return nil, err
	}
	again, err := timeReading(ctx, d.source, 100)
	if err != nil {
		return nil, err
	}
	p.rate = again.rate // of files that were read before, as those of a fit will have been: from memory where that holds them
	if p.rows, _, _ = d.source.Dims(); p.rows < 0 {
		p.rows = p.sum.Rows() * o.every
	}
	// Finding the width of svmlight files and the scale of the columns are passes.
	if p.opening = took; o.n > 0 {
		p.opening *= float64(o.n) / float64(p.sum.Rows()*o.every)
	}
	return p, nil
}

// timeReading reads for half a second, up to so many times, and does nothing with the rows: it
// finds what the reader and the preparation take. The memory is then that of the program with its
// reader, if nothing else was made before.
func timeReading(ctx context.Context, src dataset.Source, times int) (reading, error) {
	const enough = 500 * time.Millisecond
	_, d, _ := src.Dims()
	sparse, entries, bytes, begin := 0, 0, 0.0, time.Now()
	for ; times > 0 && time.Since(begin) < enough; times-- {
		for b, err := range src.Blocks(ctx) {
			if err != nil {
				return reading{}, err
			}
			if b.Sparse != nil {
				sparse, entries = sparse+b.N, entries+b.Sparse.NNZ()
				bytes += 12 * float64(b.Sparse.NNZ())
			} else {
				bytes += 8 * float64(d) * float64(b.N)
			}
			if time.Since(begin) > enough {
				break
			}
		}
	}
	return reading{rate: bytes / time.Since(begin).Seconds(), entries: float64(entries) / float64(max(sparse, 1)), memory: uint64(rss.Peak())}, nil
}
