package model

import (
	"fmt"
	"math"
	"strings"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// ErrInput is the error for invalid shapes, values and files. It equals [engine.ErrInput]. For every error of this
// package except *[ShortfallError], errors.Is(err, ErrInput) is true.
var ErrInput = engine.ErrInput

// ErrShape is the error for arguments whose dimensions do not match. It equals [engine.ErrShape].
var ErrShape = engine.ErrShape

// errShape is ErrShape with the name of this package.
var errShape = fmt.Errorf("model: %w", engine.ErrShape)

// errZeroPredictor reports the use of a Predictor that was not made by Model.Predictor.
var errZeroPredictor = fmt.Errorf("%w: the predictor was not made by Model.Predictor", errShape)

// errNoSource reports a nil source.
var errNoSource = fmt.Errorf("%w: no source of rows", errShape)

// Errors about intervals that cannot be computed from the model.
var (
	// ErrUnrecorded reports a model that an earlier version of this package wrote. Its certificate is about the
	// coefficients of scaled columns. The model does not contain these coefficients.
	ErrUnrecorded = errtext.BadInput(
		"model: an earlier program wrote it without the coefficients that intervals need; fit again, or give a summary",
	)
	// ErrUncovered reports a model without intervals for new observations.
	ErrUncovered = errtext.BadInput(
		"model: it has no intervals for new observations; fit again and calibrate with held-out rows",
	)
	// ErrUnpenalized reports a model in which some columns have no penalty. A summary, which holds a sketch, gives
	// no intervals for such a model. The model alone gives intervals if it has bounds on the errors of the
	// coefficients of these columns.
	ErrUnpenalized = errtext.BadInput(
		"model: some columns have no penalty, of which a sketch proves nothing: " +
			"intervals come from the model alone, if it has bounds for these columns",
	)
)

// addReason returns the message with the text of err appended. If err is nil, it returns the message alone.
func addReason(message string, err error) string {
	if err == nil {
		return message
	}
	return message + ": " + err.Error()
}

// A FormatError reports that a file is not a model, or that its parts contradict each other.
type FormatError struct{ Err error }

func (e *FormatError) Error() string {
	return addReason("model: this is not a model", e.Err)
}
func (e *FormatError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrInput].
func (e *FormatError) Is(target error) bool { return target == ErrInput }

// A VersionError reports a model file in an unknown version of the file format.
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

// A GammaError reports that the model has no fit for the penalty Gamma. If Gamma is NaN, it reports that the model
// has fits for several penalties; select one by [Model.At].
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

// A PreparationError reports that rows cannot be prepared in the same way as the training rows of the model.
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

// A SummaryError reports a summary (a sketch with sums of its rows) that does not belong to the fit of the model.
// Err is one of these errors:
//
//   - [ErrShape], if the dimensions of the summary and the model differ
//   - [ErrPreparation], if the rows of the summary were prepared in another way than the training rows
//   - [ridge.ErrOtherRows], if the rows differ in their number or their sums
type SummaryError struct{ Err error }

func (e *SummaryError) Error() string {
	return addReason("model: the summary does not belong to the fit", e.Err)
}
func (e *SummaryError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrInput].
func (e *SummaryError) Is(target error) bool { return target == ErrInput }

// ErrPreparation reports a summary (a sketch with sums) whose rows were prepared in another way than the training
// rows of the model.
var ErrPreparation = errtext.BadInput("its rows were prepared in another way than the model's")

// An OverflowError reports that the prediction for a row is too large for float64. Row is the row number, from 0.
type OverflowError struct{ Row int64 }

func (e *OverflowError) Error() string {
	return fmt.Sprintf("row %d: the prediction exceeds the range of float64", e.Row+1)
}

// Is reports whether target is [ErrInput].
func (e *OverflowError) Is(target error) bool { return target == ErrInput }

// A ShortfallError reports that the proved error of a fit exceeds the requested tolerance. The proved error is
// valid nevertheless. Unwrap returns the reason: [ridge.ErrRoundOff], [ridge.ErrPassLimit], [ridge.ErrDiverged],
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
