package ridge

import (
	"errors"
	"fmt"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// ErrInput tells, by errors.Is, that what was given is at fault: shapes, values, files.
// [ErrShape], [ErrEmpty], [ErrOtherRows], *[GammaError], *[SizeError], *[SingularError] and
// *[FoldsError] are, so are *[fd.NonFiniteError] and *[fd.RangeError], and options that make no
// sense. *[ScaleError] and *[NotConvergedError] are not. It is [engine.ErrInput].
var ErrInput = engine.ErrInput

// ErrShape reports arguments whose dimensions disagree. Nothing was changed. It is
// [engine.ErrShape].
var ErrShape = engine.ErrShape

// errShape is ErrShape in this package's words.
var errShape = rows.ErrShape

// errUnmade reports the zero value of a summary, or nil.
var errUnmade = fmt.Errorf("%w: a summary without dimensions, made by neither NewSummary nor ReadSummary", errShape)

var errNoSource = rows.ErrNoSource

// ErrEmpty reports a fit asked of no rows at all, or of rows that all have weight 0.
var ErrEmpty = badinput.Errorf("ridge: no rows")

// ErrNoConvergence reports that an eigenvalue iteration failed, which finite data
// are not known to cause. It is [engine.ErrNoConvergence].
var ErrNoConvergence = engine.ErrNoConvergence

// unfit makes an ErrShape of other things than dimensions.
var unfit = rows.Unfit

// A GammaError reports a regularisation that the method cannot take.
type GammaError struct {
	Gamma  float64
	Method string
}

func (e *GammaError) Error() string {
	return fmt.Sprintf("ridge: %s cannot take gamma = %v", e.Method, e.Gamma)
}

// Is tells that it is [ErrInput].
func (e *GammaError) Is(target error) bool { return target == ErrInput }

// A ScaleError reports data, their weight or a γ so large or so small that what a
// certificate is made of, up to ‖A‖²‖b‖²/γ², would leave the range of float64: scale
// them by powers of two. A square that has underflowed to 0 is too small; rows that are
// all zero are not. It is not [ErrInput]: each row is in range, and what fails is the
// arithmetic of certificates.
type ScaleError struct {
	What  string  // "‖A‖²", "‖b‖²", "gamma", or "Σw" where [Summary.Decay] is refused
	Value float64 // outside of 2⁻²⁴⁰ to 2²⁴⁰, of Σw below 2⁻⁹⁰⁰
}

func (e *ScaleError) Error() string {
	if e.What == "Σw" {
		return fmt.Sprintf("ridge: after this decay the rows seen would weigh %g, next to nothing: begin a new summary", e.Value)
	}
	return fmt.Sprintf("ridge: %s is %g, too large or too small to certify anything; scale the data so that it is within 1e-72 to 1e72", e.What, e.Value)
}

// ErrUnproven reports a summary with an intercept and weights that an earlier version of
// this package wrote: it didn't record how far from their means rows were when they
// came, so that nothing can be certified. Make it anew from the rows.
var ErrUnproven = errors.New("ridge: the summary was written by a version that did not record how far its weighted rows were moved by centring; nothing can be certified, make it anew")

// ErrOtherRows reports a fit that cannot be of the rows of the summary that it is to
// be used with.
var ErrOtherRows = badinput.Errorf("ridge: the fit is not of the rows of the summary")

// A NotConvergedError reports that the tolerance was not reached. Solutions holds the
// best ones found, one for each γ asked for but those that [Unsolved] is about, with certificates that
// hold. It wraps what Status.Err() is: [ErrRoundOff], [ErrPassLimit], [ErrDiverged], [ErrUnsolved] or
// [ErrUnproved].
type NotConvergedError struct {
	Solutions []*Solution
	Status    Status // why the iteration ended, for the last γ and target that failed
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
