package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// fitOptions are the flags of fit, and what they parse to.
type fitOptions struct {
	data, target        once
	format              string
	targets             int
	gamma               once
	size                int
	method, shrink      string
	robust              bool
	tol                 float64
	maxPasses           int
	intercept           bool
	standardize         bool
	features, rows, out string
	threads             int
	threadsGiven        bool
	json                bool

	gammas []float64
	rff    *dataset.Fourier
}

var methodNames = []string{"auto", "one-shot", "cg", "chebyshev", "newton", "exact"}

func fitCommand() *cobra.Command {
	o := &fitOptions{
		data:   once{hint: "; several files are one list, F,F"},
		target: once{hint: "; several targets are one list, A,B, with --targets 2"},
		gamma:  once{hint: "; several are one list, G,G"},
	}
	c := &cobra.Command{
		Use:   "fit --data FILE[,FILE…] --gamma G[,G…]",
		Short: "Fit ridge regression and certify its error",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.threadsGiven = cmd.Flags().Changed("threads")
			if err := o.check(); err != nil {
				return err
			}
			return about(o.data.value, o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
	}
	f := c.Flags()
	f.Var(&o.data, "data", "files of rows, one after the other: csv, svmlight or npy, plain or gzip")
	f.StringVar(&o.format, "format", "auto", "auto, npy, csv or svmlight")
	f.Var(&o.target, "target", "target column: first, last, a 1-based number or a header name; or a file of its own; a list for several (svmlight: the label, no flag)")
	f.IntVar(&o.targets, "targets", 1, "how many targets there are to be")
	f.Var(&o.gamma, "gamma", "regularisation γ, the weight of ‖x‖² against the sum of squares (scikit-learn's alpha); a list for several")
	f.IntVar(&o.size, "size", 256, "rows m of the sketch; more make each pass count for more")
	f.StringVar(&o.method, "method", "auto", "auto, one-shot, cg, chebyshev, newton or exact")
	f.BoolVar(&o.robust, "robust", true, "take Robust Frequent Directions' shift (false: plain FD)")
	f.StringVar(&o.shrink, "shrink", "gram", "how the sketch shrinks: gram or svd")
	f.Float64Var(&o.tol, "tol", 1e-8, "relative error of the weights to certify, for cg, chebyshev and newton")
	f.IntVar(&o.maxPasses, "max-passes", 500, "most refining passes over the data")
	f.BoolVar(&o.intercept, "intercept", true, "fit an intercept, unpenalised")
	f.BoolVar(&o.standardize, "standardize", false, "scale the input columns to mean 0 and deviation 1 first, by a pass of its own; the model's weights are in the original units unless --features follows, its certificate is about those of the scaled columns")
	f.StringVar(&o.features, "features", "", "rff:D,gamma=G,seed=S: D random Fourier features of the kernel exp(-G‖x-y‖²)")
	f.StringVar(&o.rows, "rows", "", "A:B: only rows A to B, from 1, inclusive")
	f.StringVar(&o.out, "out", "", "write the model here, as JSON")
	f.IntVar(&o.threads, "threads", 0, "threads to use (default: all)")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
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
	var err error
	switch {
	case len(splitList(o.data.value)) == 0:
		return badInput("--data: no file is named")
	case !o.gamma.set:
		return badInput("--gamma: no regularisation is given")
	case o.size < 1:
		return badInput("--size: %d, the sketch needs at least one row", o.size)
	case o.targets < 1:
		return badInput("--targets: %d, must be at least 1", o.targets)
	case !(o.tol > 0 && o.tol < 1):
		return badInput("--tol: %v, must be between 0 and 1", o.tol)
	case o.maxPasses < 1:
		return badInput("--max-passes: %d, must be at least 1", o.maxPasses)
	case o.threadsGiven && (o.threads < 1 || o.threads > 1024):
		return badInput("--threads: %d, must be 1 to 1024", o.threads)
	}
	if n := len(splitList(o.target.value)); n > 1 && n != o.targets {
		return badInput("--target: %d targets are named (%s) where %d is asked for; say --targets %d", n, o.target.value, o.targets, n)
	}
	if err := errors.Join(oneOf("format", o.format, file.Formats...), oneOf("method", o.method, methodNames...), oneOf("shrink", o.shrink, "gram", "svd")); err != nil {
		return err
	}
	if o.gammas, err = parseGammas(o.gamma.value, o.method == "exact"); err != nil {
		return err
	}
	if o.rows != "" {
		if _, _, err := parseRows(o.rows); err != nil {
			return err
		}
	}
	if o.features != "" {
		if o.rff, err = parseFeatures(o.features); err != nil {
			return err
		}
	}
	return checkOut(o.out)
}

// A result is a finished fit, for the report and the model.
type result struct {
	o        *fitOptions
	data     *data
	backend  engine.Backend
	fits     []*ridge.Fit
	method   string
	reason   string // why auto chose it
	size     int    // m, 0 without a sketch
	failure  *ridge.NotConvergedError
	sketched time.Duration
	total    time.Duration
}

func (o *fitOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.threads > 0 {
		runtime.GOMAXPROCS(o.threads)
	}
	be, err := engine.Default()
	if err != nil {
		return &inputError{err} // a wrong environment variable, or a missing library
	}
	bar := newProgress(stderr)
	defer bar.finish()
	start := time.Now()
	r := &result{o: o, backend: be}
	var first func(int64)
	if o.standardize {
		first = bar.rows("standardising")
	}
	if r.data, err = openData(ctx, o, be, first); err != nil {
		return err
	}
	r.data.counted.progress = nil
	r.choose()
	if err := r.solve(ctx, bar); err != nil {
		return err
	}
	r.total = time.Since(start)
	bar.finish()
	return r.deliver(stdout)
}

// choose settles the method. Exact costs d² flops a row, d³/3 for each γ and 8d²
// bytes; cg costs 7md a row for the sketch and 4d for each pass, γ and target,
// about a dozen passes. While n is unknown the rows are taken to outweigh d³.
func (r *result) choose() {
	r.method = r.o.method
	if r.method != "auto" {
		return
	}
	const budget, passes = 1 << 30, 12
	n, d, t := r.data.source.Dims()
	m, k := min(r.o.size, d), len(r.o.gammas)
	exact, cg := float64(d), float64(7*m+4*passes*k*t) // flops/d a row
	if n > 0 {
		exact += float64(k) * float64(d) * float64(d) / 3 / float64(n)
	}
	switch {
	case d > 11585: // 8d² > budget
		r.method, r.reason = "cg", fmt.Sprintf("d² for d = %d takes more than %d MiB", d, budget>>20)
	case exact <= cg:
		r.method, r.reason = "exact", fmt.Sprintf("d² fits, and %.0f·d flops a row are no more than cg's %.0f·d", exact, cg)
	default:
		r.method, r.reason = "cg", fmt.Sprintf("%.0f·d flops a row are less than exact's %.0f·d", cg, exact)
	}
}

func (r *result) solve(ctx context.Context, bar *progress) error {
	if r.method == "exact" {
		return r.solveExact(ctx, bar)
	}
	shrink := fd.Gram
	if r.o.shrink == "svd" {
		shrink = fd.SVD
	}
	begin := time.Now()
	sum, err := ridge.Summarize(ctx, r.data.source, ridge.SummaryConfig{
		Size: r.o.size, Intercept: r.o.intercept, Shrink: shrink, Backend: r.backend,
	}, bar.rows("sketching"))
	if err != nil {
		return err
	}
	r.sketched = time.Since(begin)
	_, d, _ := r.data.source.Dims()
	r.size = min(r.o.size, d)
	if r.method == "one-shot" {
		for _, g := range r.o.gammas {
			fit := sum.Fit
			if !r.o.robust {
				fit = sum.FitFD
			}
			f, err := fit(g)
			if err != nil {
				return err
			}
			r.fits = append(r.fits, f)
		}
		return nil
	}
	iterations := map[string]ridge.Method{"cg": ridge.CG, "chebyshev": ridge.Chebyshev, "newton": ridge.Newton}
	r.fits, err = ridge.SolvePath(ctx, r.data.source, sum, r.o.gammas, ridge.SolveOptions{
		Method: iterations[r.method], Tol: r.o.tol, MaxPasses: r.o.maxPasses, PlainFD: !r.o.robust, Progress: bar.passes(sum.Rows()),
	})
	if errors.As(err, &r.failure) {
		r.fits = r.failure.Fits
		return nil
	}
	return err
}

func (r *result) solveExact(ctx context.Context, bar *progress) error {
	factor := ridge.Cholesky
	for _, g := range r.o.gammas {
		if g == 0 {
			factor = ridge.QR
		}
	}
	var err error
	r.fits, err = ridge.Exact(ctx, r.data.source, r.o.gammas, ridge.ExactOptions{
		Factor: factor, Intercept: r.o.intercept, Backend: r.backend, Progress: bar.rows("reading"),
	})
	return err
}

// deliver prints the report and writes the model. A fit that didn't converge is
// reported, but doesn't replace a model.
func (r *result) deliver(stdout io.Writer) error {
	if r.o.out != "" && r.failure == nil {
		if err := r.writeModel(r.o.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	report := r.human
	if r.o.json {
		report = r.writeJSON
	}
	if err := report(stdout); err != nil {
		return err
	}
	if r.failure != nil {
		return r.failure
	}
	return nil
}
