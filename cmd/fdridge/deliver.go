package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// options returns the options of the fit.
func (o *solveFlags) options() fdridge.Options {
	opts := fdridge.Options{Gammas: o.gammas, Select: o.criterion(), Method: o.method, Tol: o.tol, MaxPasses: o.maxPasses}
	if o.auto {
		opts.Gammas, opts.Candidates, opts.GammaTol = nil, o.gammas, o.gammaTol
	}
	return opts
}

// begin begins the report of a fit, and completes its options.
func (o *solveFlags) begin(be engine.Backend, intercept bool, opts fdridge.Options) (*report.Fit, *report.Traces, fdridge.Options) {
	f := &report.Fit{
		Asked: report.Asked{Command: o.command, Program: version(), Tol: o.tol, Intercept: intercept},
		Cost:  report.Cost{Backend: be.Name(), Kernel: be.Capabilities()["kernel"]},
	}
	traces := report.NewTraces(o.tol)
	opts.Backend, opts.Observe = be, traces.Observe
	return f, traces, opts
}

// end takes into the report what was found. That the tolerance was not reached is for the
// report to say.
func (o *solveFlags) end(f *report.Fit, traces *report.Traces, found *fdridge.Result, err error) error {
	if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
		return nameFlags(err)
	}
	f.Found = found
	f.Traces, err = traces.Of(found)
	return err
}

// nameFlags names the flags in place of what the library advises its callers to do.
func nameFlags(err error) error {
	if e, ok := errors.AsType[*ridge.SizeError](err); ok && e.Rows > 0 {
		return badInput("--method: an exact fit of %d rows of %d features needs %.3g GiB for them and its n×n matrices, the limit is %.3g: say --method cg", e.Rows, e.Dim, float64(e.Bytes)/(1<<30), float64(e.Limit)/(1<<30))
	} else if ok {
		return badInput("--method: an exact fit of %d features needs %.3g GiB for its d×d matrices, the limit is %.3g: say --method cg", e.Dim, float64(e.Bytes)/(1<<30), float64(e.Limit)/(1<<30))
	}
	if e, ok := errors.AsType[*ridge.SingularError](err); ok {
		other := ""
		if e.Method == ridge.Dual {
			other = ", or say --method exact"
		}
		return badInput("--gamma: the system is numerically singular at %v (%s); use a larger one%s", e.Gamma, e.Method, other)
	}
	return nameOptions(err)
}

// deliver writes the model, the page and the weights, and prints the report. Of a fit that is not
// certified to the tolerance the error is a *shortError, and the model and the weights are
// written all the same, unless --strict says not to or nothing was found, see report.Fit.Lost.
func (o *solveFlags) deliver(f *report.Fit, columns []string, target string, stdout io.Writer) error {
	missed := f.Found.Err()
	keeps := missed == nil || !o.strict && !f.Lost()
	f.Written.Page = o.report
	if keeps {
		f.Written.Model = o.out
	}
	prep, solutions := f.Data.Preparation, f.Found.Solutions
	kept := func() (*model.Model, error) {
		return model.New(prep, solutions, model.Details{
			Intercept: f.Asked.Intercept, Size: f.Size(), Tol: o.tol, Passes: f.Cost.PreparingReads, Columns: columns, Target: target,
			Before: f.Data.Before, Bands: f.Bands(),
		})
	}
	if err := f.FindRemedies(); err != nil {
		return err
	}
	if err := f.AsFitted(); err != nil {
		return err
	}
	if o.out != "" && keeps {
		if err := writeModel(o.out, kept); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if o.report != "" {
		if err := atomicfile.Write(o.report, f.WritePage); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if o.coef != "" && keeps {
		if err := writeCoef(o.coef, kept); err != nil {
			return fmt.Errorf("--coef: %w", err)
		}
	}
	write := f.WriteText
	if o.json {
		write = f.WriteJSON
	}
	if err := write(stdout); err != nil {
		return err
	}
	if missed == nil {
		return nil
	}
	return &shortError{o.shortfall(f, keeps), keeps, missed}
}

// A shortError says what is certified of a fit that is not certified to the tolerance.
type shortError struct {
	message string
	kept    bool  // what was found is the result
	err     error // a *[ridge.NotConvergedError]
}

func (e *shortError) Error() string { return e.message }
func (e *shortError) Unwrap() error { return e.err }

// doubt says, before passes are spent on it, that the tolerance may not be reached.
func (o *solveFlags) doubt(bar *progress, stderr io.Writer) {
	if o.tol < ridge.LeastTol && o.method != ridge.OneShot {
		bar.warn(stderr, fmt.Sprintf("--tol %g may not be reached: rounding the weights to float64 alone puts them up to 1.1e-16 off", o.tol))
	}
}

// shortfall says what is certified, what was asked for, why it is not reached, what would help,
// and what was written.
func (o *solveFlags) shortfall(f *report.Fit, kept bool) string {
	text, again := f.Unsolved(), "a larger --tol"
	if short := f.Shortfall(); short != "" && text != "" {
		text += "; " + short
	} else {
		text += short
	}
	switch status := f.Short(); {
	case status == ridge.RoundOff && o.tol < ridge.LeastTol:
		text += "; float64 holds no more of the weights"
	case status == ridge.RoundOff:
		text += "; round-off allows no smaller error for these data by this method"
	case status == ridge.PassLimit && o.once:
		text += "; the rows could be read once, and further passes might correct the weights: --cache DIR keeps the rows for these"
	case status == ridge.PassLimit:
		text += fmt.Sprintf("; stopped by --max-passes %d", o.maxPasses)
		again = "a larger --max-passes"
	case status == ridge.Diverged:
		text += "; the iteration diverged, gamma is too small for this sketch"
	}
	if len(f.Remedies) > 0 {
		text += "; what would help: " + strings.Join(f.Remedies, ", or ")
	}
	if o.resumes != "" {
		text += fmt.Sprintf("; the same command with %s goes on from checkpoint %s", again, o.resumes)
	}
	switch {
	case kept && (o.out != "" || o.coef != ""):
		text += "; the best weights found are written, with what is certified of them (--strict: none)"
	case kept:
	case o.strict:
		text += "; no model and no weights are written (--strict)"
	default:
		text += "; nothing was found that is worth keeping, no model and no weights are written"
	}
	if kept {
		return "warning: " + text
	}
	return text
}

// writeModel writes the fits, whole or not at all.
func writeModel(name string, kept func() (*model.Model, error)) error {
	m, err := kept()
	if err != nil {
		return err
	}
	return atomicfile.Write(name, m.Write)
}

// writeCoef writes the weights as an array, a row [intercept, weights…] for each γ and
// target, in the units of the file where they can be.
func writeCoef(name string, kept func() (*model.Model, error)) error {
	m, err := kept()
	if err != nil {
		return err
	}
	all := m.Weights().RawMatrix()
	return atomicfile.Write(name, func(w io.Writer) error { return npy.Write(w, all.Rows, all.Cols, all.Data) })
}
