package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// options returns the options of the library.
func (o *solveFlags) options() fdridge.Options {
	opts := fdridge.Options{
		Gammas:    o.gammas,
		Select:    o.criterion(),
		Method:    o.method,
		Tol:       o.tol,
		MaxPasses: o.maxPasses,
		PerTarget: o.each,
	}
	if o.auto {
		opts.Gammas = nil
		opts.Candidates = o.gammas
		opts.GammaTol = o.gammaTol
	}
	return opts
}

// begin returns what a fit needs: an empty report, an empty list of error bounds, and a copy of opts. With this
// copy, the fit uses the backend be and adds the error bound after each pass to the list.
func (o *solveFlags) begin(
	be engine.Backend,
	intercept bool,
	opts fdridge.Options,
) (*report.Fit, *report.Traces, fdridge.Options) {
	f := &report.Fit{
		Asked: report.Asked{
			Command:   o.command,
			Program:   version(),
			Tol:       o.tol,
			Intercept: intercept,
		},
		Cost: report.Cost{Backend: be.Name(), Kernel: be.Capabilities()["kernel"]},
	}
	traces := report.NewTraces(o.tol)
	opts.Backend, opts.Observe = be, traces.Observe
	return f, traces, opts
}

// end adds the result of a fit to the report. err is the error of the fit. If the fit missed its tolerance, end
// does not return this error, because the report states it.
func (o *solveFlags) end(f *report.Fit, traces *report.Traces, found *fdridge.Result, err error) error {
	if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
		advice := "use --method cg"
		if !o.auto && slices.Contains(o.gammas, 0) {
			advice = "use a positive --gamma, which --method cg can solve for"
		}
		return nameFlags(err, advice)
	}
	f.Found = found
	f.Traces, err = traces.Of(found)
	return err
}

// nameFlags rewrites errors of the library to name flags of the command line instead of options. If a fit needs too
// much memory, the error ends with advice.
func nameFlags(err error, advice string) error {
	if e, ok := errors.AsType[*ridge.SizeError](err); ok && e.Rows > 0 {
		return cli.BadInput(
			"--method: an exact fit of %d rows × %d features needs %.3g GiB for the rows and n×n matrices, the "+
				"limit is %.3g GiB%s; %s",
			e.Rows,
			e.Dim,
			float64(e.Bytes)/(1<<30),
			float64(e.Limit)/(1<<30),
			cli.MemoryLimit(),
			advice,
		)
	} else if ok {
		return cli.BadInput(
			"--method: an exact fit of %d features needs %.3g GiB for d×d matrices, the limit is %.3g GiB%s; %s",
			e.Dim,
			float64(e.Bytes)/(1<<30),
			float64(e.Limit)/(1<<30),
			cli.MemoryLimit(),
			advice,
		)
	}
	if e, ok := errors.AsType[*ridge.SingularError](err); ok {
		other := ""
		if e.Method == ridge.Dual {
			other = " or --method exact"
		}
		return cli.BadInput(
			"--gamma: the system is numerically singular at %v (method %s); use a larger gamma%s",
			e.Gamma,
			e.Method,
			other,
		)
	}
	return nameOptions(err)
}

// deliver writes the model, the HTML page and the coefficients, and prints the report. It returns a *shortError in
// two cases: the fit missed its tolerance, or no useful bound is proved for the score of the chosen penalty γ. If
// the tolerance was missed, deliver still writes the model and the coefficients, unless --strict is given or
// [report.Fit.Lost] is true.
func (o *solveFlags) deliver(f *report.Fit, columns []string, target string, stdout io.Writer) error {
	missed := f.Found.Err()
	isWritten := missed == nil || !o.strict && !f.Lost()
	f.Written.Page = o.report
	switch {
	case isWritten && o.predict != "":
		f.Written.Predictions = o.out
	case isWritten:
		f.Written.Model = o.out
	}
	var m *model.Model
	if isWritten && o.predicted == nil && (o.out != "" || o.coef != "") {
		var err error
		m, err = model.New(f.Data.Preparation, f.Found.Solutions, model.Details{
			Intercept: f.Asked.Intercept,
			Size:      f.Size(),
			Tol:       o.tol,
			Passes:    f.Cost.PreparingReads,
			Columns:   columns,
			Target:    target,
			Before:    f.Data.Before,
			Bands:     f.Bands(),
			Classes:   f.Classes.Names(),
		})
		if err != nil {
			return err
		}
		for i, c := range f.Coverage {
			m.Fits[i].Coverage = c
		}
	}
	if err := f.FindRemedies(); err != nil {
		return err
	}
	if err := f.AsFitted(); err != nil {
		return err
	}
	if o.out != "" && isWritten {
		var content func(io.Writer) error
		switch {
		case o.predicted != nil:
			content = o.writePredictions
		case o.writesArrays():
			content = m.WriteArrays
		default:
			content = m.Write
		}
		if err := safefile.Write(o.out, content); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if o.report != "" {
		if err := safefile.Write(o.report, f.WritePage); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if o.coef != "" && isWritten { // a row for each target and γ: the intercept and the coefficients
		all := m.Weights().RawMatrix()
		err := safefile.Write(o.coef, func(w io.Writer) error {
			return npy.Write(w, all.Rows, all.Cols, all.Data)
		})
		if err != nil {
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
		if doubt := f.Doubt(); doubt != "" {
			return &shortError{message: "warning: " + doubt, isWritten: true}
		}
		return nil
	}
	return &shortError{o.shortfall(f, isWritten), isWritten, missed}
}

// A shortError reports that a fit missed its tolerance, or that no useful bound is proved for the choice of the
// penalty.
type shortError struct {
	message   string
	isWritten bool  // the result was written
	err       error // a *[ridge.NotConvergedError], or nil
}

func (e *shortError) Error() string { return e.message }
func (e *shortError) Unwrap() error { return e.err }

// warnTolerance prints a warning if --tol is smaller than the precision of float64 allows.
func (o *solveFlags) warnTolerance(bar *cli.Progress, stderr io.Writer) {
	if o.tol < ridge.LeastTol && o.method != ridge.OneShot {
		bar.Warn(
			stderr,
			fmt.Sprintf(
				"--tol %g may not be reached: rounding the coefficients to float64 causes a relative error of up to 1.1e-16",
				o.tol,
			),
		)
	}
}

// shortfall returns the message for a fit that missed its tolerance. isWritten tells whether the model was written in
// spite of the miss.
func (o *solveFlags) shortfall(f *report.Fit, isWritten bool) string {
	text := f.Unsolved()
	again := "a larger --tol"
	if short := f.Shortfall(); short != "" && text != "" {
		text += "; " + short
	} else {
		text += short
	}
	switch status := f.Short(); {
	case status == ridge.RoundOff && o.tol < ridge.LeastTol:
		text += "; the coefficients have all the precision of float64"
	case status == ridge.RoundOff:
		text += "; round-off prevents a smaller bound with this method"
	case status == ridge.PassLimit && o.once:
		text += "; the rows can be read only once; with --cache DIR further passes can reduce the error"
	case status == ridge.PassLimit:
		text += fmt.Sprintf("; stopped by --max-passes %d", o.maxPasses)
		again = "a larger --max-passes"
	case status == ridge.Diverged:
		text += "; the iteration diverged because gamma is too small for this sketch"
	}
	if len(f.Remedies) > 0 {
		text += "; this may help: " + strings.Join(f.Remedies, ", or ")
	}
	if o.resumes != "" {
		text += fmt.Sprintf("; the same command with %s resumes from checkpoint %s", again, o.resumes)
	}
	none := "no model was written"
	if o.predict != "" {
		none = "no predictions were written"
	}
	switch {
	case isWritten && o.predict != "":
		text += "; the predictions of the best coefficients were written"
	case isWritten && f.Short() == ridge.MinimumNorm && (o.out != "" || o.coef != ""):
		text += "; its coefficients were written"
	case isWritten && (o.out != "" || o.coef != ""):
		text += "; the best coefficients were written with their proved bounds"
	case isWritten:
	case o.strict:
		text += "; " + none + " (--strict)"
	default:
		text += "; nothing is proved, " + none
	}
	if isWritten {
		return "warning: " + text
	}
	return text
}
