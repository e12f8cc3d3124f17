// Command table fits a model to a raw table, scores it on rows that were kept out of the fit, and saves it. The table
// may have texts, dates and missing values: they become numbers by the rules of `fdridge fit --prepare auto`.
//
//	go run ./examples/table testdata/flats.csv rent flats.json
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/model"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: table TABLE TARGET MODEL")
	}
	err := fit(os.Stdout, os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
}

// fit fits the column target of a table to its other columns and saves the model in the file out.
func fit(w io.Writer, table, target, out string) error {
	ctx := context.Background()

	// Look at all rows, and decide for each column how it becomes numbers. Only this look sees the rows kept out.
	look := prepare.LookOptions{Rules: prepare.Rules{Auto: true}}
	opts := file.Options{Target: []string{target}, Targets: 1}
	rows, encoding, err := file.Prepare(ctx, []string{table}, opts, look)
	if err != nil {
		return err
	}
	var prep model.Preparation
	prep.Encode(encoding)

	// Every fifth row is kept out of the fit.
	held := func(row int64) bool { return row%5 == 0 }
	training, err := dataset.Where(rows, func(row int64) bool { return !held(row) })
	if err != nil {
		return err
	}
	testing, err := dataset.Where(rows, held)
	if err != nil {
		return err
	}

	// Fit. Leave-one-out errors choose γ.
	prepared, err := prep.ApplyEncoded(training, nil, prepare.EncodeOptions{Cells: rows.Cells})
	if err != nil {
		return err
	}
	res, err := fdridge.Fit(ctx, prepared, fdridge.Options{Rounding: encoding.Scaling().Rounding()})
	if err != nil {
		return err
	}
	m, err := model.New(prep, res.Solutions, model.Details{Intercept: true})
	if err != nil {
		return err
	}

	// Score the rows that the fit has not seen.
	p, err := m.Predictor(nil)
	if err != nil {
		return err
	}
	p.Encode.Cells = rows.Cells
	var score model.Score
	for row, err := range p.Predict(ctx, testing) {
		if err != nil {
			return err
		}
		score.Add(row.Observed[0], row.Y[0])
	}
	best := res.Best()
	fmt.Fprintf(w, "%d rows kept out: R² %.3f, root mean square error %.1f\n", score.Rows(), score.R2(), score.RMSE())
	fmt.Fprintf(w, "the coefficients' relative error is below 1e-8 (proved): %v\n", best.Targets[0].RelativeErrorBound < 1e-8)

	saved, err := os.Create(out)
	if err != nil {
		return err
	}
	err = m.Write(saved)
	if err != nil {
		saved.Close()
		return err
	}
	return saved.Close()
}
