package model_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// Columns of very different scales are standardised, the fit is kept, and another program
// predicts for rows in the units of the file, with intervals that hold what the exact
// solution predicts.
func Example() {
	ctx := context.Background()
	src, err := dataset.FromDense(6, 2, 1,
		[]float64{1, 1000, 2, 3000, 3, 2000, 4, 5000, 5, 4000, 6, 6000},
		[]float64{12, 33, 24, 55, 46, 67})
	if err != nil {
		log.Fatal(err)
	}
	scaled, scaling, err := dataset.Standardize(ctx, src)
	if err != nil {
		log.Fatal(err)
	}
	sum, err := ridge.Summarize(ctx, scaled, ridge.SummaryConfig{Size: 2, Intercept: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	path, err := ridge.SolvePath(ctx, scaled, sum, []float64{0.1, 10}, ridge.SolveOptions{})
	if err != nil {
		log.Fatal(err)
	}
	prep := model.Preparation{Inputs: 2, Names: []string{"floors", "area"}, Scaling: scaling}
	m, err := model.New(prep, path, model.Details{Intercept: true, Size: 2})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		log.Fatal(err)
	}

	read, err := model.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	one, err := read.At(0.1)
	if err != nil {
		log.Fatal(err)
	}
	for j, name := range one.Terms {
		fmt.Printf("%s: %.4f\n", name, one.Fits[0].Coef[0][j])
	}
	p, err := one.Predictor(model.Intervals{Summary: sum})
	if err != nil {
		log.Fatal(err)
	}
	y, within, err := p.PredictMatrix(mat.NewDense(1, 2, []float64{3, 4000}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f, the exact solution's is within 1e-6 of it: %v\n", y.At(0, 0), within[0].Hi-within[0].Lo < 1e-6)
	// Output:
	// floors: 1.5245
	// area: 0.0094
	// 43.43, the exact solution's is within 1e-6 of it: true
}

// A model of one γ predicts for any source of rows.
func ExampleModel_Predict() {
	ctx := context.Background()
	file := bytes.NewBufferString(`{"fdridge_model": 1, "preparation": {"inputs": 2}, "coef": [[2, 0.5], [0, 1]], "intercept": [1, -1]}`)
	m, err := model.Read(file)
	if err != nil {
		log.Fatal(err)
	}
	src, err := dataset.FromDense(2, 2, 0, []float64{1, 2, 3, 4}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range m.Predict(ctx, src) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Row, row.Y)
	}
	// Output:
	// 0 [4 1]
	// 1 [9 3]
}

// The predictions of a model are scored as they come, on rows whose target is known.
func ExampleScore() {
	src, err := dataset.FromDense(4, 1, 1, []float64{1, 2, 3, 4}, []float64{3, 5, 7, 10})
	if err != nil {
		log.Fatal(err)
	}
	line := &ridge.Solution{Gamma: 1, Targets: []ridge.Target{{Coef: []float64{2}, Intercept: 1}}} // ŷ = 2x + 1
	m, err := model.New(model.Preparation{Inputs: 1}, []*ridge.Solution{line}, model.Details{Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	var score model.Score
	for row, err := range m.Predict(context.Background(), src) {
		if err != nil {
			log.Fatal(err)
		}
		score.Add(row.Observed[0], row.Y[0])
	}
	fmt.Printf("R² %.3f, RMSE %.1f over %d rows\n", score.R2(), score.RMSE(), score.Rows())
	// Output: R² 0.963, RMSE 0.5 over 4 rows
}
