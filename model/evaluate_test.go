package model_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestScoreWeighted: a row of weight 3 counts as three rows of weight 1, and the scores of parts join into the score of
// all rows.
func TestScoreWeighted(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var once, weighted, first, second model.Score
	for i := range 300 {
		w, y := float64(i%4), 1e6+rng.NormFloat64()
		yhat := y + rng.NormFloat64()
		for range i % 4 {
			once.Add(y, yhat)
		}
		weighted.AddWeighted(w, y, yhat)
		if part := &first; i < 100 {
			part.AddWeighted(w, y, yhat)
		} else {
			second.AddWeighted(w, y, yhat)
		}
	}
	first.Join(second)
	first.Join(model.Score{})
	for name, s := range map[string]model.Score{"weighted": weighted, "joined": first} {
		if !(math.Abs(s.R2()-once.R2()) <= 1e-9) || !(math.Abs(s.RMSE()-once.RMSE()) <= 1e-9) || s.Rows() != 225 {
			t.Errorf(
				"%s: R² %v, RMSE %v of %d rows; row by row %v, %v",
				name,
				s.R2(),
				s.RMSE(),
				s.Rows(),
				once.R2(),
				once.RMSE(),
			)
		}
	}
}

// TestEvaluate: solutions are scored as a loop over the rows does, points are rows of the source, and
// shares come to the same.
func TestEvaluate(t *testing.T) {
	const n, d, k = 5000, 3, 2
	rng := rand.New(rand.NewPCG(9, 9))
	x, y := make([]float64, n*d), make([]float64, n*k)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = x[i/k*d] + rng.NormFloat64()
	}
	source := func(lo, hi int) dataset.Source {
		src, err := dataset.FromDense(hi-lo, d, k, x[lo*d:hi*d], y[lo*k:hi*k])
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	var solutions []*ridge.Solution
	for g := range 3 {
		s := &ridge.Solution{Outcome: ridge.Outcome{Gamma: float64(g)}, Targets: make([]ridge.Target, k)}
		for j := range s.Targets {
			s.Targets[j] = ridge.Target{Coef: []float64{rng.NormFloat64(), 0.5, float64(j)}, Intercept: 0.25}
		}
		solutions = append(solutions, s)
	}
	e, err := model.Evaluate(context.Background(), source(0, n), solutions)
	if err != nil {
		t.Fatal(err)
	}
	for g, s := range solutions {
		for j, o := range s.Targets {
			var want model.Score
			for i := range n {
				want.Add(y[i*k+j], x[i*d]*o.Coef[0]+x[i*d+1]*o.Coef[1]+x[i*d+2]*o.Coef[2]+o.Intercept)
			}
			if got := e.Scores[g][j]; !(math.Abs(got.R2()-want.R2()) <= 1e-12) || got.Rows() != n {
				t.Errorf("solution %d, target %d: R² %v, want %v", g, j, got.R2(), want.R2())
			}
		}
	}
	m := len(e.Points)
	if m < 1000 || m > 2000 || e.Points[0].Observed[1] != y[1] || len(e.Points[0].Predicted) != 3*k {
		t.Errorf("%d points, the first %+v", m, e.Points[0])
	}
	var all sync.WaitGroup
	for rank, link := range dist.Loopback(3) {
		all.Go(func() {
			part, err := model.Evaluate(context.Background(), source(n*rank/3, n*(rank+1)/3), solutions)
			if err == nil {
				err = part.Pool(context.Background(), dataset.Share{Rank: rank, Size: 3}, link)
			}
			if err != nil {
				t.Error(err)
				return
			}
			for g := range solutions {
				a, b := part.Scores[g][1], e.Scores[g][1]
				if !(math.Abs(a.R2()-b.R2()) <= 1e-12) || a.Rows() != n || len(part.Points) > 2000 {
					t.Errorf(
						"rank %d: R² %v of %d rows, %d points; alone %v",
						rank,
						a.R2(),
						a.Rows(),
						len(part.Points),
						b.R2(),
					)
				}
			}
		})
	}
	all.Wait()
	if _, err := model.Evaluate(context.Background(), source(0, n), nil); !errors.Is(err, model.ErrShape) {
		t.Errorf("of no solutions: %v", err)
	}
}

// TestEncodingInModel: an encoding is written and read with the model, predicts for matrices with NaN, and
// one that contradicts the model, or itself, is refused.
func TestEncodingInModel(t *testing.T) {
	nan := math.NaN()
	src, err := dataset.FromTable(4, 2, 1, []float64{1, 7, 2, 9, nan, 7, 4, 9}, []float64{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	e, err := prepare.NewEncoding(2, []string{"a", "b"}, prepare.MissingMean, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Learn(context.Background(), src, prepare.LearnOptions{}); err != nil {
		t.Fatal(err)
	}
	var prep model.Preparation
	prep.Encode(e)
	rows, err := prep.Apply(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	var refused *model.PreparationError
	if _, err := prep.RowMap(); !errors.As(err, &refused) {
		t.Errorf("a row at hand is encoded: %v", err)
	}
	found, err := fdridge.Fit(context.Background(), rows, fdridge.Options{Gammas: []float64{1}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(prep, found.Solutions, model.Details{Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	read, err := model.Read(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	w := read.Fits[0]
	got, err := read.PredictMatrix(mat.NewDense(2, 2, []float64{nan, 9, 3, 7}))
	if err != nil {
		t.Fatal(err)
	}
	mean := (1.0 + 2 + 4) / 3
	for i, want := range []float64{
		mean*w.Coef[0][0] + w.Coef[0][2] + w.Intercept[0], 3*w.Coef[0][0] + w.Coef[0][1] + w.Intercept[0],
	} {
		if !(math.Abs(got.At(i, 0)-want) <= 1e-14*math.Abs(want)+1e-15) {
			t.Errorf("row %d is predicted %v, want %v", i, got.At(i, 0), want)
		}
	}
	if _, err := read.PredictMatrix(mat.NewDense(1, 2, []float64{1, 8})); !errors.Is(err, dataset.ErrUnknownLevel) {
		t.Errorf("an unknown level: %v", err)
	}
	p, err := read.Predictor(nil)
	if err != nil {
		t.Fatal(err)
	}
	if k, d := p.Dims(); k != 1 || d != 2 {
		t.Errorf("a predictor of %d targets from %d columns", k, d)
	}
	for _, c := range [][2]string{
		{`"9"`, `"7"`}, {`"inputs": 2`, `"inputs": 4`}, {`"missing": "mean"`, `"missing": "mode"`},
		{`"column": 1`, `"column": 2`}, {`"column": 1`, `"column": -1`},
		{`"levels"`, `"levles"`}, {`"means"`, `"meens"`},
	} {
		bad := strings.Replace(text.String(), c[0], c[1], 1)
		var format *model.FormatError
		if _, err := model.Read(strings.NewReader(bad)); bad == text.String() || !errors.As(err, &format) {
			t.Errorf("%s for %s: %v", c[1], c[0], err)
		}
	}
}
