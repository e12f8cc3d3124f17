package model_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// From a csv file with missing values and categories to a saved model and to predictions with proved intervals.
func Example_csv() {
	ctx := context.Background()
	table := csv.Options{Targets: []string{"rent"}}
	names, _, err := csv.Names("../testdata/flats.csv", table)
	must(err)

	// Fill in missing values and make columns of the categories district and heating.
	encoding, err := prepare.NewEncoding(len(names), names, prepare.MissingMean, []int{2, 3})
	must(err)
	table.Cells = encoding.Cells()
	src, err := csv.Open("../testdata/flats.csv", table)
	must(err)
	_, err = encoding.Learn(ctx, src, prepare.LearnOptions{Cells: table.Cells})
	must(err)
	encoded, err := encoding.Apply(src, prepare.EncodeOptions{Cells: table.Cells})
	must(err)
	rows, scaling, err := dataset.Standardize(ctx, encoded)
	must(err)

	// Fit: γ is chosen by leave-one-out errors. The summary is kept for intervals.
	res, err := fdridge.Fit(ctx, rows, fdridge.Options{KeepSummary: true, Rounding: scaling.Rounding()})
	must(err)

	// Save the model, with the preparation of its rows, and load it.
	var prep model.Preparation
	prep.Encode(encoding)
	prep.Scaling = scaling
	saved, err := model.New(prep, res.Solutions, model.Details{Intercept: true})
	must(err)
	var file bytes.Buffer
	must(saved.Write(&file))
	loaded, err := model.Read(&file)
	must(err)

	// Predict the rent of a flat whose number of rooms is unknown.
	p, err := loaded.Predictor(model.ExactIntervals{Summary: res.Summary})
	must(err)
	p.Encode.Cells = loaded.Preparation.Encoding.Cells()
	rent, within := make([]float64, 1), make([]ridge.Interval, 1)
	must(p.PredictCells(rent, within, []string{"85", "", "Hafen", "heat pump", "False", "1"}))
	fmt.Printf("rent %.2f; the exact solution's is known to 1e-6: %v\n", rent[0], within[0].Hi-within[0].Lo < 1e-6)
	// Output:
	// rent 1172.95; the exact solution's is known to 1e-6: true
}
