package synthetic_test

import (
	"fmt"
	"log"

	"github.com/fdridge/fdridge/dataset/synthetic"
)

// The data follow from their configuration alone.
func ExampleGenerate() {
	cfg := synthetic.Config{Rows: 100, Dim: 20, Ratio: synthetic.HighRank, Seed: 1}
	data, err := synthetic.Generate(cfg)
	if err != nil {
		log.Fatal(err)
	}
	var again *synthetic.Data
	again, err = synthetic.Generate(cfg)
	if err != nil {
		log.Fatal(err)
	}
	src, err := data.Source()
	if err != nil {
		log.Fatal(err)
	}
	n, d, t := src.Dims()
	fmt.Println(n, d, t, "effective dimension", cfg.Rank())
	fmt.Println("the same again:", data.X[7] == again.X[7] && data.Y[3] == again.Y[3])
	// Output:
	// 100 20 1 effective dimension 5
	// the same again: true
}
