package ridge

import (
	"errors"
	"fmt"
)

// ErrShape reports arguments whose dimensions disagree. Nothing was changed.
var ErrShape = errors.New("ridge: dimensions disagree")

// ErrEmpty reports a fit asked of no rows at all.
var ErrEmpty = errors.New("ridge: no rows")

// ErrNoConvergence reports that an eigenvalue iteration failed, which finite data
// are not known to cause.
var ErrNoConvergence = errors.New("ridge: eigenvalue iteration did not converge")

// A GammaError reports a regularisation that the method cannot take.
type GammaError struct {
	Gamma  float64
	Method string
}

func (e *GammaError) Error() string {
	return fmt.Sprintf("ridge: %s cannot take gamma = %v", e.Method, e.Gamma)
}

// A NotConvergedError reports that the tolerance was not reached. Fits holds the
// best solutions found, one for each γ asked for, with certificates that hold.
type NotConvergedError struct {
	Fits   []*Fit
	Reason string // why the iteration ended
}

func (e *NotConvergedError) Error() string {
	worst := 0.0
	for _, f := range e.Fits {
		for _, r := range f.Certificate.RelativeErrorBound {
			if !(r <= worst) {
				worst = r
			}
		}
	}
	return fmt.Sprintf("ridge: tolerance not reached (%s); certified relative error %v", e.Reason, worst)
}
