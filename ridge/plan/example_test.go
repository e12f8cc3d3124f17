package plan_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
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

// Where a sketch is kept, a plan tells what each method would take, marks what Fit runs by
// itself, and says whether something else would be sooner.
func ExampleNew() {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	x, y := line(1000)
	if err := sum.Append(x, y, nil); err != nil {
		log.Fatal(err)
	}
	plan, err := plan.New(sum, plan.Config{Rows: 1e6, Sizes: []int{1, 2}})
	if err != nil {
		log.Fatal(err)
	}
	best := plan.Options[plan.Best]
	fmt.Printf("%s, %d pass; of %d ways\n", best.Method, best.Passes[0], len(plan.Options))
	// Output:
	// exact, 1 pass; of 9 ways
}
