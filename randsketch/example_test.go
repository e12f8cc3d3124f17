package randsketch_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

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

// The Nyström approximation knows AᵀA exactly where its rank is below that of the
// test matrix, and then Ĥ(γ)⁻¹ solves the ridge problem itself.
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
