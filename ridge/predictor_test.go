package ridge_test

import (
	"errors"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestPredictorZeroIntercept: a fit whose intercept comes to 0 had one all the same.
func TestPredictorZeroIntercept(t *testing.T) {
	f := &ridge.Solution{Gamma: 1, Targets: []ridge.Target{{Coef: []float64{1}, Certificate: ridge.Certificate{
		ErrorBound: 1e-15, EnergyBound: 1e-15, InterceptBound: 1e-3, Objective: ridge.Interval{Lo: 1, Hi: 2},
	}}}}
	if _, err := f.Predictor(); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("an intercept of 0, known to 1e-3: %v", err)
	}
	f.Targets[0].InterceptBound = 0
	if _, err := f.Predictor(); err != nil {
		t.Errorf("without an intercept: %v", err)
	}
}
