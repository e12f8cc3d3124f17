package ridge_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/ridge"
)

// One sketch serves every penalty: γ·(x₁² + 100·x₂²), put on it when the pass is over.
func ExampleSummary_Penalize() {
	ctx, src := context.Background(), lineSource(1000)
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 2, Intercept: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	p := []float64{1, 100}
	view, err := sum.Penalize(p)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := view.Fit(10) // of columns that are divided by √p
	if err != nil {
		log.Fatal(err)
	}
	z := fit.Targets[0].Coef
	fmt.Printf("x = %.2f, %.2f, to %.0e\n", z[0]/1, z[1]/10, fit.Targets[0].ErrorBound)
	// The same, with weights of the columns as they are.
	res, err := fdridge.FitSummary(
		ctx,
		src,
		sum,
		fdridge.Options{NoIntercept: true, Gammas: []float64{10}, Penalty: p, Tol: 1e-12},
	)
	if err != nil {
		log.Fatal(err)
	}
	best := res.Best().Targets[0]
	fmt.Printf("x = %.2f, %.2f, certified to 1e-12: %v\n", best.Coef[0], best.Coef[1], best.RelativeErrorBound <= 1e-12)
	// Output:
	// x = 1.98, -0.48, to 3e-11
	// x = 1.98, -0.48, certified to 1e-12: true
}
