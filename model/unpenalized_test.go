package model_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
)

// TestUnpenalized: a model with columns without penalty is of version 3, reads back, and predicts like its solution. It has
// no intervals.
func TestUnpenalized(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, y := mat.NewDense(40, 3, nil), mat.NewDense(40, 1, nil)
	for i := range 40 {
		a, b, c := rng.NormFloat64(), 5+rng.NormFloat64(), 1000*rng.NormFloat64()
		x.SetRow(i, []float64{a, b, c})
		y.Set(i, 0, a-2*b+0.001*c+0.1*rng.NormFloat64())
	}
	src, err := dataset.FromMatrix(x, y)
	if err != nil {
		t.Fatal(err)
	}
	scaled, scaling, err := dataset.Standardize(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		prep    model.Preparation
		penalty []float64
	}{
		"plain": {penalty: []float64{1, 0, 1}}, "scaled": {model.Preparation{Inputs: 3, Scaling: scaling}, []float64{4, 1, 0}},
	} {
		rows := src
		if c.prep.Scaling != nil {
			rows = scaled
		}
		found, err := fdridge.Fit(t.Context(), rows, fdridge.Options{Gammas: []float64{2}, Penalty: c.penalty})
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.New(c.prep, found.Solutions, model.Details{Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := m.Write(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text.String(), "{\n \"fdridge_model\": 5,") {
			t.Errorf("%s: %.40s", name, text.String())
		}
		back, err := model.Read(bytes.NewReader(text.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b := back.Fits[0].UnpenalizedBounds; len(b) != 1 || len(b[0]) != 1 || !(b[0][0] > 0 && b[0][0] < 1e-6) {
			t.Errorf("%s: bounds %v", name, b)
		}
		got, err := back.PredictMatrix(x)
		if err != nil {
			t.Fatal(err)
		}
		yhat := []float64{0}
		for b, err := range rows.Blocks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.N {
				if err := found.Solutions[0].PredictRow(yhat, b.X[3*i:3*i+3]); err != nil {
					t.Fatal(err)
				}
				if at := int(b.First) + i; !(math.Abs(yhat[0]-got.At(at, 0)) <= 1e-12*(1+math.Abs(yhat[0]))) {
					t.Errorf("%s: row %d is predicted as %v, by the solution as %v", name, at, got.At(at, 0), yhat[0])
				}
			}
		}
		if _, err := back.Predictor(&model.Intervals{ByModel: true}); !errors.Is(err, model.ErrUnpenalized) {
			t.Errorf("%s: intervals: %v", name, err)
		}
		for what, damaged := range map[string]string{
			"a bound too many": strings.Replace(text.String(), `"unpenalized_bounds": [`, `"unpenalized_bounds": [1,`, 1),
			"version 2":        strings.Replace(text.String(), `"fdridge_model": 5`, `"fdridge_model": 2`, 1),
		} {
			if _, err := model.Read(strings.NewReader(damaged)); !errors.As(err, new(*model.FormatError)) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}
