package model

import (
	"fmt"
	"math"
	"strings"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge"
)

// ErrInput tells, by errors.Is, that what was given is at fault: shapes, values, files. All
// errors that are named here are, but for *[ShortfallError]. It is [engine.ErrInput].
var ErrInput = engine.ErrInput

// ErrShape reports arguments whose dimensions disagree. It is [engine.ErrShape].
var ErrShape = engine.ErrShape

// errShape is ErrShape in this package's words.
var errShape = fmt.Errorf("model: %w", engine.ErrShape)

// errUnmade reports the zero value of a predictor.
var errUnmade = fmt.Errorf("%w: a predictor that Model.Predictor has not made", errShape)

// errNoSource reports a nil source.
var errNoSource = fmt.Errorf("%w: no source of rows", errShape)

// What keeps the certificate of a model from making intervals alone.
var (
	// ErrUnrecorded reports a model that was written before models kept the weights
	// that their certificate is about.
	ErrUnrecorded = badinput.Errorf("model: it was written before models kept what an interval needs; fit once more, or give a summary")
	// ErrMeans reports a model with an intercept: its intervals depend on how far a row is
	// from the mean of the rows of the fit, which only a summary has.
	ErrMeans = badinput.Errorf("model: it has an intercept, for which an interval needs the means of the rows too; give a summary of them")
)

// because says what happened, and why where that is known.
func because(what string, err error) string {
	if err == nil {
		return what
	}
	return what + ": " + err.Error()
}

// A FormatError reports a text that is no model, or whose parts contradict each other.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return because("model: this is not a model", e.Err) }
func (e *FormatError) Unwrap() error { return e.Err }

// Is tells that it is [ErrInput].
func (e *FormatError) Is(target error) bool { return target == ErrInput }

// A VersionError reports a model of a version that this package does not read.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("version %d of the model format, this program reads 1 to %d", e.Version, version)
}

// Is tells that it is [ErrInput].
func (e *VersionError) Is(target error) bool { return target == ErrInput }

// A GammaError reports a γ that the model has no fit for. Gamma is NaN where none was
// chosen of several.
type GammaError struct {
	Gamma float64
	Has   []float64 // those that there are
}

func (e *GammaError) Error() string {
	var has strings.Builder
	for i, g := range e.Has {
		if i > 0 {
			has.WriteString(", ")
		}
		fmt.Fprint(&has, g)
	}
	if math.IsNaN(e.Gamma) {
		return fmt.Sprintf("model: there are fits for gamma = %s; choose one", &has)
	}
	return fmt.Sprintf("model: gamma = %v is not among the fits, gamma = %s", e.Gamma, &has)
}

// Is tells that it is [ErrInput].
func (e *GammaError) Is(target error) bool { return target == ErrInput }

// A PreparationError reports rows that cannot be prepared as those of the fit were.
type PreparationError struct{ Err error }

func (e *PreparationError) Error() string {
	return because("model: the rows cannot be prepared", e.Err)
}
func (e *PreparationError) Unwrap() error { return e.Err }

// Is tells that it is [ErrInput].
func (e *PreparationError) Is(target error) bool { return target == ErrInput }

// A CertificateError reports a certificate that intervals are to follow from, and that
// cannot be read.
type CertificateError struct{ Err error }

func (e *CertificateError) Error() string {
	return because("model: its certificate cannot be read", e.Err)
}
func (e *CertificateError) Unwrap() error { return e.Err }

// Is tells that it is [ErrInput].
func (e *CertificateError) Is(target error) bool { return target == ErrInput }

// A SummaryError reports a summary that is not of the rows of the model's fit. Err is
// [ErrShape] for other dimensions, [ErrPreparation] for rows that were prepared in another
// way, [ridge.ErrOtherRows] for another number of rows or other sums.
type SummaryError struct{ Err error }

func (e *SummaryError) Error() string {
	return because("model: the summary is not one of the fit", e.Err)
}
func (e *SummaryError) Unwrap() error { return e.Err }

// Is tells that it is [ErrInput].
func (e *SummaryError) Is(target error) bool { return target == ErrInput }

// ErrPreparation reports rows of a summary that were prepared in another way than those
// of the fit.
var ErrPreparation = badinput.Errorf("its rows were prepared in another way than the model's")

// An OverflowError reports a row, counted from 0, for which the prediction exceeds the
// range of float64.
type OverflowError struct{ Row int64 }

func (e *OverflowError) Error() string {
	return fmt.Sprintf("row %d: the prediction exceeds the range of float64", e.Row+1)
}

// Is tells that it is [ErrInput].
func (e *OverflowError) Is(target error) bool { return target == ErrInput }

// A ShortfallError reports a fit that is not certified to the tolerance that was asked for. Its
// certificate holds. It wraps what Status.Err() is: [ridge.ErrRoundOff], [ridge.ErrPassLimit],
// [ridge.ErrDiverged] or [ridge.ErrUnproved].
type ShortfallError struct {
	Gamma     float64
	Target    int     // from 0
	Tol       float64 // the relative error that was asked for
	Certified float64 // the bound that is certified, +Inf for none
	Status    ridge.Status
}

func (e *ShortfallError) Error() string {
	if e.Status == ridge.Unproved {
		return fmt.Sprintf("model: at gamma = %v nothing is proved of the weights for target %d: %v", e.Gamma, e.Target+1, e.Status)
	}
	return fmt.Sprintf("model: at gamma = %v a relative error of %v is certified for target %d, %v was asked for: %v", e.Gamma, e.Certified, e.Target+1, e.Tol, e.Status)
}

// Unwrap is what Status.Err() is.
func (e *ShortfallError) Unwrap() error { return e.Status.Err() }
