package synthetic_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

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
	if again, err = synthetic.Generate(cfg); err != nil {
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

// A text of more documents than memory holds is made as it is read, again and again.
func ExampleText() {
	text, err := synthetic.Text{Rows: 847_000, Dim: 359_000, Words: 300, Seed: 1}.Documents()
	if err != nil {
		log.Fatal(err)
	}
	src := text.Source()
	for b, err := range src.BlocksFrom(context.Background(), 846_000) {
		if err != nil {
			log.Fatal(err)
		}
		words, _ := b.Sparse.Row(b.N - 1)
		fmt.Println("row", b.First+int64(b.N), "of", text.Rows, "is of", b.Sparse.Cols, "words, in increasing order:", slices.IsSorted(words))
	}
	// Output:
	// row 846848 of 847000 is of 359000 words, in increasing order: true
	// row 847000 of 847000 is of 359000 words, in increasing order: true
}

// The weights that the targets were made with are known.
func ExampleDocuments() {
	text, err := synthetic.Text{Rows: 200, Dim: 5000, Topics: 4, Noise: 1e-9}.Documents()
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range text.Source().Blocks(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		words, entries := b.Sparse.Row(0)
		y := 0.0
		for k, j := range words {
			y += entries[k] * text.X0[j]
		}
		fmt.Println(math.Abs(y-b.Y[0]) < 1e-7)
	}
	// Output:
	// true
}
