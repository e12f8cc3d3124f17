package model_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	csvfile "github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/model"
)

// flats are rows with categories, one of 97 levels, which make rows sparse, truths, blanks and gaps.
func flats() string {
	var s strings.Builder
	s.WriteString("area,balcony,district,street,rent\n")
	for i := range 120 {
		area := fmt.Sprint(30 + i*7%50)
		if i%11 == 3 {
			area = []string{"", "NA", "?"}[i%3]
		}
		balcony := []string{"True", " FALSE"}[i%2]
		fmt.Fprintf(&s, "%s,%s, %s ,s%d,%d\n", area, balcony, []string{"Nord", "Süd", "007"}[i%3], i%97, 300+i%17*10)
	}
	return s.String()
}

// encodedModel is a model of the rows of a file, and how rows are read for it.
func encodedModel(t *testing.T, name string, missing prepare.Missing, features dataset.Features) *model.Model {
	t.Helper()
	e, err := prepare.NewEncoding(4, []string{"area", "balcony", "district", "street"}, missing, []int{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	cells := e.Cells()
	src, err := csvfile.Open(name, csvfile.Options{Targets: []string{"rent"}, Cells: cells})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := e.Learn(ctx, src, prepare.LearnOptions{Cells: cells}); err != nil {
		t.Fatal(err)
	}
	var prep model.Preparation
	prep.Encode(e)
	rows, err := e.Apply(src, prepare.EncodeOptions{Cells: cells})
	if err != nil {
		t.Fatal(err)
	}
	rows, prep.Scaling, err = dataset.Standardize(ctx, rows)
	if err != nil {
		t.Fatal(err)
	}
	prep.Expand(features)
	if features != nil {
		rows, err = features.Apply(rows, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	found, err := fdridge.Fit(ctx, rows, fdridge.Options{Gammas: []float64{1}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(prep, found.Solutions, model.Details{Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPredictCells: a row of cells has the prediction that it has in a file, through categories, gaps,
// scaling and features; as does, without texts, a row of numbers.
func TestPredictCells(t *testing.T) {
	name := filepath.Join(t.TempDir(), "flats.csv")
	if err := os.WriteFile(name, []byte(flats()), 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(flats())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, missing := range []prepare.Missing{prepare.MissingMean, prepare.MissingDrop} {
		for what, features := range map[string]dataset.Features{"columns": nil, "features": dataset.Fourier{Components: 5, Gamma: 0.1, Seed: 1}} {
			t.Run(what+" "+string(missing), func(t *testing.T) {
				m := encodedModel(t, name, missing, features)
				p, err := m.Predictor(nil)
				if err != nil {
					t.Fatal(err)
				}
				p.Encode.Cells = m.Preparation.Encoding.Cells()
				src, err := csvfile.Open(
					name,
					csvfile.Options{Columns: []string{"area", "balcony", "district", "street"}, Cells: p.Encode.Cells},
				)
				if err != nil {
					t.Fatal(err)
				}
				yhat, gaps := []float64{0}, 0
				for one, err := range p.Predict(context.Background(), src) {
					if err != nil {
						t.Fatal(err)
					}
					if err := p.PredictCells(yhat, nil, records[one.Row+1][:4]); err != nil {
						t.Fatalf("row %d: %v", one.Row, err)
					}
					if math.IsNaN(one.Y[0]) {
						gaps++
					}
					if !(math.Abs(yhat[0]-one.Y[0]) <= 1e-9*math.Abs(one.Y[0])) &&
						!(math.IsNaN(yhat[0]) && math.IsNaN(one.Y[0])) {
						t.Errorf("row %d is predicted as %v, in a file as %v", one.Row, yhat[0], one.Y[0])
					}
				}
				if (gaps > 0) != (missing == prepare.MissingDrop) {
					t.Errorf("%d rows are not predicted for", gaps)
				}
				row := records[1][:4]
				if n := testing.AllocsPerRun(20, func() { err = p.PredictCells(yhat, nil, row) }); n > 0 || err != nil {
					t.Errorf("%v allocations for a row: %v", n, err)
				}
				for what, wrong := range map[string][]string{
					"a level":         {"50", "True", "Ost", "s1"},
					"no number":       {"large", "True", "Nord", "s1"},
					"an infinity":     {"inf", "True", "Nord", "s1"},
					"too few columns": {"50", "True", "Nord"},
				} {
					err := p.PredictCells(yhat, nil, wrong)
					if !errors.Is(err, model.ErrInput) ||
						errors.Is(err, dataset.ErrUnknownLevel) != (what == "a level") {
						t.Errorf("%s: %v", what, err)
					}
				}
			})
		}
	}
}

// TestPredictRowEncoded: in a row of numbers NaN is a missing value and a number a level; unknown ones
// are ignored where that is asked for.
func TestPredictRowEncoded(t *testing.T) {
	e := &prepare.Encoding{
		Inputs:     2,
		Missing:    prepare.MissingMean,
		Means:      []float64{5, 0},
		Categories: []prepare.Category{{Column: 1, Levels: []string{"7", "9.5"}}},
	}
	prep := model.Preparation{}
	prep.Encode(e)
	m := &model.Model{
		Preparation: prep,
		Features:    3,
		Fits: []model.Fit{
			{Gamma: 1, Coef: model.PerTarget[[]float64]{{1, 10, 100}}, Intercept: model.PerTarget[float64]{1000}},
		},
	}
	p, err := m.Predictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	yhat := []float64{0}
	for _, c := range []struct{ a, b, want float64 }{{2, 7, 1012}, {math.NaN(), 9.5, 1105}} {
		if err := p.PredictRow(yhat, nil, []float64{c.a, c.b}); err != nil || yhat[0] != c.want {
			t.Errorf("%v: %v, %v", c, yhat[0], err)
		}
	}
	if err := p.PredictRow(yhat, nil, []float64{2, 8}); !errors.Is(err, dataset.ErrUnknownLevel) {
		t.Errorf("an unknown level: %v", err)
	}
	if err := p.PredictRow(yhat, nil, []float64{math.Inf(1), 7}); !errors.Is(err, model.ErrInput) {
		t.Errorf("an infinity: %v", err)
	}
	whole := *e
	whole.Missing, whole.Means = prepare.RefuseMissing, nil
	m.Preparation.Encode(&whole)
	p, err = m.Predictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.PredictRow(yhat, nil, []float64{math.NaN(), 7}); !errors.Is(err, model.ErrInput) {
		t.Errorf("NaN where nothing may be missing: %v, %v", yhat[0], err)
	}
	m.Preparation.Encode(e)
	p, err = m.Predictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Encode = prepare.EncodeOptions{IgnoreUnknown: true, Tally: new(prepare.Tally)}
	if err := p.PredictRow(yhat, nil, []float64{2, 8}); err != nil || yhat[0] != 1002 {
		t.Errorf("an unknown level that is ignored: %v, %v", yhat[0], err)
	}
	if err := p.PredictCells(yhat, nil, []string{"2", "x"}); err != nil || yhat[0] != 1002 ||
		p.Encode.Tally.Unknown.Load() != 2 {
		t.Errorf("two unknown levels that are ignored: %v, %v", yhat[0], err)
	}
}
