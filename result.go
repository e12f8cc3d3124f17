package fdridge

import (
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// A Result is the outcome of a [Fit].
type Result struct {
	// one for each γ of Options.Gammas, in the same order; one if γ was chosen, or with Options.PerTarget
	Solutions []*ridge.Solution
	Method    ridge.Method // the method that ran
	// why the fit stopped; if the tolerance was missed, the reason for the last γ and target that missed it
	Status ridge.Status
	Choice *choose.GammaChoice // how γ was chosen; nil if γ was given, or with Options.PerTarget
	// how the γ of each target was chosen; nil without Options.PerTarget, or if γ was given
	Each    *choose.TargetChoice
	Bands   *choose.BandChoice // the penalties of Options.Bands and how they were chosen; nil without bands
	Classes *Decisions         // the decisions about the training rows; nil without Options.Classes
	Summary *ridge.Summary     // nil for a direct method; of the projected rows if some columns have no penalty
	Passes  int                // number of passes over the data
	Trace   []Step             // the steps of the fit, in order
	// ColumnSpread is the largest norm of a feature column divided by the smallest nonzero norm. The columns are first
	// divided by the roots of their penalties. A sketching method computes a lower bound instead. 0 means unknown.
	ColumnSpread float64

	outcome plan.Outcome
	asked   []float64 // Options.Gammas
}

// A Step is one step of a fit, for example reading the rows or choosing γ.
type Step struct {
	Stage  Stage
	Method ridge.Method  // the method that made the step
	Passes int           // number of passes over the data
	Reason reason.Reason // why the step was made
	Err    error         // why the outcome of the step was discarded; nil if it was used
}

// Decisions has the scores of a classification on the training rows.
type Decisions struct {
	Training []*classes.Score // for each solution; nil if the rows can be read only once
	// LeftOut scores the classification of each training row by a fit without this row, at the chosen γ. It is nil
	// unless γ was chosen by leave-one-out errors.
	LeftOut *classes.Score
}

// Best returns the solution at the chosen γ. If γ was given, Best returns the solution with the smallest GCV. It
// compares upper bounds on GCV, summed over all targets.
func (r *Result) Best() *ridge.Solution {
	c, err := choose.LeastGCV(r.Solutions, -1)
	if err != nil || c.Index < 0 {
		return nil // no γ at all
	}
	return r.Solutions[c.Index]
}

// Reason returns why the method was chosen. If QR had to read the rows again, it returns the reason for this. The
// result is zero if the user requested the method and no pass was repeated.
func (r *Result) Reason() reason.Reason {
	if len(r.Trace) == 0 {
		return reason.Reason{}
	}
	why := reason.Reason{}
	for i, s := range r.Trace {
		first := i == 0 || r.Trace[i-1].Stage == Projecting
		if first || s.Stage == Reading && s.Passes > 0 {
			why = s.Reason
		}
	}
	return why
}

// Err returns nil if every solution reached the tolerance, otherwise a *[ridge.NotConvergedError].
func (r *Result) Err() error {
	if r.Status.Err() == nil {
		return nil
	}
	return &ridge.NotConvergedError{Solutions: r.Solutions, Status: r.Status}
}

// Unsolved returns the γ of Options.Gammas that have no solution; see [ridge.Unsolved]. Trace has the
// reasons.
func (r *Result) Unsolved() (gammas []float64) {
	if r.Status != ridge.Unsolved {
		return nil
	}
	for _, g := range r.asked {
		if !slices.ContainsFunc(r.Solutions, func(f *ridge.Solution) bool {
			return f.Gamma == g
		}) {
			gammas = append(gammas, g)
		}
	}
	return gammas
}

// Remedies returns changes of options that may help a fit that missed its tolerance, the most promising change
// first. The list is empty if Err is nil. Remedies returns the errors of [plan.New].
func (r *Result) Remedies() ([]plan.Remedy, error) {
	if r.Err() == nil {
		return nil, nil
	}
	return plan.Remedies(r.outcome)
}
