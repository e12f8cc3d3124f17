package ridge_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// What the exact solution predicts, in proved intervals: from the sketch alone, and narrowed
// by a fit whose error was measured. A fit of other rows is refused.
func ExamplePredictor() {
	const n, d, gamma = 300, 30, 50
	src := wide(n, d)
	ctx := context.Background()
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	p, err := sum.Predictor(gamma)
	if err != nil {
		log.Fatal(err)
	}
	fresh := dataset.Block{N: 2, X: make([]float64, 2*d)}
	fresh.X[0], fresh.X[d+1] = 1, 1
	out := make([]ridge.Interval, fresh.N)
	if err := p.Predict(out, fresh); err != nil {
		log.Fatal(err)
	}
	fmt.Println("by the sketch to 0.01:", out[0].Hi-out[0].Lo < 0.01)

	fit, err := ridge.Solve(ctx, src, sum, gamma, ridge.SolveOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Narrow(fit); err != nil {
		log.Fatal(err)
	}
	if err := p.Predict(out, fresh); err != nil {
		log.Fatal(err)
	}
	for i, v := range out {
		fmt.Printf("row %d: %.3f, to 1e-6: %v\n", i, v.Mid(), v.Hi-v.Lo < 1e-6)
	}

	others, err := ridge.SolveExact(ctx, wide(n+1, d), []float64{gamma}, ridge.ExactOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("of other rows:", errors.Is(p.Narrow(others[0]), ridge.ErrOtherRows))
	// Output:
	// by the sketch to 0.01: false
	// row 0: 0.840, to 1e-6: true
	// row 1: -0.002, to 1e-6: true
	// of other rows: true
}
