package ridge_test

import (
	"errors"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestPredictSparse: predictions for a sparse row have the bits of the predictions for the same row written out. Rows
// with wrong columns or lengths are refused.
func TestPredictSparse(t *testing.T) {
	fit := &ridge.Solution{Targets: []ridge.Target{
		{Coef: []float64{0.1, -3, 0.7, 1e-9}, Intercept: 0.3},
		{Coef: []float64{2, 5, -0.7, 1e20}, Intercept: -1},
	}}
	idx, val, row := []int32{0, 2}, []float64{1.1, -0.9}, []float64{1.1, 0, -0.9, 0}
	got, want := make([]float64, 2), make([]float64, 2)
	if err := fit.PredictRow(want, row); err != nil {
		t.Fatal(err)
	}
	if err := fit.PredictSparse(got, idx, val); err != nil {
		t.Fatal(err)
	}
	if got[0] != want[0] || got[1] != want[1] {
		t.Errorf("predictions %v, of the row written out %v", got, want)
	}
	for name, err := range map[string]error{
		"a column beyond the last":  fit.PredictSparse(got, []int32{4}, []float64{1}),
		"a column before the first": fit.PredictSparse(got, []int32{-1}, []float64{1}),
		"fewer values":              fit.PredictSparse(got, idx, val[:1]),
		"fewer predictions":         fit.PredictSparse(got[:1], idx, val),
	} {
		if !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
