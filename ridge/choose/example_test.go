package choose_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// line makes n rows of y = 2x₁ − x₂ + 5 and little noise.
func line(n int) (x, y *mat.Dense) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y = mat.NewDense(n, 2, nil), mat.NewDense(n, 1, nil)
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		y.Set(i, 0, 2*a-b+5+0.01*rng.NormFloat64())
	}
	return x, y
}

// lineSource has the rows of line.
func lineSource(n int) dataset.Source {
	src, err := dataset.FromMatrix(line(n))
	if err != nil {
		log.Fatal(err)
	}
	return src
}

// The γ of the least GCV, from the sketch alone. The scores are proved brackets, so that
// the choice can be certain.
func ExampleGamma() {
	sum, err := ridge.Summarize(
		context.Background(),
		lineSource(1000),
		ridge.SummaryConfig{Size: 2, Intercept: true},
		nil,
	)
	if err != nil {
		log.Fatal(err)
	}
	choice, err := choose.Gamma(sum, []float64{0.01, 1, 100, 10000})
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
	cv, err := choose.CrossValidate(
		context.Background(),
		src,
		ridge.SummaryConfig{Size: 2, Intercept: true},
		choose.CrossValidation{
			Folds: 5, Gammas: []float64{0.01, 1, 1e6},
		},
	)
	if err != nil {
		log.Fatal(err)
	}
	choice, err := cv.ChooseEach(false)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := cv.Summary.FitEach(choice.Gammas) // of all rows
	if err != nil {
		log.Fatal(err)
	}
	yhat := make([]float64, 2)
	if err := fit.PredictRow(yhat, []float64{1, 1}); err != nil {
		log.Fatal(err)
	}
	for j, v := range yhat {
		fmt.Printf("target %d: gamma %g, predicts %.1f\n", j+1, fit.GammaOf(j), v)
	}
	fmt.Println(cv.Passes, "pass")
	// Output:
	// target 1: gamma 0.01, predicts 6.0
	// target 2: gamma 1e+06, predicts 2.0
	// 1 pass
}

// Groups of columns with one penalty each.
func ExamplePenalties() {
	p, err := choose.Penalties(
		5,
		nil,
		[]choose.Band{{Columns: []int{0, 1}, Penalty: 0.1}, {Columns: []int{4}, Penalty: 20}},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	// Output:
	// [0.1 0.1 1 1 20]
}

// Only the first of two groups of columns matters. The penalties of the groups are chosen by GCV, and the fit is
// certified like any other.
func ExampleBand() {
	const n, d, few = 400, 30, 3
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, 0, n*d), make([]float64, n)
	for i := range n {
		y[i] = rng.NormFloat64()
		for j := range d {
			v := rng.NormFloat64()
			x = append(x, v)
			if j < few {
				y[i] += v
			} else {
				y[i] += 0.1 * v
			}
		}
	}
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		log.Fatal(err)
	}
	bands := []choose.Band{{Name: "known"}, {Name: "others"}}
	for j := range d {
		band := &bands[min(j/few, 1)]
		band.Columns = append(band.Columns, j)
	}
	r, err := fdridge.Fit(context.Background(), src, fdridge.Options{NoIntercept: true, Bands: bands})
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range r.Bands.Bands {
		fmt.Printf("%s: penalty %.3g\n", b.Name, b.Penalty)
	}
	fmt.Println("the least GCV of those tried, for certain:", r.Bands.Choice.Certain)
	fmt.Println("certified:", r.Best().Targets[0].RelativeErrorBound <= 1e-8)
	// Output:
	// known: penalty 1
	// others: penalty 100
	// the least GCV of those tried, for certain: true
	// certified: true
}

// How penalties were chosen: the trials, and whether a better trial is possible.
func ExampleBandChoice() {
	sum, err := ridge.Summarize(
		context.Background(),
		lineSource(1000),
		ridge.SummaryConfig{Size: 2, Intercept: true},
		nil,
	)
	if err != nil {
		log.Fatal(err)
	}
	choice, err := choose.Bands(
		context.Background(),
		sum,
		choose.BandOptions{
			Bands:      []choose.Band{{Name: "first", Columns: []int{0}}, {Name: "second", Columns: []int{1}}},
			Candidates: []float64{1, 10, 100},
		},
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range choice.Bands {
		fmt.Printf("%s: %.6g\n", b.Name, b.Penalty)
	}
	var first choose.BandTrial = choice.Tried[0]
	best := choice.Tried[choice.Choice.Index]
	fmt.Println("begun with", first.Penalties, "and certainly better:", best.GCV.Hi < first.GCV.Lo)
	// Output:
	// first: 1
	// second: 0.00316228
	// begun with [1 1] and certainly better: true
}
