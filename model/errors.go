package model

import (
	"fmt"
	"math"
	"strings"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge"
)

// ErrInput is the error for invalid shapes, values and files. All errors of this package except *[ShortfallError]
// match ErrInput by errors.Is. It equals [engine.ErrInput].
var ErrInput = engine.ErrInput

// ErrShape is the error for arguments whose dimensions disagree. It equals [engine.ErrShape].
var ErrShape = engine.ErrShape

// errShape is ErrShape with the name of this package.
var errShape = fmt.Errorf("model: %w", engine.ErrShape)

// errZeroPredictor reports a Predictor that was not made by Model.Predictor.
var errZeroPredictor = fmt.Errorf("%w: the predictor was not made by Model.Predictor", errShape)

// errNoSource reports a nil source.
var errNoSource = fmt.Errorf("%w: no source of rows", errShape)

// Errors of intervals from the certificate of a model alone.
var (
	// ErrUnrecorded reports a model written by an earlier version of this package. Its certificate is for coefficients
	// of scaled columns, which the model does not contain.
	ErrUnrecorded = badinput.Errorf(
		"model: an earlier program wrote it without the coefficients that intervals need; fit again, or give a summary",
	)
	// ErrUncovered reports a model without intervals for new observations.
	ErrUncovered = badinput.Errorf(
		"model: it has no intervals for new observations; fit again and calibrate with held-out rows",
	)
	// ErrUnpenalized reports a model with columns that have no penalty. A summary gives no intervals for such a model. The
	// certificate of the model gives intervals only if it has bounds on the errors of these columns' coefficients.
	ErrUnpenalized = badinput.Errorf(
		"model: some columns have no penalty, of which a sketch proves nothing: " +
			"intervals come from the model alone, if it has bounds for these columns",
	)
)

// addReason appends the text of err unless err is nil.
func addReason(message string, err error) string {
	if err == nil {
		return message
	}
	return message + ": " + err.Error()
}

// A FormatError reports that a file is not a model or is inconsistent.
type FormatError struct{ Err error }

func (e *FormatError) Error() string {
	return addReason("model: this is not a model", e.Err)
}
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrInput].
func (e *FormatError) Is(target error) bool { return target == ErrInput }

// A VersionError reports a model in a version of the format that is unknown.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	return fmt.Sprintf(
		"version %d of the model format is not supported; this program reads 1 to %d",
		e.Version,
		version,
	)
}

// Is reports whether target is [ErrInput].
func (e *VersionError) Is(target error) bool { return target == ErrInput }

// A GammaError reports that the model has no fit for Gamma. If Gamma is NaN, the model has several fits, and one must
// be selected by [Model.At].
type GammaError struct {
	Gamma float64
	Has   []float64 // the γ of the model
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

// Is reports whether target is [ErrInput].
func (e *GammaError) Is(target error) bool { return target == ErrInput }

// A PreparationError reports that rows cannot be prepared like the training rows.
type PreparationError struct{ Err error }

func (e *PreparationError) Error() string {
	return addReason("model: the rows cannot be prepared", e.Err)
}
func (e *PreparationError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrInput].
func (e *PreparationError) Is(target error) bool { return target == ErrInput }

// A CertificateError reports a certificate that cannot be read.
type CertificateError struct{ Err error }

func (e *CertificateError) Error() string {
	return addReason("model: its certificate cannot be read", e.Err)
}
func (e *CertificateError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrInput].
func (e *CertificateError) Is(target error) bool { return target == ErrInput }

// A SummaryError reports a summary that does not belong to the fit of the model. Err is one of these:
//
//   - [ErrShape], if dimensions differ
//   - [ErrPreparation], if the rows were prepared differently
//   - [ridge.ErrOtherRows], if the rows differ in number or sums
type SummaryError struct{ Err error }

func (e *SummaryError) Error() string {
	return addReason("model: the summary does not belong to the fit", e.Err)
}
func (e *SummaryError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrInput].
func (e *SummaryError) Is(target error) bool { return target == ErrInput }

// ErrPreparation reports a summary of rows that were prepared differently from the training rows.
var ErrPreparation = badinput.Errorf("its rows were prepared in another way than the model's")

// An OverflowError reports a prediction that is too large for float64. Row counts from 0.
type OverflowError struct{ Row int64 }

func (e *OverflowError) Error() string {
	return fmt.Sprintf("row %d: the prediction exceeds the range of float64", e.Row+1)
}

// Is reports whether target is [ErrInput].
func (e *OverflowError) Is(target error) bool { return target == ErrInput }

// A ShortfallError reports a fit whose proved error exceeds the requested tolerance. The certificate of the fit is
// valid. Unwrap returns the reason: [ridge.ErrRoundOff], [ridge.ErrPassLimit], [ridge.ErrDiverged],
// [ridge.ErrUnproved] or [ridge.ErrDependent].
type ShortfallError struct {
	Gamma     float64
	Target    int     // from 0
	Tol       float64 // the requested relative error
	Certified float64 // the proved bound on the relative error, +Inf if there is none
	Status    ridge.Status
}

func (e *ShortfallError) Error() string {
	if e.Status == ridge.Unproved || e.Status == ridge.MinimumNorm {
		return fmt.Sprintf(
			"model: at gamma = %v no error bound is proved for target %d: %v",
			e.Gamma,
			e.Target+1,
			e.Status,
		)
	}
	return fmt.Sprintf(
		"model: at gamma = %v a relative error of %v is certified for target %d, but %v was requested: %v",
		e.Gamma,
		e.Certified,
		e.Target+1,
		e.Tol,
		e.Status,
	)
}

// Unwrap returns Status.Err().
func (e *ShortfallError) Unwrap() error { return e.Status.Err() }
