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
	"github.com/fdridge/fdridge/table"
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

// fit fits the column target of a file to its other columns and saves the model in the file out.
func fit(w io.Writer, data, target, out string) error {
	rows := table.Spec{
		Data:    []string{data},
		Target:  []string{target},
		Prepare: "auto",
		Holdout: 0.2,
	}
	// The zero Options choose the method, and choose γ by leave-one-out errors.
	fitted, err := table.Fit(context.Background(), rows, fdridge.Options{}, table.Env{})
	if err != nil {
		return err
	}

	score := fitted.HeldOut.Scores[0][0] // of the first γ and target
	fmt.Fprintf(w, "%d rows kept out: R² %.3f, root mean square error %.1f\n", score.Rows(), score.R2(), score.RMSE())
	best := fitted.Result.Best().Targets[0]
	fmt.Fprintf(w, "the coefficients' relative error is below 1e-8 (proved): %v\n", best.RelativeErrorBound < 1e-8)
	return fitted.Model.Save(out)
}
