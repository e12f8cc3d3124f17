package ridge_test

import (
	"fmt"
	"log"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// Every γ from one pass, and the best one.
func ExampleSummary_Path() {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	x, y := line(1000)
	if err := sum.Append(x, y, nil); err != nil {
		log.Fatal(err)
	}
	fits, err := sum.Path(choose.Grid(sum, 7))
	if err != nil {
		log.Fatal(err)
	}
	best, err := choose.LeastGCV(fits, 0)
	if err != nil {
		log.Fatal(err)
	}
	f := fits[best.Index]
	v, err := sum.PredictInterval(f.Gamma, []float64{1, 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("γ number %d of 7, certain: %v; predicts %.2f to %.2f\n", best.Index+1, best.Certain, v[0].Lo, v[0].Hi)
	// Output:
	// γ number 1 of 7, certain: true; predicts 6.00 to 6.00
}
