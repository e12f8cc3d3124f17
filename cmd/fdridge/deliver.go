package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/atomicfile"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// begin begins the report of a fit, and makes the options that the flags of fit and solve
// stand for.
func (o *solveFlags) begin(be engine.Backend, intercept bool) (*report.Fit, *report.Traces, ridge.Options) {
	f := &report.Fit{
		Asked: report.Asked{Command: o.command, Program: version(), Tol: o.tol, PlainFD: !o.robust, Intercept: intercept},
		Cost:  report.Cost{Backend: be.Name(), Kernel: be.Capabilities()["kernel"]},
	}
	traces := report.NewTraces(o.tol, !o.robust)
	opts := ridge.Options{Tol: o.tol, MaxPasses: o.maxPasses, PlainFD: !o.robust, Backend: be, Observe: traces.Observe}
	if o.method != "auto" {
		opts.Method = o.method
	}
	if opts.Gammas = o.gammas; o.auto {
		opts.Gammas, opts.Candidates = nil, o.gammas
		opts.Select, opts.GammaTol = o.criterion(), o.gammaTol
	}
	return f, traces, opts
}

// end takes into the report what was found. That the tolerance was not reached is for the
// report to say.
func (o *solveFlags) end(f *report.Fit, traces *report.Traces, found *ridge.Result, err error) error {
	if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
		return nameFlags(err)
	}
	f.Found = found
	f.Traces, err = traces.Of(found)
	return err
}

// nameFlags names the flags in place of what the library advises its callers to do.
func nameFlags(err error) error {
	if e, ok := errors.AsType[*ridge.SizeError](err); ok {
		return badInput("--method: an exact fit of %d features needs %.3g GiB for its d×d matrices, the limit is %.3g: say --method cg", e.Dim, float64(e.Bytes)/(1<<30), float64(e.Limit)/(1<<30))
	}
	if errors.Is(err, ridge.ErrNoRange) || errors.Is(err, ridge.ErrDiverged) {
		return fmt.Errorf("%w: --method cg", err)
	}
	return err
}

// deliver writes the model, the page and the weights, and prints the report. A fit that
// didn't converge is reported, but doesn't replace a model.
func (o *solveFlags) deliver(f *report.Fit, columns []string, target string, stdout io.Writer) error {
	failure := f.Found.Err()
	f.Written.Page = o.report
	if failure == nil {
		f.Written.Model = o.out
	}
	kept := func() (*model.Model, error) {
		return model.New(f.Data.Preparation, f.Found.Solutions, model.Details{
			Intercept: f.Asked.Intercept, Size: f.Size(), Tol: o.tol, Passes: f.Cost.PreparingReads, Columns: columns, Target: target,
		})
	}
	if o.out != "" && failure == nil {
		if err := writeModel(o.out, kept); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if o.report != "" {
		if err := atomicfile.Write(o.report, f.WritePage); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if o.coef != "" && failure == nil {
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
	failure = nameFlags(failure)
	if failure != nil && (o.out != "" || o.coef != "") {
		return fmt.Errorf("%w; no model and no weights are written", failure)
	}
	return failure
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
