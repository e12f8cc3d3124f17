package ridge_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/fdridge/fdridge/dataset"
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
	res, err := ridge.FitSummary(ctx, src, sum, ridge.Options{Gammas: []float64{10}, Penalty: p, Tol: 1e-12})
	if err != nil {
		log.Fatal(err)
	}
	best := res.Best().Targets[0]
	fmt.Printf("x = %.2f, %.2f, certified to 1e-12: %v\n", best.Coef[0], best.Coef[1], best.RelativeErrorBound <= 1e-12)
	// Output:
	// x = 1.98, -0.48, to 3e-11
	// x = 1.98, -0.48, certified to 1e-12: true
}

// Groups of columns with one penalty each.
func ExamplePenalties() {
	p, err := ridge.Penalties(5, []ridge.Band{{Columns: []int{0, 1}, Penalty: 0.1}, {Columns: []int{4}, Penalty: 20}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	// Output:
	// [0.1 0.1 1 1 20]
}

// Two groups of columns, of which the first matters: their penalties are chosen by GCV, and the fit is
// certified as any other.
func ExampleBand() {
	const n, d, few = 400, 30, 3
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, 0, n*d), make([]float64, n)
	for i := range n {
		y[i] = rng.NormFloat64()
		for j := range d {
			v := rng.NormFloat64()
			if x = append(x, v); j < few {
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
	bands := []ridge.Band{{Name: "known"}, {Name: "others"}}
	for j := range d {
		band := &bands[min(j/few, 1)]
		band.Columns = append(band.Columns, j)
	}
	r, err := ridge.Fit(context.Background(), src, ridge.Options{Bands: bands})
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

// How penalties were chosen: what was tried, and whether another set of those is better.
func ExampleBandChoice() {
	sum, err := ridge.Summarize(context.Background(), lineSource(1000), ridge.SummaryConfig{Size: 2, Intercept: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	choice, err := sum.ChooseBands(context.Background(), []ridge.Band{{Name: "first", Columns: []int{0}}, {Name: "second", Columns: []int{1}}}, []float64{1, 10, 100})
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range choice.Bands {
		fmt.Printf("%s: %.6g\n", b.Name, b.Penalty)
	}
	var first ridge.BandTrial = choice.Tried[0]
	best := choice.Tried[choice.Choice.Index]
	fmt.Println("begun with", first.Penalties, "and certainly better:", best.GCV.Hi < first.GCV.Lo)
	// Output:
	// first: 1
	// second: 0.00316228
	// begun with [1 1] and certainly better: true
}
