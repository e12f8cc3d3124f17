package model_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestCoefficientError: the bounds hold for the coefficients in the units of the file, with scaled columns, penalties
// and columns without penalty. They also hold in a model that was written and read. The bound for scaled columns does
// not hold.
func TestCoefficientError(t *testing.T) {
	const n, d = 150, 120
	exceeded, tight := 0, math.Inf(1)
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 44))
		x, y := make([]float64, n*d), make([]float64, n)
		for i := range n {
			for j := range d {
				x[i*d+j] = r.NormFloat64() * math.Pow(10, -float64(j)/40)
			}
			y[i] = x[i*d] - 3*x[i*d+2] + r.NormFloat64()
		}
		src, err := dataset.FromDense(n, d, 1, x, y)
		if err != nil {
			t.Fatal(err)
		}
		prep := model.Preparation{Inputs: d}
		rows := dataset.Source(src)
		if seed%2 == 1 {
			rows, prep.Scaling, err = dataset.Standardize(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
		}
		opts := fdridge.Options{Gammas: []float64{3}}
		if seed%3 > 0 {
			opts.Penalty = make([]float64, d)
			for j := range opts.Penalty {
				opts.Penalty[j] = math.Pow(10, 3*r.Float64()-2)
			}
		}
		if seed%3 == 2 {
			opts.Penalty[1] = 0
		}
		exact, err := fdridge.Fit(t.Context(), rows, opts)
		if err != nil {
			t.Fatal(err)
		}
		opts.Method, opts.Size = ridge.OneShot, 12
		found := fitShort(t, rows, opts)
		m, err := model.New(prep, found.Solutions, model.Details{Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		best, err := model.New(prep, exact.Solutions, model.Details{Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		off, w := make([]float64, d), best.Fits[0].Coef[0]
		for j := range off {
			off[j] = m.Fits[0].Coef[0][j] - w[j]
		}
		slack, _ := best.CoefficientError(&best.Fits[0], 0)
		far := vec.Norm(off) - slack
		var file, arrays bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		if err := m.WriteArrays(&arrays); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]*bytes.Buffer{"JSON": &file, "arrays": &arrays} {
			back, err := model.Read(text)
			if err != nil {
				t.Fatal(err)
			}
			record, err := back.Fits[0].Certificate.Record()
			if err != nil {
				t.Fatal(err)
			}
			bound, relative := back.CoefficientError(&back.Fits[0], 0)
			if !(far <= bound) || !(far <= relative*(vec.Norm(w)+slack)) {
				t.Errorf(
					"seed %d, %s: ‖w − w*‖ = %v, bound %v; relative %v, bound %v",
					seed,
					name,
					far,
					bound,
					far/vec.Norm(w),
					relative,
				)
			}
			if len(record.CoefError) != 1 || float64(record.CoefError[0]) != bound ||
				float64(record.CoefRelative[0]) != relative {
				t.Errorf(
					"seed %d, %s: the record has %v and %v, the model %v and %v",
					seed,
					name,
					record.CoefError,
					record.CoefRelative,
					bound,
					relative,
				)
			}
			record.CoefError, record.CoefRelative = nil, nil // as an earlier program wrote it
			text, err := json.Marshal(record)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &back.Fits[0].Certificate); err != nil {
				t.Fatal(err)
			}
			if bound, relative := back.CoefficientError(&back.Fits[0], 0); !(far <= bound) ||
				!(far <= relative*(vec.Norm(w)+slack)) {
				t.Errorf(
					"seed %d, %s: ‖w − w*‖ = %v, computed bound %v; relative %v, bound %v",
					seed,
					name,
					far,
					bound,
					far/vec.Norm(w),
					relative,
				)
			}
			tight = math.Min(tight, bound/far)
			if far > record.Certificates[0].ErrorBound {
				exceeded++
			}
		}
		if prep.Scaling != nil {
			continue
		}
		if bound, relative := found.Solutions[0].CoefficientError(0); !(far <= bound) ||
			!(far <= relative*(vec.Norm(w)+slack)) {
			t.Errorf("seed %d: ‖w − w*‖ = %v, bound %v, relative %v", seed, far, bound, relative)
		}
	}
	if exceeded < 5 || tight > 30 {
		t.Errorf("the bound for scaled columns fails %d times; bounds are at least %v times the error", exceeded, tight)
	}
	penalised := ridge.Solution{
		Penalty: []float64{1, 1e-4},
		Targets: []ridge.Target{
			{Coef: []float64{1, 1e4}, Scaled: []float64{1, 100}, Certificate: ridge.Certificate{ErrorBound: 1}},
		},
	}
	if bound, relative := penalised.CoefficientError(0); !(bound >= 100 && bound < 100.001 && relative >= 0.01 && relative < 0.0102) {
		t.Errorf("with an error of 1 in the scaled columns: %v, relative %v", bound, relative)
	}
	short := ridge.Target{Coef: []float64{1}}
	wide := model.Preparation{Scaling: &dataset.Scaling{Mean: []float64{0, 0}, Scale: []float64{1, 1}}}
	if bound, relative := wide.CoefficientError(&short); !math.IsInf(bound, 1) || !math.IsInf(relative, 1) {
		t.Errorf("one coefficient of two: %v, %v", bound, relative)
	}
}

// fitShort returns a result that may miss its tolerance.
func fitShort(t *testing.T, src dataset.Source, opts fdridge.Options) *fdridge.Result {
	t.Helper()
	found, err := fdridge.Fit(t.Context(), src, opts)
	if found == nil {
		t.Fatal(err)
	}
	return found
}
