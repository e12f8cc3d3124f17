package model_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// unlike are rows of five columns of different size, and one target.
func unlike(t *testing.T, n int) dataset.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var x, y []float64
	for range n {
		v := rng.NormFloat64()
		for j := range 5 {
			z := rng.NormFloat64()
			x = append(x, 10+z*math.Pow(3, float64(j)))
			v += z
		}
		y = append(y, v)
	}
	src, err := dataset.FromDense(n, 5, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestPenalty: a model of a sketch that was penalised afterwards has the weights of the original columns, and records
// the penalty. After it is read from a file, its intervals contain the predictions of an exact fit. They may come from
// the sketch with or without the penalty.
func TestPenalty(t *testing.T) {
	ctx, src := context.Background(), unlike(t, 400)
	p := []float64{0.5, 1, 20, 3, 0.01}
	scaled, scaling, err := dataset.Standardize(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	prep := model.Preparation{Inputs: 5, Scaling: scaling}
	sum, err := ridge.Summarize(ctx, scaled, ridge.SummaryConfig{Size: 3, Intercept: true, Store: fd.StoreRows}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(opts fdridge.Options) *fdridge.Result {
		t.Helper()
		r, err := fdridge.FitSummary(ctx, scaled, sum, opts)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := fit(fdridge.Options{NoIntercept: true, Gammas: []float64{7}, Penalty: p, Tol: 1e-9})
	before := []float64{1, 2, 3, 4, 5}
	bands := []model.Band{{Columns: "1-2", Penalty: 0.5}}
	m, err := model.New(prep, r.Solutions, model.Details{Intercept: true, Size: 3, Before: before, Bands: bands})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	m, err = model.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Penalty.After, p) || !slices.Equal(m.Penalty.Before, before) ||
		!slices.Equal(m.Penalty.Bands, bands) {
		t.Errorf("the penalty on record is %+v", m.Penalty)
	}
	o := r.Best().Targets[0]
	for j, x := range m.Fits[0].Coef[0] {
		want := o.Coef[j] / scaling.Scale[j]
		if !(math.Abs(x-want) <= 1e-14*math.Abs(want)) || m.Fits[0].Fitted.Coef[0][j] != o.Scaled[j] {
			t.Errorf("weight %d is %v, want %v", j, x, want)
		}
	}
	exact, err := fdridge.Fit(ctx, scaled, fdridge.Options{Gammas: []float64{7}, Penalty: p, Method: ridge.Exact})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sum.Penalize(p)
	if err != nil {
		t.Fatal(err)
	}
	both, err := prep.Penalize(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]model.ExactIntervals{"as it was": {Summary: sum, Preparation: &prep},
		"penalised": {Summary: view, Preparation: &both}, "untold": {Summary: view}} {
		pr, err := m.Predictor(by)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wider := 0.0
		for one, err := range pr.Predict(ctx, src) {
			if err != nil {
				t.Fatal(err)
			}
			row := make([]float64, 5)
			all, _ := dataset.InMemory(src)
			for j := range row {
				row[j] = (all.X[int(one.Row)*5+j] - scaling.Mean[j]) / scaling.Scale[j]
			}
			yhat := []float64{0}
			if err := exact.Best().PredictRow(yhat, row); err != nil {
				t.Fatal(err)
			}
			v := one.Intervals[0]
			wider = max(wider, v.Hi-v.Lo)
			if !(yhat[0] >= v.Lo-1e-11 && yhat[0] <= v.Hi+1e-11) {
				t.Fatalf("%s: an exact fit predicts %v, not in %v", name, yhat[0], v)
			}
		}
		if !(wider <= 1e-5) {
			t.Errorf("%s: the widest interval is %g", name, wider)
		}
	}
	other := prep
	other.Scaling, err = scaling.Penalize([]float64{1, 1, 1, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predictor(model.ExactIntervals{Summary: sum, Preparation: &other}); !errors.Is(err,
		model.ErrPreparation) {
		t.Errorf("a sketch of other penalties: %v", err)
	}
	for name, damaged := range map[string]string{
		"short": strings.Replace(text, "\"after\": [\n   0.5,", "\"after\": [", 1), "negative": strings.Replace(text,
			"\"after\": [\n   0.5,", "\"after\": [\n   -0.5,", 1),
	} {
		if damaged == text {
			t.Fatalf("%s: nothing is damaged: %s", name, text)
		}
		var bad *model.FormatError
		if _, err := model.Read(strings.NewReader(damaged)); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Of several solutions all must have the same penalty, and features have none.
	plain := fit(fdridge.Options{NoIntercept: true, Gammas: []float64{3}, MaxPasses: 500, Tol: 1e-6})
	if _, err := model.New(prep, append(slices.Clone(r.Solutions), plain.Solutions...),
		model.Details{Intercept: true}); !errors.Is(err, model.ErrShape) {
		t.Errorf("of two penalties: %v", err)
	}
	prep.Expand(dataset.Polynomial{Degree: 2})
	var unprepared *model.PreparationError
	if _, err := prep.Penalize(p); !errors.As(err, &unprepared) {
		t.Errorf("of features: %v", err)
	}
}
