package paper_test

import (
	"context"
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/paper"
)

// The mean squared error of the weights from a sketch of one row, of three, beside what
// is proved of it given that of ridge regression.
func ExampleLinearModel() {
	rows := []float64{4, 0, 0, 1, 3, -2}
	src, err := dataset.FromDense(3, 2, 1, rows, make([]float64, 3))
	if err != nil {
		panic(err)
	}
	model, err := paper.NewLinearModel(context.Background(), src, []float64{1, 2}, 0.5, nil)
	if err != nil {
		panic(err)
	}
	sketch, err := fd.New(fd.Config{Dim: 2, Size: 1})
	if err != nil {
		panic(err)
	}
	if err := sketch.AppendRows(3, rows, 2); err != nil {
		panic(err)
	}
	spectrum, err := sketch.Spectrum()
	if err != nil {
		panic(err)
	}
	robust, err := model.RFD(spectrum)
	if err != nil {
		panic(err)
	}
	for _, e := range []*paper.Estimator{model.Exact(), robust} {
		risk, err := e.Risk(10)
		if err != nil {
			panic(err)
		}
		bounds, err := e.Bounds(10)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %.3f within [%.3f, %.3f]\n", e.Method, risk.MSE, bounds.MSE.Lo, bounds.MSE.Hi)
	}
	// Output:
	// exact: 2.740 within [2.740, 2.740]
	// rfd: 2.488 within [2.445, 3.052]
}
