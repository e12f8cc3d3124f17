package fdridge

import (
	"slices"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// A Result is what [Fit] found, and how.
type Result struct {
	Solutions []*ridge.Solution   // one for each γ of Options.Gammas, in their order; or that of the γ that was chosen
	Method    ridge.Method        // the method that ran
	Status    ridge.Status        // why it stopped: of the last γ and target that missed the tolerance, if any did
	Choice    *choose.GammaChoice // how γ was chosen; nil if Options.Gammas has it
	Bands     *choose.BandChoice  // the penalties of Options.Bands and how they were chosen; nil if there are none
	Summary   *ridge.Summary      // nil for a direct method
	Passes    int                 // reads of the data
	Trace     []Step              // what was done, in order
	// ColumnSpread is the largest norm of a feature divided by the least that is not zero, as they were fitted; a lower bound if it
	// follows from a sketch, and 0 if nothing is known.
	ColumnSpread float64

	outcome plan.Outcome
	asked   []float64 // Options.Gammas
}

// A Step is one thing that a fit did.
type Step struct {
	Stage  Stage
	Method ridge.Method // the method that it was done by
	Passes int          // reads of the data
	Reason ridge.Reason // why
	Err    error        // why its outcome was given up, nil if it was used
}

// Best returns the solution at the γ that was chosen. If several γ were given, it is the one with the least proved GCV over all targets.
func (r *Result) Best() *ridge.Solution {
	c, err := choose.LeastGCV(r.Solutions, -1)
	if err != nil || c.Index < 0 {
		return nil // no γ at all
	}
	return r.Solutions[c.Index]
}

// Reason returns why the method ran, or why QR read the rows once more; its zero value if the method was asked for and sufficed.
func (r *Result) Reason() ridge.Reason {
	if len(r.Trace) == 0 {
		return ridge.Reason{}
	}
	why := r.Trace[0].Reason
	for _, s := range r.Trace {
		if s.Stage == Reading && s.Passes > 0 {
			why = s.Reason
		}
	}
	return why
}

// Err returns nil if the tolerance was reached, otherwise a *[ridge.NotConvergedError].
func (r *Result) Err() error {
	if r.Status.Err() == nil {
		return nil
	}
	return &ridge.NotConvergedError{Solutions: r.Solutions, Status: r.Status}
}

// Unsolved returns the γ of Options.Gammas that have no solution, see [ridge.Unsolved]. Trace tells why.
func (r *Result) Unsolved() (gammas []float64) {
	if r.Status != ridge.Unsolved {
		return nil
	}
	for _, g := range r.asked {
		if !slices.ContainsFunc(r.Solutions, func(f *ridge.Solution) bool { return f.Gamma == g }) {
			gammas = append(gammas, g)
		}
	}
	return gammas
}

// Remedies returns the changes of options that may help a fit that missed its tolerance, the most certain first; none if Err is nil.
// Errors are those of [plan.New].
func (r *Result) Remedies() ([]plan.Remedy, error) {
	if r.Err() == nil {
		return nil, nil
	}
	return plan.Remedies(r.outcome)
}
