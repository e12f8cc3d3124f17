package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// A result is a finished fit, for the report and the model.
type result struct {
	o       *solveFlags
	backend engine.Backend
	source  dataset.Source // nil where there is but a sketch
	prep    model.Preparation

	intercept      bool
	data           string // the files, or the sketch
	format, target string
	targetNames    []string // where there are any
	columns        []string // of a csv header
	nnz            int64
	scans, reads   int // reads before the method itself, and in all

	method   string
	reason   string  // why auto chose it
	size     int     // m, 0 without a sketch
	sizedFor float64 // the error that a pilot chose it for
	fits     []*ridge.Solution
	sum      *ridge.Summary     // nil without a sketch
	traces   []*trace           // of every γ and target that was refined
	choice   *ridge.GammaChoice // nil: γ is given
	failure  *ridge.NotConvergedError
	sketched time.Duration
	keep     *keeper // nil: the state is kept nowhere
	team     *team   // nil: this process alone
	ranks    []rankRecord
	total    time.Duration
}

// options are what the flags of fit and solve have in common.
func (r *result) options(bar *progress) ridge.Options {
	o := r.o
	opts := ridge.Options{
		Tol: o.tol, MaxPasses: o.maxPasses, PlainFD: !o.robust, Backend: r.backend,
		Observe: r.observe, Progress: r.progress(bar), Journal: r.keep.journal(), Reducer: r.team.reducer(),
	}
	if o.method != "auto" {
		opts.Method = o.method
	}
	if opts.Gammas = o.gammas; o.auto {
		opts.Gammas, opts.Candidates = nil, o.gammas
	}
	return opts
}

// progress shows how far a fit is, and has the checkpoint follow; nil for neither.
func (r *result) progress(bar *progress) func(ridge.Stage, ridge.Progress) {
	if bar.quiet() && r.keep == nil {
		return nil
	}
	var refining func(ridge.Progress)
	return func(s ridge.Stage, p ridge.Progress) {
		if s != ridge.Refining {
			if tell := bar.rows(s.String(), r.source); tell != nil {
				tell(p.Rows)
			}
			return
		}
		if refining == nil {
			refining = r.keep.follow(bar.passes(r.rows(r.sum), r.sum.Config().Dim))
		}
		refining(p)
	}
}

// rows is how many this process reads in a pass, -1 while unknown.
func (r *result) rows(sum *ridge.Summary) int64 {
	if r.team == nil || r.source == nil {
		return sum.Rows()
	}
	n, _, _ := r.source.Dims()
	return n
}

// take takes in what was found.
func (r *result) take(found *ridge.Result, err error) error {
	if errors.As(err, &r.failure) {
		err = nil
	}
	if err != nil {
		return err
	}
	r.fits, r.method, r.reason, r.choice, r.sum, r.sizedFor = found.Solutions, found.Method, found.Reason, found.Choice, found.Summary, found.SizedFor
	if r.sum == nil {
		return nil
	}
	cfg := r.sum.Config()
	r.size = min(cfg.Size, cfg.Dim)
	if iteration, err := ridge.ParseMethod(r.method); err == nil {
		return r.predict(r.sum, iteration)
	}
	return nil
}

// deliver prints the report and writes the model. A fit that didn't converge is
// reported, but doesn't replace a model.
func (r *result) deliver(stdout io.Writer) error {
	if r.o.out != "" && r.failure == nil {
		if err := r.writeModel(r.o.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if r.o.report != "" {
		if err := r.writePage(r.o.report); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if r.o.coef != "" && r.failure == nil {
		if err := r.writeCoef(r.o.coef); err != nil {
			return fmt.Errorf("--coef: %w", err)
		}
	}
	report := r.human
	if r.o.json {
		report = r.writeJSON
	}
	if err := report(stdout); err != nil {
		return err
	}
	switch {
	case r.failure == nil:
		return nil
	case r.o.out != "" || r.o.coef != "":
		return fmt.Errorf("%w; no model and no weights are written", r.failure)
	}
	return r.failure
}
