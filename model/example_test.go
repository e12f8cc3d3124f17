package model_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// Columns of very different scales are standardised, and the model is written to a file. Another program predicts for
// rows in the units of the file. Its intervals contain the predictions of the exact solution.
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
	p, err := one.Predictor(model.ExactIntervals{Summary: sum})
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
	file := bytes.NewBufferString(
		`{"fdridge_model": 1, "preparation": {"inputs": 2}, "coef": [[2, 0.5], [0, 1]], "intercept": [1, -1]}`,
	)
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

// fitted is a model of two γ for rows in memory, and the summary of its rows.
func fitted() (*model.Model, *ridge.Summary, error) {
	src, err := dataset.FromDense(4, 2, 1, []float64{1, 0, 0, 2, 1, 1, 2, 0}, []float64{1, 2, 3, 5})
	if err != nil {
		return nil, nil, err
	}
	sum, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{Size: 1}, nil)
	if err != nil {
		return nil, nil, err
	}
	path, err := ridge.SolvePath(context.Background(), src, sum, []float64{0.1, 10}, ridge.SolveOptions{})
	if err != nil {
		return nil, nil, err
	}
	m, err := model.New(model.Preparation{}, path, model.Details{Size: 1, Tol: 1e-8})
	return m, sum, err
}

// A model without an intercept needs no summary for intervals: its certificate proves them.
func ExampleModel_Predictor() {
	m, sum, err := fitted()
	if err != nil {
		log.Fatal(err)
	}
	one, err := m.At(10)
	if err != nil {
		log.Fatal(err)
	}
	src, err := dataset.FromDense(1, 2, 0, []float64{1, 3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, by := range []model.ExactIntervals{{}, {Summary: sum}} {
		var p *model.Predictor
		p, err = one.Predictor(by)
		if err != nil {
			log.Fatal(err)
		}
		for row, err := range p.Predict(context.Background(), src) {
			if err != nil {
				log.Fatal(err)
			}
			var prediction model.Prediction = row
			fmt.Printf(
				"by %s: row %d, %.4f, known to 1e-6: %v\n",
				p.Basis(),
				prediction.Row,
				prediction.Y[0],
				prediction.Intervals[0].Hi-prediction.Intervals[0].Lo < 1e-6,
			)
		}
	}
	// Output:
	// by model: row 0, 2.0795, known to 1e-6: true
	// by sketch and model: row 0, 2.0795, known to 1e-6: true
}

// The bounds that are proved for each target, and the whole record from which a report is made.
func ExampleFit_Certificates() {
	m, _, err := fitted()
	if err != nil {
		log.Fatal(err)
	}
	var fit model.Fit = m.Fits[1]
	certificates, err := fit.Certificates()
	if err != nil {
		log.Fatal(err)
	}
	record, err := fit.Certificate.Record()
	if err != nil {
		log.Fatal(err)
	}
	var bound float64 = record.Certificates[0].RelativeErrorBound
	fmt.Println(record.Gamma, record.Method, record.Converged, bound <= 1e-8)
	fmt.Println(certificates[0].RelativeErrorBound == bound)
	var about *model.Fitted = fit.Fitted
	fmt.Println("about other weights than those beside it:", about.Coef != nil)
	// Output:
	// 10 cg true true
	// true
	// about other weights than those beside it: false
}

// A model of solutions that are not certified to the tolerance keeps why, and what is certified of
// them.
func ExampleModel_Err() {
	ctx := context.Background()
	src, err := dataset.FromDense(4, 2, 1, []float64{1, 10, 2, 30, 3, 20, 4, 50}, []float64{1, 2, 3, 5})
	if err != nil {
		log.Fatal(err)
	}
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 1, Store: fd.StoreRows}, nil)
	if err != nil {
		log.Fatal(err)
	}
	solutions, err := ridge.SolvePath(
		ctx,
		src,
		sum,
		[]float64{1},
		ridge.SolveOptions{Method: ridge.Newton, MaxPasses: 2},
	)
	var missed *ridge.NotConvergedError
	if errors.As(err, &missed) {
		solutions = missed.Solutions
	} else if err != nil {
		log.Fatal(err)
	}
	m, err := model.New(model.Preparation{}, solutions, model.Details{Tol: 1e-8})
	if err != nil {
		log.Fatal(err)
	}
	var short *model.ShortfallError
	if errors.As(m.Err(), &short) {
		fmt.Println(short.Status, short.Tol, short.Certified > short.Tol)
	}
	fmt.Println(errors.Is(m.Err(), ridge.ErrPassLimit))
	// Output:
	// the limit on passes 1e-08 true
	// true
}

// What may be wrong with a model, or with what it is asked for.
func Example_errors() {
	for _, text := range []string{"gamma,coef", `{"fdridge_model": 9}`,
		`{"fdridge_model": 1, "preparation": {"inputs": 1}, "gamma": 1, "coef": [1e308], "intercept": 2}`} {
		m, err := model.Read(strings.NewReader(text))
		if _, ok := errors.AsType[*model.FormatError](err); ok {
			fmt.Println("no model")
			continue
		}
		if e, ok := errors.AsType[*model.VersionError](err); ok {
			fmt.Println("version", e.Version)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		_, err = m.At(3)
		if e, ok := errors.AsType[*model.GammaError](err); ok {
			fmt.Println("no γ", e.Gamma, "among", e.Has)
		}
		_, err = m.Predictor(model.ExactIntervals{})
		fmt.Println(errors.Is(err, model.ErrUnrecorded))
		_, err = m.PredictMatrix(mat.NewDense(1, 2, nil))
		if e, ok := errors.AsType[*model.PreparationError](err); ok {
			fmt.Println(errors.Is(e, model.ErrShape), e)
		}
		_, err = m.PredictMatrix(mat.NewDense(2, 1, []float64{1, 1e10}))
		if e, ok := errors.AsType[*model.OverflowError](err); ok {
			fmt.Println("too large for row", e.Row)
		}
		_, err = m.Fits[0].Certificate.Record()
		if e, ok := errors.AsType[*model.CertificateError](err); ok {
			fmt.Println(e)
		}
	}
	m, _, err := fitted()
	if err != nil {
		log.Fatal(err)
	}
	one, err := m.At(10)
	if err != nil {
		log.Fatal(err)
	}
	other, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 1})
	if err != nil {
		log.Fatal(err)
	}
	_, err = one.Predictor(model.ExactIntervals{Summary: other})
	if e, ok := errors.AsType[*model.SummaryError](err); ok {
		fmt.Println(errors.Is(e, ridge.ErrOtherRows))
	}
	// Output:
	// no model
	// version 9
	// no γ 3 among [1]
	// true
	// true model: the rows cannot be prepared: model: dimensions disagree: rows of 2 features, the preparation is of 1
	// too large for row 1
	// model: its certificate cannot be read: there is none
	// true
}

// The predictions of a model are scored as they come, on rows whose target is known.
func ExampleScore() {
	src, err := dataset.FromDense(4, 1, 1, []float64{1, 2, 3, 4}, []float64{3, 5, 7, 10})
	if err != nil {
		log.Fatal(err)
	}
	line := `{"fdridge_model": 1, "preparation": {"inputs": 1}, "coef": [2], "intercept": 1}` // ŷ = 2x + 1
	m, err := model.Read(strings.NewReader(line))
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

// A model with penalised columns records the penalty. Its weights are for the columns as they are in the data.
func ExamplePenalty() {
	src, err := dataset.FromDense(3, 2, 1, []float64{1, 0, 0, 1, 1, 1}, []float64{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	r, err := fdridge.Fit(
		context.Background(),
		src,
		fdridge.Options{
			NoIntercept: true,
			Gammas:      []float64{1},
			Bands:       []choose.Band{{Name: "second", Columns: []int{1}, Penalty: 4}},
		},
	)
	if err != nil {
		log.Fatal(err)
	}
	m, err := model.New(model.Preparation{}, r.Solutions, model.Details{Bands: model.Bands(r.Bands.Bands)})
	if err != nil {
		log.Fatal(err)
	}
	var band model.Band = m.Penalty.Bands[0]
	fmt.Printf("%v: %s by %v\n", m.Penalty.After, band.Columns, band.Penalty)
	fmt.Printf("%.4f %.4f\n", m.Fits[0].Coef[0][0], m.Fits[0].Coef[0][1])
	// Output:
	// [1 4]: second by 4
	// 1.1176 0.6471
}
