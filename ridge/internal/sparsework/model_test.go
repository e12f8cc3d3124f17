package sparsework

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
)

// TestModelSparseWork: predictions for sparse rows take the time of their entries.
func TestModelSparseWork(t *testing.T) {
	m := &model.Model{
		Features:    Dim,
		Preparation: model.Preparation{Inputs: Dim},
		Fits: []model.Fit{
			{Gamma: 1, Coef: model.PerTarget[[]float64]{make([]float64, Dim)}, Intercept: model.PerTarget[float64]{0}},
		},
	}
	Hold(t, func(t *testing.T, src dataset.Source) func() int {
		return func() int {
			for _, err := range m.Predict(t.Context(), src) {
				if err != nil {
					t.Fatal(err)
				}
			}
			return 1
		}
	})
}
