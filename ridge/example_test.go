package ridge_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
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

// One pass over rows that need not be kept, γ chosen afterwards.
func ExampleSummary() {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	x, y := line(1000)
	for i := 0; i < 1000; i += 100 { // as they come
		if err := sum.Append(x.Slice(i, i+100, 0, 2), y.Slice(i, i+100, 0, 1), nil); err != nil {
			log.Fatal(err)
		}
	}
	for _, gamma := range []float64{0.1, 1000} {
		f, err := sum.Fit(gamma)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("gamma %g: x = %.2f, intercept %.2f, ‖x̂ − x*‖ ≤ 1e-7: %v\n",
			gamma, f.Targets[0].Coef, f.Targets[0].Intercept, f.Targets[0].ErrorBound <= 1e-7)
	}
	// Output:
	// gamma 0.1: x = [2.00 -1.00], intercept 5.00, ‖x̂ − x*‖ ≤ 1e-7: true
	// gamma 1000: x = [1.03 -0.48], intercept 5.00, ‖x̂ − x*‖ ≤ 1e-7: true
}

// What the fit predicts for new samples; why a method stopped can be asked for.
func ExampleSolution_Predict() {
	x, y := line(1000)
	src, err := dataset.FromDense(1000, 2, 1, x.RawMatrix().Data, y.RawMatrix().Data)
	if err != nil {
		log.Fatal(err)
	}
	fits, err := ridge.SolveExact(context.Background(), src, []float64{0.1}, ridge.ExactOptions{Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	yhat, err := fits[0].Predict(mat.NewDense(2, 2, []float64{0, 0, 1, 1}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n%v, %v\n", mat.Formatted(yhat), fits[0].Status, fits[0].Status.Err())
	// Output:
	// ⎡5.00⎤
	// ⎣6.00⎦
	// direct factorisation, <nil>
}

// Further passes refine a sketch that is too small to answer by itself, until the
// error is certified.
func ExampleSolve() {
	const n, d = 500, 40
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = x[i*d] + rng.NormFloat64()
	}
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 10}, nil)
	if err != nil {
		log.Fatal(err)
	}
	once, err := sum.Fit(100)
	if err != nil {
		log.Fatal(err)
	}
	f, err := ridge.Solve(ctx, src, sum, 100, ridge.SolveOptions{Tol: 1e-10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("one pass certifies a relative error of %.1f\n", once.Targets[0].RelativeErrorBound)
	fmt.Printf("%s: 1e-10 certified: %v\n", f.Method, f.Targets[0].RelativeErrorBound <= 1e-10)
	// Output:
	// one pass certifies a relative error of 0.9
	// cg: 1e-10 certified: true
}
