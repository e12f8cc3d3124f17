package ridge_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

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
		fmt.Printf(
			"%.2f, of the exact solution to 1e-6: %v\n",
			yhat.At(i, 0),
			v.Lo <= yhat.At(i, 0)+1e-6 && v.Hi >= yhat.At(i, 0)-1e-6 && v.Hi-v.Lo < 1e-6,
		)
	}
	// Output:
	// 7.00, of the exact solution to 1e-6: true
	// 4.00, of the exact solution to 1e-6: true
}
