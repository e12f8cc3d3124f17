package model_test

import (
	"errors"
	"math"
	"testing"

	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestPredictRow: a row alone has the prediction that it has in a matrix, through every preparation,
// and with intervals; rows that cannot be predicted for are refused.
func TestPredictRow(t *testing.T) {
	x := numbers(t, "testdata/rows.csv", true, 2)
	for name, gamma := range golden {
		several, _ := readModel(t, name+"-v2.json")
		m, err := several.At(gamma)
		if err != nil {
			t.Fatal(err)
		}
		var by model.Intervals
		if !m.Intercept {
			by = model.ExactIntervals{}
		}
		p, err := m.Predictor(by)
		if err != nil {
			t.Fatal(name, err)
		}
		want, bounds, err := p.PredictMatrix(x)
		if err != nil {
			t.Fatal(name, err)
		}
		k, d := p.Dims()
		yhat, within := make([]float64, k), []ridge.Interval(nil)
		if by != nil {
			within = make([]ridge.Interval, k)
		}
		rows, _ := x.Dims()
		for i := range rows {
			if err := p.PredictRow(yhat, within, x.RawRowView(i)); err != nil {
				t.Fatal(name, err)
			}
			for j, v := range yhat {
				if v != want.At(i, j) {
					t.Errorf("%s: row %d is predicted as %v, in a matrix as %v", name, i, v, want.At(i, j))
				}
				// Of intervals only what they hold is the same however rows are taken together.
				if by != nil &&
					!(math.Abs(within[j].Mid()-bounds[i*k+j].Mid()) <= 1e-9 && within[j].Hi-within[j].Lo < 1e-6) {
					t.Errorf("%s: row %d is in %v, in a matrix in %v", name, i, within[j], bounds[i*k+j])
				}
			}
		}
		row := x.RawRowView(0)
		if n := testing.AllocsPerRun(20, func() { err = p.PredictRow(yhat, within, row) }); n > 0 || err != nil {
			t.Errorf("%s: %v allocations for a row: %v", name, n, err)
		}
		wrong := map[string]error{
			"a short row":    p.PredictRow(yhat, within, row[:d-1]),
			"no room":        p.PredictRow(nil, within, row),
			"more intervals": p.PredictRow(yhat, make([]ridge.Interval, k+1), row),
			"of no model":    new(model.Predictor).PredictRow(nil, nil, nil),
		}
		if by == nil {
			wrong["intervals"] = p.PredictRow(yhat, make([]ridge.Interval, k), row)
		}
		for what, err := range wrong {
			if !errors.Is(err, model.ErrShape) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if err := p.PredictRow(yhat, within, []float64{1, math.NaN()}); !errors.Is(err, model.ErrInput) {
			t.Errorf("%s: a NaN: %v", name, err)
		}
	}
	huge := &model.Model{
		Preparation: model.Preparation{Inputs: 1},
		Fits: []model.Fit{
			{Gamma: 1, Coef: model.PerTarget[[]float64]{{1e308}}, Intercept: model.PerTarget[float64]{0}},
		},
	}
	p, err := huge.Predictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	var e *model.OverflowError
	if err := p.PredictRow([]float64{0}, nil, []float64{1e10}); !errors.As(err, &e) {
		t.Errorf("a prediction beyond float64: %v", err)
	}
}
