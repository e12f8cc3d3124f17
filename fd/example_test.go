package fd_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/fd"
)

// Two machines sketch their own rows; the merged sketch bounds the error for the
// union.
func Example() {
	cfg := fd.Config{Dim: 3, Size: 2, Store: fd.StoreRows} // so few features would be kept as AᵀA
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

// The SVD driver takes longer than the default one, and finds small singular values
// accurately relative to themselves: here 1 and 10¹⁰, whose squares are 10²⁰ apart.
func ExampleDriver() {
	s, err := fd.New(fd.Config{Dim: 3, Size: 2, Shrink: fd.SVD})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Append(mat.NewDense(2, 3, []float64{6e9, 8e9, 0, 0.8, -0.6, 0})); err != nil {
		log.Fatal(err)
	}
	p, err := s.Spectrum()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: σ² = %.6g\n", s.Config().Shrink, p.Sigma2)
	// Output:
	// svd: σ² = [1e+20 1]
}

// A sketch goes on, bit for bit, where it was written.
func ExampleSketch_MarshalBinary() {
	s, err := fd.New(fd.Config{Dim: 2, Size: 1})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.AppendRow([]float64{3, 4}); err != nil {
		log.Fatal(err)
	}
	message, err := s.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	var read fd.Sketch
	if err := read.UnmarshalBinary(message); err != nil {
		log.Fatal(err)
	}
	b := read.Bound()
	fmt.Printf("%d bytes, %d row, ‖A‖² = %.0f\n", len(message), b.Rows, b.Frobenius2)

	message[100] ^= 1 // damaged on the way
	if e, ok := errors.AsType[*fd.FormatError](read.UnmarshalBinary(message)); ok {
		fmt.Println("damaged, as byte", e.Offset, "shows; still", read.Rows(), "row")
	}
	// Output:
	// 140 bytes, 1 row, ‖A‖² = 25
	// damaged, as byte 136 shows; still 1 row
}

// Rows that cannot be sketched change nothing, and the error says which they are.
func ExampleSketch_Append() {
	s, err := fd.New(fd.Config{Dim: 2, Size: 1})
	if err != nil {
		log.Fatal(err)
	}
	err = s.Append(mat.NewDense(2, 2, []float64{1, 2, 3, math.NaN()}))
	if e, ok := errors.AsType[*fd.NonFiniteError](err); ok {
		fmt.Println("a", e.Value, "in row", e.Row, "and column", e.Col)
	}
	err = s.Append(mat.NewDense(2, 2, []float64{1, 2, 3, 1e200}))
	if e, ok := errors.AsType[*fd.RangeError](err); ok {
		fmt.Println("the square of row", e.Row, "is out of range")
	}
	fmt.Println(s.Rows(), "rows")
	// Output:
	// a NaN in row 1 and column 1
	// the square of row 1 is out of range
	// 0 rows
}
