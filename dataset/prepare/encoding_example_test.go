package prepare_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// Missing values get the mean of their column, and a categorical column becomes one for each level.
func ExampleEncoding() {
	ctx := context.Background()
	rows, err := dataset.FromTable(3, 2, 0, []float64{
		50, 7,
		math.NaN(), 3,
		70, 7,
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	e, err := prepare.NewEncoding(2, []string{"area", "heating"}, prepare.MissingMean, []int{1})
	if err != nil {
		log.Fatal(err)
	}
	learnt, err := e.Learn(ctx, rows, prepare.LearnOptions{})
	if err != nil {
		log.Fatal(err)
	}
	encoded, err := e.Apply(rows, prepare.EncodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.MadeNames(), learnt.Missing)
	for b, err := range encoded.Blocks(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.X)
	}
	// Output:
	// [area heating=3 heating=7] [1 0]
	// [50 0 1 60 1 0 70 0 1]
}
