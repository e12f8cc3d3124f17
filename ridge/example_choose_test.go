package ridge_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// lineSource has the rows of line.
func lineSource(n int) dataset.Source {
	x, y := line(n)
	src, err := dataset.FromDense(n, 2, 1, x.RawMatrix().Data, y.RawMatrix().Data)
	if err != nil {
		log.Fatal(err)
	}
	return src
}

// The γ of the least GCV, from the sketch alone. The scores are proved brackets, so that
// the choice can be certain.
func ExampleSummary_ChooseGamma() {
	sum, err := ridge.Summarize(context.Background(), lineSource(1000), ridge.SummaryConfig{Size: 2, Intercept: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	choice, err := sum.ChooseGamma([]float64{0.01, 1, 100, 10000})
	if err != nil {
		log.Fatal(err)
	}
	for i, f := range choice.Path {
		var score ridge.Interval = choice.Scores[i][0]
		fmt.Printf("gamma %g: GCV %.2g\n", f.Gamma, score.Mid())
	}
	fmt.Printf("best %g, certain: %v\n", choice.Gamma(), choice.Certain)
	best := choice.Path[choice.Index].Targets[0]
	fmt.Printf("1 − R² is at most %.0e\n", 1-best.R2().Lo)
	// Output:
	// gamma 0.01: GCV 9.4e-05
	// gamma 1: GCV 9.8e-05
	// gamma 100: GCV 0.041
	// gamma 10000: GCV 4.3
	// best 0.01, certain: true
	// 1 − R² is at most 2e-05
}

// Leave-one-out errors, which scikit-learn's RidgeCV chooses by, for several γ in one pass.
func ExampleLeaveOneOut() {
	src := lineSource(1000)
	sum, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{Size: 2, Intercept: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	path, err := sum.Path([]float64{0.01, 1, 100})
	if err != nil {
		log.Fatal(err)
	}
	scores, err := ridge.LeaveOneOut(context.Background(), src, sum, path, ridge.LeaveOneOutOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for i, f := range path {
		fmt.Printf("gamma %g: leave-one-out error %.2g\n", f.Gamma, scores[i][0].Mid())
	}
	// From end to end, passes on the choice included where the sketch leaves it open.
	res, err := ridge.Fit(context.Background(), src, ridge.Options{Select: ridge.ByLOO, Candidates: []float64{0.01, 1, 100}, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("best %g by %v, certain: %v\n", res.Choice.Gamma(), res.Choice.By, res.Choice.Certain)
	// Output:
	// gamma 0.01: leave-one-out error 9.3e-05
	// gamma 1: leave-one-out error 9.8e-05
	// gamma 100: leave-one-out error 0.041
	// best 0.01 by loo, certain: true
}

// Cross-validation in one pass over the rows, and another γ for each target.
func ExampleCrossValidate() {
	const n = 400
	x, first := line(n)
	var y []float64 // the second target has no more to do with x than chance has
	for i := range n {
		y = append(y, first.At(i, 0), float64(i*i%7))
	}
	src, err := dataset.FromDense(n, 2, 2, x.RawMatrix().Data, y)
	if err != nil {
		log.Fatal(err)
	}
	cv, err := ridge.CrossValidate(context.Background(), src, ridge.SummaryConfig{Size: 2, Intercept: true}, ridge.CrossValidation{
		Folds: 5, Gammas: []float64{0.01, 1, 1e6},
	})
	if err != nil {
		log.Fatal(err)
	}
	var gammas []float64
	for j := range 2 {
		choice, err := cv.ChooseRidge(j)
		if err != nil {
			log.Fatal(err)
		}
		gammas = append(gammas, cv.Gammas[choice.Index])
	}
	path, err := cv.Summary.Path(cv.Gammas) // of all rows
	if err != nil {
		log.Fatal(err)
	}
	fits, err := ridge.PerTarget(path, gammas)
	if err != nil {
		log.Fatal(err)
	}
	for j, f := range fits {
		yhat := make([]float64, 1)
		if err := f.PredictRow(yhat, []float64{1, 1}); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("target %d: gamma %g, predicts %.1f\n", j+1, f.Gamma, yhat[0])
	}
	fmt.Println(cv.Passes, "pass")
	// Output:
	// target 1: gamma 0.01, predicts 6.0
	// target 2: gamma 1e+06, predicts 2.0
	// 1 pass
}

// A tolerance that was missed comes with what would help, found from what the run has seen.
func ExampleResult_Remedies() {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, 100*8), make([]float64, 100)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = x[8*i] + rng.NormFloat64()
	}
	src, err := dataset.FromDense(100, 8, 1, x, y)
	if err != nil {
		log.Fatal(err)
	}
	res, err := ridge.Fit(context.Background(), src, ridge.Options{Gammas: []float64{1}, Method: "cg", Size: 2, MaxPasses: 2})
	if _, short := errors.AsType[*ridge.NotConvergedError](err); !short {
		log.Fatal(err)
	}
	remedies, err := res.Remedies()
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range remedies {
		fmt.Println(r)
	}
	// Output:
	// solve directly
	// allow 18 passes
	// take a sketch of 4 rows
}
