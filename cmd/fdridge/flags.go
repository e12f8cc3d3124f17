package main

import (
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// sketchFlags configure the sketch.
type sketchFlags struct {
	sizeText  string
	size      int // number of rows m, read from sizeText
	lanes     int // 0: at most one for each core
	intercept bool
	copied    bool // each write copies the sketch
}

func (o *sketchFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.sizeText, "size", "256", "rows of the sketch; more rows, fewer passes")
	f.IntVar(&o.lanes, "lanes", 0, "number of sketches fed in parallel; same N, same bits (default: cores)")
	f.BoolVar(&o.intercept, "intercept", true, "fit an unpenalised intercept; --intercept=false: none (default true)")
}

func (o *sketchFlags) check() error {
	var err error
	o.size, err = strconv.Atoi(o.sizeText)
	if err != nil {
		return cli.BadInput(
			"--size: %q is not a number of rows; plan --error E finds the size for a relative error E",
			errtext.Excerpt(o.sizeText),
		)
	} else if o.size < 1 {
		return cli.BadInput("--size: %d, the sketch needs at least one row", o.size)
	}
	if o.lanes < 0 || o.lanes > ridge.MaxLanes {
		return cli.BadInput("--lanes: %d, must be from 1 to %d, or 0 for the default", o.lanes, ridge.MaxLanes)
	}
	return nil
}

func (o *sketchFlags) config(be engine.Backend) ridge.SummaryConfig {
	return ridge.SummaryConfig{
		Size:      o.size,
		Intercept: o.intercept,
		Lanes:     o.lanes,
		Backend:   be,
	}
}

// resultFlags holds the names of the output files and the flags about them. If strict is true (--strict), no model
// is written when the tolerance is missed. With --predict, predictions are written to the file out instead of a
// model.
type resultFlags struct {
	out, coef, report string
	outFormat         string
	predict           string
	predicted         *predictionRun // the predictions; nil without --predict
	writePredictions  func(io.Writer) error
	json, strict      bool
}

// solveFlags configure the solutions: γ, method, tolerance and outputs.
type solveFlags struct {
	gammaFlags
	methodName string
	method     ridge.Method
	tol        float64
	maxPasses  int
	resultFlags

	command string // command line that repeats the run
	once    bool   // the rows can be read only once
	resumes string // name of the checkpoint from which the same command with larger limits can resume; "": none
}

func newSolveFlags() solveFlags {
	return solveFlags{gammaFlags: gammaFlags{gamma: cli.Single{Hint: "; several are one list, G,G"}}}
}

// register adds the flags to f. methodHelp is the help text of --method. If hasRows is true, the command always
// reads rows. It then also accepts the methods that need no sketch, and the criteria that need the rows.
func (o *solveFlags) register(f *pflag.FlagSet, methodHelp string, hasRows bool) {
	o.gammaFlags.register(f, criteriaFor(hasRows))
	f.StringVar(&o.methodName, "method", "auto", methodHelp)
	cli.SetValues(f, "method", methodNames(hasRows)...)
	f.Float64Var(&o.tol, "tol", 1e-8, "bound to prove on the relative error of the coefficients")
	f.IntVar(&o.maxPasses, "max-passes", 500, "maximum number of passes after the first")
	f.StringVar(&o.out, "out", "", "write the model to FILE, as JSON, or as arrays if it ends in .npz")
	f.StringVar(&o.outFormat, "out-format", "auto", "form of the model: auto, json, or npz for arrays")
	cli.SetValues(f, "out-format", modelFormats...)
	f.StringVar(&o.report, "report", "", "write an HTML page about the fit to FILE")
	f.StringVar(&o.coef, "coef", "", "write the coefficients to FILE, as .npy, a row for each gamma and target")
	f.BoolVar(&o.json, "json", false, "print one JSON object instead of text")
	f.BoolVar(&o.strict, "strict", false, "fail (exit 1, no model) if --tol is not reached")
}

// modelFormats are the values of --out-format of fit and solve.
var modelFormats = []string{"auto", "json", "npz"}

// writesArrays reports whether the model is written as arrays.
func (o *resultFlags) writesArrays() bool {
	return o.outFormat == "npz" || o.outFormat == "auto" && strings.HasSuffix(o.out, ".npz")
}

// check returns an error if a flag has an invalid value or cannot be used with the other flags. Methods that need
// no sketch are valid only if allowDirect is true.
func (o *solveFlags) check(allowDirect bool) error {
	if err := cli.OneOf("method", o.methodName, methodNames(allowDirect)...); err != nil {
		return err
	}
	o.method, _ = ridge.ParseMethod(o.methodName) // checked above
	switch {
	case !(o.tol > 0 && o.tol < 1):
		return cli.BadInput("--tol: %v, must be between 0 and 1", o.tol)
	case o.maxPasses < 1:
		return cli.BadInput("--max-passes: %d, must be at least 1", o.maxPasses)
	case o.strict && o.method == ridge.OneShot:
		return errNoTolerance
	case o.outFormat != "auto" && o.out == "":
		return cli.BadInput("--out-format: it needs --out FILE for the model")
	case o.outFormat != "auto" && o.predict != "":
		return cli.BadInput("--out-format: --predict writes predictions as .npy, and no model")
	}
	if err := cli.OneOf("out-format", o.outFormat, modelFormats...); err != nil {
		return err
	}
	return cli.FirstError(
		o.gammaFlags.check(o.method.Takes(0) == nil ||
			allowDirect && o.method == ridge.Auto),
		cli.CheckOut(o.out),
		cli.CheckOutput("report", o.report),
		cli.CheckOutput("coef", o.coef),
	)
}

// errNoTolerance is the error for --strict with --method one-shot, because this method has no tolerance to reach.
var errNoTolerance = cli.BadInput("--strict: --method one-shot has no tolerance")

// outputs returns the output files.
func (o *resultFlags) outputs() []cli.Output {
	return []cli.Output{
		{Flag: "out", Path: o.out},
		{Flag: "report", Path: o.report},
		{Flag: "coef", Path: o.coef},
	}
}

// runFlags configure threads and progress.
type runFlags struct {
	threads   int
	logFormat string
	cmd       *cobra.Command
}

func (o *runFlags) register(c *cobra.Command) {
	o.cmd = c
	c.Flags().IntVar(&o.threads, "threads", 0, "number of threads (default: all cores)")
	c.Flags().StringVar(&o.logFormat, "log-format", "auto", "progress on standard error: auto, json or none")
	cli.SetValues(c.Flags(), "log-format", cli.LogFormats...)
}

func (o *runFlags) check() error {
	if o.cmd.Flags().Changed("threads") && (o.threads < 1 || o.threads > 1024) {
		return cli.BadInput("--threads: %d, must be 1 to 1024", o.threads)
	}
	return cli.OneOf("log-format", o.logFormat, cli.LogFormats...)
}

// backend returns the default backend of the computation. If --threads is given, it first sets the number of
// threads.
func (o *runFlags) backend() (engine.Backend, error) {
	if o.threads > 0 {
		runtime.GOMAXPROCS(o.threads)
	}
	be, err := engine.Default()
	if err != nil {
		return nil, cli.BadInput("%w", err) // a wrong environment variable, or a missing library
	}
	return be, nil
}

// checkMemory returns an error if a sketch of rows with d features and t targets does not fit into memory. size is
// the requested number of rows of the sketch. A sketch stores
//   - m = min(size, d) rows, a buffer of 1.25·m rows and m vectors of length d; or
//   - the d×d Gram matrix of the rows, its round-off corrections and one copy.
//
// Several sketches may be built in parallel, as --lanes requests. Each of them needs this memory, and merging them
// needs half as much again. If the sketch is copied before it is written, the memory triples.
func (o *sketchFlags) checkMemory(size, d, t int) error {
	lanes := 1.0
	if o.lanes > 1 {
		lanes = 1.5 * float64(o.lanes)
	}
	if o.copied {
		lanes *= 3
	}
	m := min(float64(size), float64(d))
	if keeps, err := (fd.Config{Dim: d, Size: size}).Scatter(); err == nil && keeps {
		return cli.CheckMemory(
			8*lanes*float64(d)*(6*float64(d)+4*float64(t)),
			cli.ManyFeatures,
			"--size: AᵀA of %d features",
			d,
		)
	}
	return cli.CheckMemory(
		8*lanes*float64(d)*(3.25*m+4*float64(t)),
		cli.ManyFeatures,
		"--size: a sketch of %.0f rows of %d features",
		m,
		d,
	)
}

// methodNames returns the names of the solution methods. Methods that need no sketch are included only if
// allowDirect is true.
func methodNames(allowDirect bool) []string {
	var names []string
	for _, m := range ridge.Methods() {
		if allowDirect || !m.IsDirect() {
			names = append(names, m.String())
		}
	}
	return names
}
