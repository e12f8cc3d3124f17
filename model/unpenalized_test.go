package model_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestUnpenalized: a model with columns without penalty is of version 3, reads back, and predicts like its solution. It
// has intervals from its own bounds, which contain the predictions of the exact solution in 512 bits, and none from a
// sketch.
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
		"plain": {penalty: []float64{1, 0, 1}}, "scaled": {model.Preparation{Inputs: 3, Scaling: scaling},
			[]float64{4, 1, 0}},
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
		checkIntervals(t, name, back, rows, src, y, c.penalty)
		if _, err := back.Predictor(model.ExactIntervals{Summary: new(ridge.Summary)}); !errors.Is(err,
			model.ErrUnpenalized) {
			t.Errorf("%s: intervals from a sketch: %v", name, err)
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

// checkIntervals compares the intervals of a model with the exact solution for the rows of fitted, which are the rows
// of src after preparation.
func checkIntervals(
	t *testing.T,
	name string,
	m *model.Model,
	fitted, src dataset.Source,
	y *mat.Dense,
	penalty []float64,
) {
	t.Helper()
	var x, targets [][]float64
	for b, err := range fitted.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			x = append(x, slices.Clone(b.X[3*i:3*i+3]))
			targets = append(targets, []float64{y.At(len(targets), 0)})
		}
	}
	problem := refbig.New(x, targets, nil, true)
	problem.Penalty = penalty
	want, err := problem.Solve(2)
	if err != nil {
		t.Fatal(err)
	}
	of, err := m.Predictor(model.ExactIntervals{})
	if err != nil {
		t.Fatalf("%s: intervals: %v", name, err)
	}
	widest, at := 0.0, 0
	for row, err := range of.Predict(t.Context(), src) {
		if err != nil {
			t.Fatal(err)
		}
		exact := new(big.Float).Copy(want.Intercept[0])
		for j, v := range x[at] {
			exact.Add(exact, new(big.Float).Mul(refbig.Float(v), want.Coef[0][j]))
		}
		testkit.Inside(t, name+": interval", row.Intervals[0], exact, refbig.Float(1))
		widest = max(widest, row.Intervals[0].Hi-row.Intervals[0].Lo)
		at++
	}
	if at != len(x) || !(widest > 0 && widest < 1e-6) {
		t.Errorf("%s: %d intervals, the widest is %g", name, at, widest)
	}
}
