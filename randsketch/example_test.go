package randsketch_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/randsketch"
)

// An SJLT of the identity is S itself: s = 10 nonzeros in each column, in distinct
// rows, so that columns have norm one. Blocks don't matter.
func Example() {
	s, err := randsketch.New(randsketch.Config{Kind: randsketch.SJLT, Rows: 100, Dim: 2, Seed: 7})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range [][]float64{{1, 0}, {0, 1}} {
		if err := s.AppendRows(1, row, 2, nil); err != nil {
			log.Fatal(err)
		}
	}
	for j := range 2 {
		column, nonzeros := s.Matrix().ColView(j), 0
		for r := range column.Len() {
			if column.AtVec(r) != 0 {
				nonzeros++
			}
		}
		fmt.Printf("column %d: %d nonzeros, norm %.3f\n", j, nonzeros, mat.Norm(column, 2))
	}
	// Output:
	// column 0: 10 nonzeros, norm 1.000
	// column 1: 10 nonzeros, norm 1.000
}

// If the rank of AᵀA is below the rank of the test matrix, the Nyström approximation is exact, and Ĥ(γ)⁻¹
// solves the ridge problem itself.
func ExampleNystrom() {
	a, err := randsketch.NewNystrom(randsketch.NystromConfig{Rank: 3, Dim: 4, Seed: 7})
	if err != nil {
		log.Fatal(err)
	}
	if err := a.AppendRows(2, []float64{3, 0, 0, 0, 0, 2, 0, 0}, 4); err != nil {
		log.Fatal(err)
	}
	s, err := a.Spectrum()
	if err != nil {
		log.Fatal(err)
	}
	x := make([]float64, 4)
	s.Solve(1, []float64{1}, []float64{10, 10, 10, 10}, x)
	fmt.Printf("λ = %.1f\n(AᵀA + I)⁻¹(10, 10, 10, 10) = %.1f\n", s.Lambda[:2], x)
	// Output:
	// λ = [9.0 4.0]
	// (AᵀA + I)⁻¹(10, 10, 10, 10) = [1.0 2.0 10.0 10.0]
}

// The Iterative Hessian Sketch of min ‖Ax − b‖² + ‖x‖², by hand: each step solves with a
// sketch of its own, and the error falls by a factor in each. ridge.Solve does the same
// with bounds on the error.
func ExampleFresh() {
	const n, d = 400, 2
	ctx, a, b := context.Background(), make([]float64, n*d), make([]float64, n)
	for i := range n {
		a[i*d], a[i*d+1] = 1, float64(i%7-3)
		b[i] = 5 - 2*a[i*d+1]
	}
	src, err := dataset.FromDense(n, d, 1, a, b)
	if err != nil {
		log.Fatal(err)
	}
	h, err := randsketch.NewFresh(src, randsketch.Config{Kind: randsketch.Gaussian, Rows: 100, Dim: d, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	x, g := make([]float64, d), make([]float64, d)
	for range 20 {
		if err := h.Refresh(ctx); err != nil {
			log.Fatal(err)
		}
		copy(g, x) // the gradient: x + Aᵀ(Ax − b)
		for i := range n {
			r := a[i*d]*x[0] + a[i*d+1]*x[1] - b[i]
			g[0] += r * a[i*d]
			g[1] += r * a[i*d+1]
		}
		h.Solve(1, []float64{1}, g, g)
		x[0] -= g[0]
		x[1] -= g[1]
	}
	fmt.Printf("x = %.4f, the last step is below 1e-6: %v\n", x, math.Hypot(g[0], g[1]) < 1e-6)
	// Output:
	// x = [4.9875 -1.9988], the last step is below 1e-6: true
}
