package model_test

import (
	"fmt"
	"log"
	"os"

	"github.com/fdridge/fdridge/model"
)

// A service: a model that was saved predicts for rows one at a time, as they come, features and all.
func ExamplePredictor_PredictRow() {
	file, err := os.Open("testdata/fourier-v2.json")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	m, err := model.Read(file)
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predictor(nil) // one for each goroutine
	if err != nil {
		log.Fatal(err)
	}
	price := make([]float64, 1)
	for _, house := range [][]float64{{1, 40}, {4, 120}} { // floors and area
		if err := p.PredictRow(price, nil, house); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.1f\n", price[0])
	}
	features, err := m.Preparation.RowMap()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(features.Dims())
	fmt.Println("something is proved of its weights:", m.Proves())
	// Output:
	// 101.8
	// 330.1
	// 2 12
	// something is proved of its weights: true
}
