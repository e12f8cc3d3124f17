package paper_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/paper"
)

// The mean squared error of the weights from a sketch of one row, for data of three rows. The bounds beside the error
// are proved from the error of ridge regression.
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
	sketch, err := fd.New(fd.Config{Dim: 2, Size: 1, Store: fd.StoreRows})
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

// Figure 1 of the paper, small.
func ExampleRun() {
	out, err := os.MkdirTemp("", "paper")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(out)
	cfg := paper.Config{
		Out: out, Figures: []int{1}, Quick: true, Trials: 1, Gammas: []float64{1, 4},
		Progress: func(p paper.Progress) {
			if p.Done == 0 && p.What == "exact ridge regression" {
				fmt.Println("figure", p.Figure)
			}
		},
	}
	files, err := paper.Run(context.Background(), cfg)
	if err != nil {
		panic(err)
	}
	for _, name := range files {
		fmt.Println(filepath.Base(name))
	}
	cfg.Figures = []int{8}
	_, err = paper.Run(context.Background(), cfg)
	if wrong, ok := errors.AsType[*paper.SettingError](err); ok {
		fmt.Println(wrong.Reason)
	}
	// Output:
	// figure 1
	// figure1.png
	// figure1.svg
	// figure1.csv
	// figure1.json
	// RESULTS.md
	// figure 8 is none of [1 2 3 4 5 6 7]
}
