package dataset_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
)

// A row that comes in goes through the features that a model was fitted to, without a source; many
// rows at once are a matrix.
func ExampleRowMap() {
	scaling := &dataset.Scaling{Mean: []float64{1, 2}, Scale: []float64{1, 4}}
	squares := dataset.Polynomial{Degree: 2}
	m, err := dataset.NewRowMap(
		2,
		scaling.Apply,
		func(src dataset.Source) (dataset.Source, error) { return squares.Apply(src, nil) },
	)
	if err != nil {
		log.Fatal(err)
	}
	_, made := m.Dims()
	z := make([]float64, made)
	if err := m.Row(z, []float64{3, 10}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(z)
	all, err := m.Matrix(mat.NewDense(2, 2, []float64{3, 10, 1, 2}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mat.Formatted(all))
	// Output:
	// [2 2 4 4 4]
	// ⎡2  2  4  4  4⎤
	// ⎣0  0  0  0  0⎦
}
