package model_test

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
)

// TestReversible: coefficients of computed features stay as they are, although columns are scaled before.
func TestReversible(t *testing.T) {
	prep := model.Preparation{Inputs: 1, Scaling: &dataset.Scaling{Mean: []float64{3}, Scale: []float64{2}}}
	if prep.Reversible() != prep.Scaling {
		t.Error("a scaling alone cannot be undone")
	}
	prep.Expand(dataset.Polynomial{Degree: 2})
	if prep.Reversible() != nil {
		t.Error("a scaling before computed features can be undone")
	}
	if coef, b := prep.Unscale([]float64{1, 2}, 5); coef[0] != 1 || coef[1] != 2 || b != 5 {
		t.Errorf("coefficients of computed features become %v, %v", coef, b)
	}
}
