package fd_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/fd"
)

// Two machines sketch their own rows; the merged sketch bounds the error for the
// union.
func Example() {
	cfg := fd.Config{Dim: 3, Size: 2}
	here, err := fd.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	there, err := fd.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	if err := here.Append(mat.NewDense(2, 3, []float64{3, 0, 0, 0, 2, 0})); err != nil {
		log.Fatal(err)
	}
	if err := there.AppendRow([]float64{0, 0, 1}); err != nil {
		log.Fatal(err)
	}
	if err := here.Merge(there); err != nil {
		log.Fatal(err)
	}
	p, err := here.Spectrum()
	if err != nil {
		log.Fatal(err)
	}
	// The three rows are orthogonal with squared norms 9, 4 and 1: the shrink to
	// two rows takes δ = 1 off each.
	fmt.Printf("σ² = %.0f, ‖AᵀA − BᵀB‖ ≤ %.0f, with the shift ρ = η/2 ≤ %.1f\n", p.Sigma2, p.Bound.FD(), p.Bound.RFD())
	// Output:
	// σ² = [8 3], ‖AᵀA − BᵀB‖ ≤ 1, with the shift ρ = η/2 ≤ 0.5
}

// A stream can be read at any moment and forget what is old.
func ExampleSketch_Decay() {
	s, err := fd.New(fd.Config{Dim: 2, Size: 2})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		if err := s.Decay(0.5); err != nil {
			log.Fatal(err)
		}
		if err := s.AppendRow([]float64{2, 0}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("‖A‖² = 4·(1 + ½ + ¼) = %.0f\n", s.Bound().Frobenius2)
	// Output:
	// ‖A‖² = 4·(1 + ½ + ¼) = 7
}
