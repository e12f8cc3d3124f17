package ridge

import (
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// ErrInput matches, with errors.Is, every error that the caller's input causes: invalid shapes, values, files or
// options. Examples are [ErrShape], [ErrEmpty], [ErrOtherRows], *[GammaError], *[SizeError], *[SingularError],
// *choose.FoldsError, *[fd.NonFiniteError] and *[fd.RangeError]. A *[ScaleError] or a *[NotConvergedError] does not
// match ErrInput. ErrInput is [engine.ErrInput].
var ErrInput = engine.ErrInput

// ErrShape reports arguments whose dimensions disagree. The call that returns ErrShape has changed nothing. ErrShape
// is [engine.ErrShape].
var ErrShape = engine.ErrShape

// errShape is ErrShape with the prefix of this package.
var errShape = rows.ErrShape

// errZeroValue reports a summary that is nil or the zero value.
var errZeroValue = fmt.Errorf("%w: the summary is nil or a zero Summary; use NewSummary or ReadSummary", errShape)

var errNoSource = rows.ErrNoSource

// ErrEmpty reports that a fit has no rows, or that all its rows have weight 0.
var ErrEmpty = errtext.BadInput("ridge: no rows")

// ErrNoConvergence reports that the computation of eigenvalues did not converge. No finite data are known to cause
// this error. ErrNoConvergence is [engine.ErrNoConvergence].
var ErrNoConvergence = engine.ErrNoConvergence

// unfit returns an ErrShape with the given message.
var unfit = rows.Unfit

// A GammaError reports that the penalty γ is negative or not finite, or that the method does not support this
// value.
type GammaError struct {
	Gamma  float64
	Method string
}

func (e *GammaError) Error() string {
	if !(e.Gamma >= 0) || math.IsInf(e.Gamma, 1) {
		return fmt.Sprintf("ridge: gamma = %v, but gamma must be finite and not negative", e.Gamma)
	}
	return fmt.Sprintf("ridge: %s does not support gamma = %v: its error bounds divide by gamma", e.Method, e.Gamma)
}

// Is reports whether target is [ErrInput].
func (e *GammaError) Is(target error) bool { return target == ErrInput }

// A ScaleError reports that data, weights or a penalty γ are so large or small that certificates would overflow or
// underflow. Certificates compute numbers up to ‖A‖²‖b‖²/γ², for the rows A and a target b. To avoid the
// error, multiply the data by a power of two. A nonzero row whose square underflows to 0 is too small. A row of
// zeros is allowed.
//
// A ScaleError does not match [ErrInput], because each row alone is in range.
type ScaleError struct {
	What  string  // "‖A‖²", "‖b‖²", "gamma", or "Σw" for [Summary.Decay]
	Value float64 // outside 2⁻²⁴⁰ to 2²⁴⁰; for Σw, less than 2⁻⁹⁰⁰
}

func (e *ScaleError) Error() string {
	if e.What == "Σw" {
		return fmt.Sprintf(
			"ridge: after this decay the weights would sum to %g, which is too small: start a new summary",
			e.Value,
		)
	}
	return fmt.Sprintf(
		"ridge: %s is %g, too large or too small to certify anything; scale the data so that it is within 1e-72 to 1e72",
		e.What,
		e.Value,
	)
}

// ErrUnproven reports that a summary cannot certify anything, because an old version of this package has written
// it. For weighted rows with an intercept, that version did not record a bound on the round-off of centring.
// Summarise the rows again.
var ErrUnproven = errors.New(
	"ridge: nothing can be certified: the summary was written by a version that did not record the round-off " +
		"of centring weighted rows; summarise the rows again",
)

// ErrOtherRows reports that a solution was not computed from the given rows. These are the rows of a summary, or
// the rows that were given for the standard errors of the solution.
var ErrOtherRows = errtext.BadInput("ridge: the fit is not of these rows")

// A NotConvergedError reports that the tolerance was not reached for at least one penalty γ and target. Solutions
// holds the best solution for each γ. The certificates of these solutions are proved as usual. A γ without a
// solution is left out ([Unsolved]). The error wraps Status.Err(): [ErrRoundOff], [ErrPassLimit], [ErrDiverged],
// [ErrUnsolved], [ErrUnproved] or [ErrDependent].
type NotConvergedError struct {
	Solutions []*Solution
	Status    Status // why the iteration stopped, for the last γ and target that missed the tolerance
}

func (e *NotConvergedError) Unwrap() error { return e.Status.Err() }

func (e *NotConvergedError) Error() string {
	worst := 0.0
	for _, f := range e.Solutions {
		for j := range f.Targets {
			if r := f.Targets[j].RelativeErrorBound; !(r <= worst) {
				worst = r
			}
		}
	}
	return fmt.Sprintf("ridge: tolerance not reached (%s); certified relative error %v", e.Status, worst)
}
