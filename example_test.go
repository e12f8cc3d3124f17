package fdridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
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

// wide returns n rows of d features. The target is the first feature plus noise.
func wide(n, d int) dataset.Source {
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		for j := range d {
			x[i*d+j] = rng.NormFloat64()
		}
		y[i] = x[i*d] + 0.1*rng.NormFloat64()
	}
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		log.Fatal(err)
	}
	return src
}

// From a csv file to a certified fit.
func Example() {
	src, err := csv.Open("testdata/cal_housing.csv.gz", csv.Options{Targets: []string{"last"}})
	if err != nil {
		log.Fatal(err)
	}
	res, err := fdridge.Fit(context.Background(), src, fdridge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	best := res.Best()
	fmt.Printf("%s: relative error below 1e-8: %v\n", res.Method, best.Targets[0].RelativeErrorBound < 1e-8)
	fmt.Printf("γ = %.1f, R² ≥ %.3f\n", best.Gamma, best.Targets[0].R2().Lo)
	// Output:
	// exact: relative error below 1e-8: true
	// γ = 5.1, R² ≥ 0.637
}

// From rows to a certified fit: what runs, and γ, are chosen, and the result says why.
func ExampleFit() {
	src := lineSource(1000)
	ctx := context.Background()
	res, err := fdridge.Fit(ctx, src, fdridge.Options{Gammas: []float64{0.1, 1000}})
	if err != nil {
		log.Fatal(err)
	}
	cheap := res.Reason().Rule == reason.DirectIsCheaper
	fmt.Printf("%s, because it is cheaper than %v: %v\n", res.Method, res.Reason().Method, cheap)
	for _, f := range res.Solutions {
		fmt.Printf("gamma %g: x = %.2f, intercept %.2f\n", f.Gamma, f.Targets[0].Coef, f.Targets[0].Intercept)
	}

	res, err = fdridge.Fit(ctx, src, fdridge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	best := res.Best()
	fmt.Println(res.Method)
	fmt.Printf("the best of 50 gammas or more: %v; x = %.2f\n", best.Gamma == res.Choice.Gamma(), best.Targets[0].Coef)
	fmt.Printf("%v, 1e-8: %v\n", res.Status, best.Targets[0].RelativeErrorBound <= 1e-8)
	// Output:
	// exact, because it is cheaper than galerkin: true
	// gamma 0.1: x = [2.00 -1.00], intercept 5.00
	// gamma 1000: x = [1.03 -0.48], intercept 5.00
	// exact
	// the best of 50 gammas or more: true; x = [2.00 -1.00]
	// direct factorisation, 1e-8: true
}

// What Cholesky finds singular is solved by QR.
func ExampleResult() {
	src, err := dataset.FromDense(
		4,
		2,
		1,
		[]float64{1e9, 1e9, 1e9, 1e9, -1e9, -1e9, 1e9, 1e9},
		[]float64{1, 1.2, -1, 0.9},
	)
	if err != nil {
		log.Fatal(err)
	}
	told := map[fdridge.Stage]bool{}
	res, err := fdridge.Fit(context.Background(), src, fdridge.Options{NoIntercept: true,
		Gammas: []float64{1}, Method: ridge.Exact, Progress: func(s fdridge.Stage, _ ridge.Progress) { told[s] = true },
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range res.Trace {
		var singular *ridge.SingularError
		if errors.As(step.Err, &singular) {
			fmt.Println("singular to", step.Method)
		}
	}
	fmt.Println(res.Best().Method, res.Passes, told, res.Err())
	// Output:
	// singular to cholesky
	// qr 3 map[reading:true] <nil>
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
	res, err := fdridge.Fit(
		context.Background(),
		src,
		fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Method: ridge.CG, Size: 2, MaxPasses: 2},
	)
	if _, short := errors.AsType[*ridge.NotConvergedError](err); !short {
		log.Fatal(err)
	}
	remedies, err := res.Remedies()
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range remedies {
		switch r.Kind {
		case plan.FactorDirectly:
			fmt.Println("use method exact")
		case plan.AllowPasses:
			fmt.Printf("allow %.0f passes\n", r.Value)
		case plan.EnlargeSketch:
			fmt.Printf("use a sketch of %.0f rows\n", r.Value)
		}
	}
	// Output:
	// use method exact
	// allow 18 passes
	// use a sketch of 4 rows
}

// If the tolerance is not reached, Fit returns the best result together with an error. The caller may accept the result
// if its proved bound is small enough.
func ExampleResult_Err() {
	res, err := fdridge.Fit(
		context.Background(),
		wide(500, 40),
		fdridge.Options{NoIntercept: true, Gammas: []float64{100}, Method: ridge.CG, Size: 10, MaxPasses: 6},
	)
	var short *ridge.NotConvergedError
	if err != nil && !errors.As(err, &short) {
		log.Fatal(err) // there is no result
	}
	best := res.Best()
	fmt.Println(res.Err() != nil, res.Status == ridge.PassLimit)
	fmt.Println("good enough:", best.Targets[0].RelativeErrorBound < 0.1)
	// Output:
	// true true
	// good enough: true
}

// What was wrong with a call can be told from the error.
func ExampleFit_errors() {
	ctx, src := context.Background(), lineSource(1000)
	for _, opts := range []fdridge.Options{
		{NoIntercept: true, Gammas: []float64{-1}},
		{NoIntercept: true, Gammas: []float64{1e-80}, Method: ridge.OneShot},
		{NoIntercept: true, Gammas: []float64{1}, Method: ridge.Exact, MaxBytes: 100},
		{NoIntercept: true, Folds: 5, MaxBytes: 100},
		{NoIntercept: true, Folds: 2000},
	} {
		_, err := fdridge.Fit(ctx, src, opts)
		var gamma *ridge.GammaError
		var scale *ridge.ScaleError
		var size *ridge.SizeError
		var folds *choose.FoldsError
		switch {
		case errors.As(err, &gamma):
			fmt.Println("no γ:", gamma.Gamma)
		case errors.As(err, &scale):
			fmt.Println("out of range:", scale.What)
		case errors.As(err, &size):
			fmt.Println("more memory than allowed:", size.Bytes > size.Limit)
		case errors.As(err, &folds):
			fmt.Println("more memory than allowed for folds:", folds.Folds)
		case errors.Is(err, ridge.ErrShape):
			fmt.Println("more folds than rows")
		}
	}
	// Output:
	// no γ: -1
	// out of range: gamma
	// more memory than allowed: true
	// more memory than allowed for folds: 5
	// more folds than rows
}

// A result as JSON, for another service or a log, and read again: nothing that is infinite or not
// known is in the way, and the status has its name.
func ExampleResult_MarshalJSON() {
	src := lineSource(1000)
	res, err := fdridge.Fit(
		context.Background(),
		src,
		fdridge.Options{Gammas: []float64{0.1, 1000}, Size: 1, Method: ridge.OneShot},
	)
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(res)
	if err != nil {
		log.Fatal(err)
	}
	var read fdridge.Result
	if err := json.Unmarshal(text, &read); err != nil {
		log.Fatal(err)
	}
	for i, f := range read.Solutions {
		fmt.Printf(
			"gamma %g: x = %.2f, %q, the same bound: %v, which proves something: %v\n",
			f.Gamma,
			f.Targets[0].Coef,
			f.Status,
			f.Targets[0].ErrorBound == res.Solutions[i].Targets[0].ErrorBound,
			f.Targets[0].Proves(),
		)
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
