package table_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/table"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// From a csv file with missing values and categories to a saved model, and to predictions with proved bounds.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	must(err)
	defer os.RemoveAll(dir)

	// Fit: γ is chosen by leave-one-out errors. A fifth of the rows is held out.
	fit, err := table.Fit(ctx, table.Spec{
		Data:    []string{"../testdata/flats.csv"},
		Target:  []string{"rent"},
		Prepare: "auto",
		Holdout: 0.2,
	}, fdridge.Options{}, table.Env{})
	must(err)

	// Save the model, with the preparation of its rows. Another program can load it.
	must(fit.Model.Save(filepath.Join(dir, "rent.json")))
	rent, err := model.Load(filepath.Join(dir, "rent.json"))
	must(err)

	// Predict the rents of the first three flats. Bounds are proved by the model's certificate.
	flats := table.Spec{Data: []string{"../testdata/flats.csv"}, Rows: "1:3"}
	for p, err := range table.Predict(ctx, rent, flats, model.ExactIntervals{}, table.Env{}) {
		must(err)
		width := p.Intervals[0].Hi - p.Intervals[0].Lo
		fmt.Printf("rent %.2f; the exact solution's is known to 1e-4: %v\n", p.Y[0], width < 1e-4)
	}
	fmt.Printf("R² of the held-out rows: %.2f\n", fit.HeldOut.Scores[0][0].R2())
	// Output:
	// rent 787.62; the exact solution's is known to 1e-4: true
	// rent 753.25; the exact solution's is known to 1e-4: true
	// rent 818.37; the exact solution's is known to 1e-4: true
	// R² of the held-out rows: 0.97
}

// Intervals for new rows: the held-out rows calibrate them after the fit.
func ExampleFitted_Cover() {
	ctx := context.Background()
	fit, err := table.Fit(ctx, table.Spec{
		Data:    []string{"../testdata/flats.csv"},
		Rows:    "1:440",
		Target:  []string{"rent"},
		Prepare: "auto",
		Holdout: 0.2,
	}, fdridge.Options{}, table.Env{})
	must(err)
	must(fit.Cover(ctx, 0.9))

	// Predict the rents of three flats that the fit has not seen.
	unseen := table.Spec{Data: []string{"../testdata/flats.csv"}, Rows: "441:443"}
	for p, err := range table.Predict(ctx, fit.Model, unseen, model.CoverageIntervals{}, table.Env{}) {
		must(err)
		fmt.Printf("rent %.0f, with probability 0.9 from %.0f to %.0f\n", p.Y[0], p.Intervals[0].Lo, p.Intervals[0].Hi)
	}
	// Output:
	// rent 772, with probability 0.9 from 687 to 858
	// rent 1302, with probability 0.9 from 1217 to 1388
	// rent 1213, with probability 0.9 from 1128 to 1299
}
