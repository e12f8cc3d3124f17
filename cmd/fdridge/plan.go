package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
)

// planOptions are the flags of plan.
type planOptions struct {
	in       inputFlags
	pilot    sketchFlags
	runs     runFlags
	sketch   string
	every    int64
	n        int64
	gamma    once
	sizes    string
	tol, err float64
	memory   int
	json     bool

	config ridge.PlanConfig
}

func planCommand() *cobra.Command {
	o := &planOptions{in: newInputFlags(), gamma: once{hint: "; several are one list, G,G"}}
	c := &cobra.Command{
		Use:   "plan (--data FILE[,FILE…] | --sketch SKETCH)",
		Short: "Predict what each method and size of sketch takes, and recommend one",
		Long: `Sketches the rows, or every K-th of them, or takes a sketch that is there, and
predicts η, the passes, the memory and the time of each method for several sizes m.
The bound on η is proved for the rows seen; the rest is an estimate. Times are from
the speed of matrix products and of reading these files, both measured first, and
good to a factor of about two for exact and one-shot; cg often needs half, sometimes
a third, of the passes that its time counts, galerkin no more than cg. It marks
what fit --method auto runs, which guesses spectrum and machine, and names what would
be sooner. Memory includes the program with its reader as it stands then.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return about(o.in.data.value+o.sketch, o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
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
	f.Float64Var(&o.err, "error", 0, "also say which size makes the one-shot fit's relative error at most this")
	f.IntVar(&o.memory, "memory", 8192, "MiB there are")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	o.runs.register(c)
}

func (o *planOptions) check() error {
	switch {
	case o.sketch != "" && o.in.data.set:
		return badInput("--sketch: --data is given too")
	case o.every < 1:
		return badInput("--every: %d, must be at least 1", o.every)
	case o.n < 0:
		return badInput("--n: %d, must be positive", o.n)
	case !(o.tol > 0 && o.tol < 1):
		return badInput("--tol: %v, must be between 0 and 1", o.tol)
	case o.err != 0 && !(o.err > 0 && o.err < 1):
		return badInput("--error: %v, must be between 0 and 1", o.err)
	case o.memory < 1:
		return badInput("--memory: %d MiB, must be at least 1", o.memory)
	}
	if o.sketch == "" {
		if err := firstError(o.in.check(), o.pilot.check()); err != nil {
			return err
		}
		if o.pilot.error > 0 {
			return badInput("--size: %v must be a number of rows; --error plans for an error", o.pilot.error)
		}
	}
	if err := o.runs.check(); err != nil {
		return err
	}
	o.config = ridge.PlanConfig{Rows: o.n, Tol: o.tol, MaxBytes: uint64(o.memory) << 20}
	if o.gamma.set {
		var err error
		if o.config.Gammas, err = parseGammas(o.gamma.value, false); err != nil {
			return err
		}
	}
	for _, s := range splitList(o.sizes) {
		m, err := strconv.Atoi(s)
		if err != nil || m < 1 {
			return badInput("--sizes: %q must be a whole number from 1", excerpt.Of(s))
		}
		o.config.Sizes = append(o.config.Sizes, m)
	}
	return nil
}

func (o *planOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	be, err := o.runs.backend()
	if err != nil {
		return err
	}
	sum, found, err := o.summary(ctx, be, stderr)
	if err != nil {
		return err
	}
	measured, err := engine.Measure(ctx, be, time.Second)
	if err != nil {
		return err
	}
	o.config.BaseBytes, o.config.BaseSeconds = found.memory, found.opening
	o.config.FlopRate, o.config.ReadRate = measured.Gemm*1e9, measured.Bandwidth*1e9
	if found.rate > 0 {
		o.config.ReadRate = min(found.rate, o.config.ReadRate)
	}
	plan, err := sum.Plan(o.config)
	if err != nil {
		return err
	}
	r := planReport{Plan: plan, Seen: sum.Rows(), Dim: sum.Config().Dim, Gigaflops: measured.Gemm, Bandwidth: o.config.ReadRate / 1e9, Opening: found.opening}
	if o.err > 0 {
		for _, gamma := range plan.Gammas {
			proved, estimated, err := sum.SizeFor(o.err, gamma)
			if err != nil {
				return err
			}
			r.Sizes = append(r.Sizes, sizeFor{gamma, o.err, proved, estimated})
		}
	}
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return r.human(stdout)
}

// A reading is what a pass over the rows was found to take.
type reading struct {
	rate    float64 // bytes of rows, as float64, in a second; 0: not found
	memory  uint64  // of the program with its reader
	opening float64 // seconds that come before any pass
}

// summary sketches the pilot's rows or reads the sketch.
func (o *planOptions) summary(ctx context.Context, be engine.Backend, stderr io.Writer) (*ridge.Summary, reading, error) {
	if o.sketch != "" {
		sum, _, err := load(o.sketch, be)
		return sum, reading{}, err
	}
	bar := newProgress(stderr, o.runs.logFormat)
	defer bar.finish()
	begin := time.Now()
	d, err := openData(ctx, &o.in, be, bar)
	if err != nil {
		return nil, reading{}, err
	}
	opening := time.Since(begin).Seconds()
	found, err := read(ctx, d.source)
	if err != nil {
		return nil, found, err
	}
	if n, _, _ := d.source.Dims(); n > 0 && o.every > n {
		return nil, found, badInput("--every: every %d-th of %d rows is one row; say less", o.every, n)
	}
	src, err := dataset.Every(d.source, o.every)
	if err != nil {
		return nil, found, err
	}
	_, dim, t := src.Dims()
	if err := o.pilot.room(dim, t); err != nil {
		return nil, found, err
	}
	sum, err := ridge.Summarize(ctx, src, o.pilot.config(be), bar.rows("sketching", src))
	if err == nil && o.n == 0 {
		if o.config.Rows, _, _ = d.source.Dims(); o.config.Rows < 0 {
			o.config.Rows = sum.Rows() * o.every
		}
	}
	// Finding the width of svmlight files and the scale of the columns are passes.
	if found.opening = opening; err == nil && o.n > 0 {
		found.opening *= float64(o.n) / float64(sum.Rows()*o.every)
	}
	return sum, found, err
}

// read reads for half a second, or once, and does nothing with the rows: what the
// reader and the preparation take. The memory is then that of the program with its
// reader, before any sketch.
func read(ctx context.Context, src dataset.Source) (reading, error) {
	const enough = 500 * time.Millisecond
	_, d, _ := src.Dims()
	rows, begin := 0, time.Now()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return reading{}, err
		}
		if rows += b.N; time.Since(begin) > enough {
			break
		}
	}
	rate := 8 * float64(d) * float64(rows) / time.Since(begin).Seconds()
	return reading{rate: rate, memory: uint64(rss.Peak())}, nil
}

// A planReport is a plan and what it was made from.
type planReport struct {
	*ridge.Plan
	Seen      int64     `json:"rows_seen"`
	Dim       int       `json:"d"`
	Gigaflops float64   `json:"gemm_gflops"`
	Bandwidth float64   `json:"read_gigabytes_per_second"` // rows, as float64, that the files give, or memory if that is less
	Opening   float64   `json:"open_seconds"`              // passes that find widths and scales, in the times of all methods
	Sizes     []sizeFor `json:"size_for,omitempty"`
}

// A sizeFor is the size that makes a one-shot fit good to an error.
type sizeFor struct {
	Gamma     float64 `json:"gamma"`
	Error     float64 `json:"error"`
	Proved    int     `json:"proved"`
	Estimated int     `json:"estimated"`
}

func (r *planReport) human(w io.Writer) error {
	fmt.Fprintf(w, "%d rows × %d features, planned from %d rows; %.0f GFLOP/s, %.2g GB/s of rows, %.2g s to open them\n\n", r.Rows, r.Dim, r.Seen, r.Gigaflops, r.Bandwidth, r.Opening)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "\tmethod\tm\tη about\tη ≤\tpasses\tone-shot error ≤\tmemory\ttime\treaches --tol")
	for i, o := range r.Options {
		if i != r.Best && (o.Method == "chebyshev" || o.Method == "newton") {
			continue // never fewer passes than cg; --json has them
		}
		mark := ""
		if i == r.Best {
			mark = "→"
		}
		passes, worst, size := 0, 0.0, "–"
		for k := range r.Gammas {
			if k < len(o.Passes) {
				passes = max(passes, o.Passes[k])
			}
			if k < len(o.Contraction) {
				worst = max(worst, o.Contraction[k])
			}
		}
		if o.Size > 0 {
			size = strconv.Itoa(o.Size)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%.3g\t%s\t%d\t%s\t%s\t%s\t%v\n", mark, o.Method, size, o.Shrinkage, atMost(o.ShrinkageBound, 3, general), passes, atMost(worst, 2, general), bytesOf(o.Bytes), secondsOf(o.Seconds), yes(o.Reaches))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n", r.Reason)
	for _, s := range r.Sizes {
		fmt.Fprintf(w, "gamma %g: --size %d is estimated to make the one-shot fit good to %g, %d is proved to\n", s.Gamma, s.Estimated, s.Error, s.Proved)
	}
	return nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// bytesOf writes a size, rounded up.
func bytesOf(b uint64) string {
	if b < 1<<30 {
		return fmt.Sprintf("%d MiB", (b+1<<20-1)>>20)
	}
	return fmt.Sprintf("%.1f GiB", math.Ceil(float64(b)/(1<<30)*10)/10)
}

func secondsOf(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.2g s", s)
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}
