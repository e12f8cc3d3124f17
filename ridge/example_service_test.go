package ridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// A result as JSON, for another service or a log, and read again: nothing that is infinite or not
// known is in the way, and the status has its name.
func ExampleResult_MarshalJSON() {
	x, y := line(1000)
	src, err := dataset.FromMatrix(x, y)
	if err != nil {
		log.Fatal(err)
	}
	res, err := ridge.Fit(context.Background(), src, ridge.Options{Gammas: []float64{0.1, 1000}, Size: 1, Method: "one-shot", Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(res)
	if err != nil {
		log.Fatal(err)
	}
	var read ridge.Result
	if err := json.Unmarshal(text, &read); err != nil {
		log.Fatal(err)
	}
	for i, f := range read.Solutions {
		fmt.Printf("gamma %g: x = %.2f, %q, the same bound: %v, which proves something: %v\n",
			f.Gamma, f.Targets[0].Coef, f.Status, f.Targets[0].ErrorBound == res.Solutions[i].Targets[0].ErrorBound, f.Targets[0].Proves())
	}
	var fields struct {
		Solutions []struct{ Status string }
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		log.Fatal(err)
	}
	fmt.Println(fields.Solutions[0].Status)
	// Output:
	// gamma 0.1: x = [2.00 -1.00], "one pass", the same bound: true, which proves something: true
	// gamma 1000: x = [1.03 -0.48], "one pass", the same bound: true, which proves something: true
	// one-pass
}

// Predictions and proved intervals for a matrix of rows at once.
func ExamplePredictor_PredictMatrix() {
	x, y := line(1000)
	src, err := dataset.FromMatrix(x, y)
	if err != nil {
		log.Fatal(err)
	}
	sum, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{Size: 2, Intercept: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := sum.Fit(0.1)
	if err != nil {
		log.Fatal(err)
	}
	p, err := sum.Predictor(0.1)
	if err != nil {
		log.Fatal(err)
	}
	batch := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	yhat, err := fit.Predict(batch)
	if err != nil {
		log.Fatal(err)
	}
	within, err := p.PredictMatrix(batch)
	if err != nil {
		log.Fatal(err)
	}
	for i, v := range within { // of row i/t and target i mod t
		fmt.Printf("%.2f, of the exact solution to 1e-6: %v\n", yhat.At(i, 0), v.Lo <= yhat.At(i, 0)+1e-6 && v.Hi >= yhat.At(i, 0)-1e-6 && v.Hi-v.Lo < 1e-6)
	}
	// Output:
	// 7.00, of the exact solution to 1e-6: true
	// 4.00, of the exact solution to 1e-6: true
}
