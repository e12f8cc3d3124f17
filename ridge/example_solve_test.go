package ridge_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

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

// A diary keeps the passes of a solve in memory. A program would write them to disk, at
// most every few minutes.
type diary map[int][]byte

func (d diary) Recorded(pass int) ([]byte, error) { return d[pass], nil }

func (d diary) Due() bool { return false }

func (d diary) Record(pass int, state []byte) error {
	d[pass] = state
	for later := range d {
		if later > pass {
			delete(d, later)
		}
	}
	return nil
}

// A solve that is interrupted goes on from where it was.
func ExampleJournal() {
	src := wide(500, 40)
	sum, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{Size: 10}, nil)
	if err != nil {
		log.Fatal(err)
	}
	kept := diary{}
	ctx, interrupt := context.WithCancel(context.Background())
	_, err = ridge.Solve(ctx, src, sum, 100, ridge.SolveOptions{Journal: kept, Progress: func(p ridge.Progress) {
		if p.Pass == 4 {
			interrupt()
		}
	}})
	fmt.Println(err)

	first := 0 // pass that reads rows
	fit, err := ridge.Solve(
		context.Background(),
		src,
		sum,
		100,
		ridge.SolveOptions{Journal: kept, Progress: func(p ridge.Progress) {
			if first == 0 {
				first = p.Pass
			}
		}},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v, from pass %d on\n", fit.Status, first)
	// Output:
	// context canceled
	// certified to the tolerance, from pass 5 on
}

// Columns is the Hessian that knows of AᵀA no more than its diagonal.
type columns struct {
	squares []float64 // ‖aⱼ‖² of each column
	total   float64
}

func (h columns) Solve(q int, gamma []float64, g, dst []float64) {
	d := len(h.squares)
	for i := range q {
		for j, v := range h.squares {
			dst[i*d+j] = g[i*d+j] / (v + gamma[i])
		}
	}
}

func (h columns) Range(gamma float64) (lo, hi float64) { return 0, h.total/gamma + 1 }

// CG with other Hessians than the sketch's. The certificates are the same: they follow from
// measured gradients, whatever led there.
func ExampleHessian() {
	const n, d = 500, 40
	ctx, src := context.Background(), wide(n, d)
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: d}, nil)
	if err != nil {
		log.Fatal(err)
	}
	h := columns{squares: make([]float64, d)}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for i, v := range b.X {
			h.squares[i%d] += v * v
			h.total += v * v
		}
	}
	for _, hessian := range []ridge.Hessian{h, ridge.Identity{Largest: h.total}} {
		worst := 0.0
		fit, err := ridge.Solve(ctx, src, sum, 1, ridge.SolveOptions{Hessian: hessian, Observe: func(at ridge.Iterate) {
			if at.Measured {
				worst = at.RelativeError
			}
		}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%T: %v, last measured below 1e-8: %v\n", hessian, fit.Status, worst <= 1e-8)
	}
	// Output:
	// ridge_test.columns: certified to the tolerance, last measured below 1e-8: true
	// ridge.Identity: certified to the tolerance, last measured below 1e-8: true
}

// The Iterative Hessian Sketch: Newton's method with another random sketch of the rows in
// every step.
func ExampleRefresher() {
	ctx, src := context.Background(), wide(500, 20)
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	var fresh ridge.Refresher
	fresh, err = randsketch.NewFresh(src, randsketch.Config{Rows: 300, Dim: 20})
	if err != nil {
		log.Fatal(err)
	}
	fit, err := ridge.Solve(ctx, src, sum, 100, ridge.SolveOptions{Method: ridge.Newton, Hessian: fresh, Tol: 1e-4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.Method, fit.Status)
	// Output:
	// newton certified to the tolerance
}

// Where the tolerance is not reached the best solutions come with the error, and their
// certificates hold.
func ExampleNotConvergedError() {
	ctx, src := context.Background(), wide(500, 40)
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 10}, nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = ridge.Solve(ctx, src, sum, 100, ridge.SolveOptions{MaxPasses: 6})
	var short *ridge.NotConvergedError
	if !errors.As(err, &short) {
		log.Fatal(err)
	}
	best := short.Solutions[0].Targets[0]
	fmt.Println(errors.Is(err, ridge.ErrPassLimit), best.RelativeErrorBound < 0.1)
	// Output:
	// true true
}

// Least squares, γ = 0, is for QR.
func ExampleExact() {
	fits, err := ridge.SolveExact(
		context.Background(),
		lineSource(1000),
		[]float64{0},
		ridge.ExactOptions{Method: ridge.QR, Intercept: true},
	)
	if err != nil {
		log.Fatal(err)
	}
	var found ridge.Certificate = fits[0].Targets[0].Certificate
	fmt.Printf(
		"%s: x = %.2f, ‖x̂ − x*‖ ≤ 1e-12: %v\n",
		fits[0].Method,
		fits[0].Targets[0].Coef,
		found.ErrorBound <= 1e-12,
	)
	// Output:
	// qr: x = [2.00 -1.00], ‖x̂ − x*‖ ≤ 1e-12: true
}
