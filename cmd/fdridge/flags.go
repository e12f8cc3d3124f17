package main

import (
	"runtime"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/fdridge/fdridge/ridge"
)

// sketchFlags say how the rows are summarised.
type sketchFlags struct {
	sizeText  string
	size      int // m, that sizeText says
	lanes     int // 0: as many as there are cores, for rows enough
	intercept bool
	copied    bool // the sketch is copied whenever it is written
}

func (o *sketchFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.sizeText, "size", "256", "rows m of the sketch, more make each pass count for more")
	f.IntVar(&o.lanes, "lanes", 0, "sketches that are fed side by side, each by a core, and merged: for the same lanes results are the same bits on any number of cores, and on any machine with the same kernel and kc (see doctor); 0: one for each core, or fewer where there is little to do or to hold; exact makes no sketch, and --cv one for each fold")
	f.BoolVar(&o.intercept, "intercept", true, "fit an intercept, unpenalised; false: none, but --standardize subtracts the means all the same (not those of sparse files), as StandardScaler and Ridge(fit_intercept=False) in scikit-learn, and the model has the intercept that this makes in the units of the file")
}

func (o *sketchFlags) check() error {
	var err error
	if o.size, err = strconv.Atoi(o.sizeText); err != nil {
		return badInput("--size: %q is no number of rows; plan --error E names the size for a relative error E", excerpt.Of(o.sizeText))
	} else if o.size < 1 {
		return badInput("--size: %d, the sketch needs at least one row", o.size)
	}
	if o.lanes < 0 || o.lanes > ridge.MaxLanes {
		return badInput("--lanes: %d, must be from 1 to %d, or 0 for the machine's choice", o.lanes, ridge.MaxLanes)
	}
	return nil
}

func (o *sketchFlags) config(be engine.Backend) ridge.SummaryConfig {
	return ridge.SummaryConfig{Size: o.size, Intercept: o.intercept, Lanes: o.lanes, Backend: be}
}

// resultFlags say where to put solutions, and whether to keep those that are short of the tolerance.
type resultFlags struct {
	out, coef, report string
	json, strict      bool
}

// solveFlags say which solutions are wanted, how exact, and where to put them.
type solveFlags struct {
	gammaFlags
	methodName string
	method     ridge.Method
	tol        float64
	maxPasses  int
	resultFlags

	command string // how to run this again
	once    bool   // the rows could be read once
	resumes string // the checkpoint that a run that has come to its limit goes on from; "" for none
}

func newSolveFlags() solveFlags { return solveFlags{gammaFlags: newGammaFlags()} }

// register adds the flags; methods are those that --method may name, selectMore what --select
// may name besides.
func (o *solveFlags) register(f *pflag.FlagSet, method, methods, selectMore string) {
	o.gammaFlags.register(f, selectMore)
	f.StringVar(&o.methodName, "method", method, methods)
	f.Float64Var(&o.tol, "tol", 1e-8, "relative error of the weights to certify, by further passes")
	f.IntVar(&o.maxPasses, "max-passes", 500, "most refining passes over the data")
	f.StringVar(&o.out, "out", "", "write the model here, as JSON")
	f.StringVar(&o.report, "report", "", "write a page about the fit here, one HTML file")
	f.StringVar(&o.coef, "coef", "", "write the weights here too, as .npy: a row [intercept, weights…] for each γ and target")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVar(&o.strict, "strict", false, "where --tol is not reached write no model and no weights, and exit with 1; otherwise the best found are written, with what is certified of them, and the exit code is 3")
}

// check validates the flags; direct methods are for fit.
func (o *solveFlags) check(direct bool) error {
	if err := oneOf("method", o.methodName, methodNames(direct)...); err != nil {
		return err
	}
	o.method, _ = ridge.ParseMethod(o.methodName) // one of these
	switch {
	case !(o.tol > 0 && o.tol < 1):
		return badInput("--tol: %v, must be between 0 and 1", o.tol)
	case o.maxPasses < 1:
		return badInput("--max-passes: %d, must be at least 1", o.maxPasses)
	case o.strict && o.method == ridge.OneShot:
		return errNoTolerance
	}
	return firstError(o.gammaFlags.check(o.method.Takes(0) == nil || direct && o.method == ridge.Auto), checkOut(o.out), checkOutput("report", o.report), checkOutput("coef", o.coef))
}

// errNoTolerance refuses --strict where it would promise what nothing checks.
var errNoTolerance = badInput("--strict: --method one-shot has no tolerance to reach")

// outputs are the files that are written.
func (o *resultFlags) outputs() []output {
	return []output{{"out", o.out}, {"report", o.report}, {"coef", o.coef}}
}

// runFlags say how a command runs, whatever it computes.
type runFlags struct {
	threads   int
	logFormat string
	cmd       *cobra.Command
}

func (o *runFlags) register(c *cobra.Command) {
	o.cmd = c
	c.Flags().IntVar(&o.threads, "threads", 0, "threads to use (default: all)")
	c.Flags().StringVar(&o.logFormat, "log-format", "auto", "progress on standard error: auto (a bar on a terminal), json (a line a second) or none")
}

func (o *runFlags) check() error {
	if o.cmd.Flags().Changed("threads") && (o.threads < 1 || o.threads > 1024) {
		return badInput("--threads: %d, must be 1 to 1024", o.threads)
	}
	return oneOf("log-format", o.logFormat, logFormats...)
}

// backend sets the number of threads and returns what computes.
func (o *runFlags) backend() (engine.Backend, error) {
	if o.threads > 0 {
		runtime.GOMAXPROCS(o.threads)
	}
	be, err := engine.Default()
	if err != nil {
		return nil, badInput("%w", err) // a wrong environment variable, or a missing library
	}
	return be, nil
}
