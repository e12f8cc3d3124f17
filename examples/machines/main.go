// Command machines sketches the parts of a file, as several machines would, merges the sketches, and fits. Only
// sketches travel between the machines, not rows.
//
//	go run ./examples/machines
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/ridge"
)

func main() {
	log.SetFlags(0)
	err := fit(os.Stdout, "testdata/cal_housing.csv.gz", 4)
	if err != nil {
		log.Fatal(err)
	}
}

// fit fits house prices by sketches of the given number of parts.
func fit(w io.Writer, table string, parts int) error {
	var merged *ridge.Summary
	for i := range parts {
		message, err := sketch(table, i, parts)
		if err != nil {
			return fmt.Errorf("part %d: %w", i+1, err)
		}
		fmt.Fprintf(w, "part %d sends %d kB\n", i+1, len(message)/1000)
		sum, err := ridge.ReadSummary(bytes.NewReader(message), nil)
		if err != nil {
			return err
		}
		if merged == nil {
			merged = sum
			continue
		}
		err = merged.Merge(sum)
		if err != nil {
			return err
		}
	}

	// The summary alone is enough for a fit: no rows are read.
	res, err := fdridge.FitSummary(context.Background(), nil, merged, fdridge.Options{Gammas: []float64{1}})
	if err != nil {
		return err
	}
	best := res.Best().Targets[0]
	fmt.Fprintf(w, "%d rows, R² of the training rows at least %.3f\n", merged.Rows(), best.R2().Lo)
	fmt.Fprintf(w, "the coefficients' relative error is below 1e-5 (proved): %v\n", best.RelativeErrorBound < 1e-5)
	return nil
}

// sketch returns the summary of a part of a table, as bytes that another machine can read. The part has every row whose
// number is part modulo parts.
func sketch(table string, part, parts int) ([]byte, error) {
	rows, err := csv.Open(table, csv.Options{Targets: []string{"last"}})
	if err != nil {
		return nil, err
	}
	own, err := dataset.Where(rows, func(row int64) bool {
		return row%int64(parts) == int64(part)
	})
	if err != nil {
		return nil, err
	}
	_, d, _ := own.Dims()
	sum, err := ridge.Summarize(
		context.Background(),
		own,
		ridge.SummaryConfig{Dim: d, Size: 8, Intercept: true},
		nil,
	)
	if err != nil {
		return nil, err
	}
	var message bytes.Buffer
	_, err = sum.WriteTo(&message)
	return message.Bytes(), err
}
