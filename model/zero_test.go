package model_test

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestZeroValues: InterceptBound of a zero value is infinite. The test of package zerovalues calls the other methods.
func TestZeroValues(t *testing.T) {
	// The bound is infinite without a target, and if the number of weights differs from the number of columns.
	scaled := model.Preparation{Inputs: 2, Scaling: &dataset.Scaling{Mean: []float64{1, 2}, Scale: []float64{1, 1}}}
	for _, bound := range []float64{
		new(model.Preparation).InterceptBound(nil), scaled.InterceptBound(nil),
		scaled.InterceptBound(&ridge.Target{Coef: []float64{1}}),
	} {
		if !math.IsInf(bound, 1) {
			t.Errorf("an intercept of nothing to %v", bound)
		}
	}
}

// TestSmallMeans: what the error of weights does to the intercept counts where squares of means underflow.
func TestSmallMeans(t *testing.T) {
	p := model.Preparation{Inputs: 1, Scaling: &dataset.Scaling{Mean: []float64{0x1p-600}, Scale: []float64{1}}}
	o := &ridge.Target{Coef: []float64{0}, Certificate: ridge.Certificate{ErrorBound: 0x1p620}}
	if bound := p.InterceptBound(o); !(bound >= 0x1p20 && bound <= 0x1.1p20) {
		t.Errorf("weights off by 2⁶²⁰ where means are 2⁻⁶⁰⁰: an intercept off by %v", bound)
	}
}
