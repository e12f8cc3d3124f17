package model_test

import (
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/sparsework"
	"github.com/fdridge/fdridge/model"
)

// TestPredictSparseWork: predictions for sparse rows take the time of their entries.
func TestPredictSparseWork(t *testing.T) {
	m := &model.Model{Features: sparsework.Dim, Preparation: model.Preparation{Inputs: sparsework.Dim}, Fits: []model.Fit{{Gamma: 1, Coef: model.PerTarget[[]float64]{make([]float64, sparsework.Dim)}, Intercept: model.PerTarget[float64]{0}}}}
	sparsework.Hold(t, func(t *testing.T, src dataset.Source) func() int {
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
