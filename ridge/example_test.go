package ridge_test

import (
	"context"
	"errors"
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

// From rows to a certified fit: what runs, and γ, are chosen, and the result says why.
func ExampleFit() {
	x, y := line(1000)
	src, err := dataset.FromDense(1000, 2, 1, x.RawMatrix().Data, y.RawMatrix().Data)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	res, err := ridge.Fit(ctx, src, ridge.Options{Gammas: []float64{0.1, 1000}, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s\n", res.Method, res.Reason)
	for _, f := range res.Solutions {
		fmt.Printf("gamma %g: x = %.2f, intercept %.2f\n", f.Gamma, f.Targets[0].Coef, f.Targets[0].Intercept)
	}

	res, err = ridge.Fit(ctx, src, ridge.Options{Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	best := res.Best()
	fmt.Printf("%s: %s\n", res.Method, res.Reason)
	fmt.Printf("the best of 50 gammas or more: %v; x = %.2f\n", best.Gamma == res.Choice.Gamma(), best.Targets[0].Coef)
	fmt.Printf("%v, 1e-8: %v\n", res.Status, best.Targets[0].RelativeErrorBound <= 1e-8)
	// Output:
	// exact: d² numbers fit, and it is 0.091 times the work of galerkin, which would make about a dozen passes
	// gamma 0.1: x = [2.00 -1.00], intercept 5.00
	// gamma 1000: x = [1.03 -0.48], intercept 5.00
	// exact: d² numbers fit, and it is 0.091 times the work of galerkin, which would make about a dozen passes
	// the best of 50 gammas or more: true; x = [2.00 -1.00]
	// direct factorisation, 1e-8: true
}

// What Cholesky finds singular is solved by QR.
func ExampleResult() {
	src, err := dataset.FromDense(4, 2, 1, []float64{1e9, 1e9, 1e9, 1e9, -1e9, -1e9, 1e9, 1e9}, []float64{1, 1.2, -1, 0.9})
	if err != nil {
		log.Fatal(err)
	}
	told := map[ridge.Stage]bool{}
	res, err := ridge.Fit(context.Background(), src, ridge.Options{
		Gammas: []float64{1}, Method: "exact", Progress: func(s ridge.Stage, _ ridge.Progress) { told[s] = true },
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range res.Tried {
		var singular *ridge.SingularError
		fmt.Println("tried:", a.Method, errors.As(a.Err, &singular))
	}
	fmt.Println(res.Best().Method, res.Passes, told, res.Err())
	// Output:
	// tried: cholesky true
	// qr 3 map[reading:true] <nil>
}

// Where a sketch is kept, a plan tells what each method would take, marks what Fit runs by
// itself, and says whether something else would be sooner.
func ExampleSummary_Plan() {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	x, y := line(1000)
	if err := sum.Append(x, y, nil); err != nil {
		log.Fatal(err)
	}
	plan, err := sum.Plan(ridge.PlanConfig{Rows: 1e6, Sizes: []int{1, 2}})
	if err != nil {
		log.Fatal(err)
	}
	best := plan.Options[plan.Best]
	fmt.Printf("%s, %d pass; of %d ways\n", best.Method, best.Passes[0], len(plan.Options))
	// Output:
	// exact, 1 pass; of 11 ways
}

// What the fit predicts for new samples; why a method stopped can be asked for.
func ExampleSolution_Predict() {
	x, y := line(1000)
	src, err := dataset.FromDense(1000, 2, 1, x.RawMatrix().Data, y.RawMatrix().Data)
	if err != nil {
		log.Fatal(err)
	}
	fits, err := ridge.Exact(context.Background(), src, []float64{0.1}, ridge.ExactOptions{Intercept: true})
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
