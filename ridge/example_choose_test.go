package ridge_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
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
		fmt.Printf("gamma %g: leave-one-out error %.2g\n", f.Gamma, scores.Estimates[i][0])
	}
	// From end to end, passes on the choice included where the sketch leaves it open.
	res, err := fdridge.Fit(
		context.Background(),
		src,
		fdridge.Options{Select: choose.LOO, Candidates: []float64{0.01, 1, 100}},
	)
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
