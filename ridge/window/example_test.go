package window_test

import (
	"bytes"
	"fmt"
	"log"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// reading returns the reading of a sensor in second i: y follows x by a law that changes after 20,000 seconds.
func reading(i int) dataset.Block {
	x := float64(i % 7)
	y := 1 + 2*x
	if i >= 20_000 {
		y = 5 - x
	}
	return dataset.Block{N: 1, X: []float64{x}, Y: []float64{y}}
}

// The fit of the last two hours of a stream that has no end. The edge of the window goes through a
// sketch, so that some minutes more are covered, and the span says which.
func ExampleWindow() {
	w, err := window.New(window.Config{
		Summary:  ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true},
		Duration: 2 * time.Hour,
		Share:    1.0 / 8, // no more than an eighth of them beyond
	})
	if err != nil {
		log.Fatal(err)
	}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i := range 30_000 {
		if err := w.AppendAt(noon.Add(time.Duration(i)*time.Second), reading(i)); err != nil {
			log.Fatal(err)
		}
	}

	sum, span, err := w.Summary() // an ordinary summary, of exactly these rows
	if err != nil {
		log.Fatal(err)
	}
	fit, err := sum.Fit(1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf(
		"rows %d to %d, from %s to %s\n",
		span.First,
		span.First+span.Rows-1,
		span.From.Format(time.TimeOnly),
		span.To.Format(time.TimeOnly),
	)
	fmt.Printf("%d sketches; the edge is in the first %d rows\n", w.Sketches(), span.Edge)
	fmt.Printf("y = %.1f + %.1f·x\n", fit.Targets[0].Intercept, fit.Targets[0].Coef[0])

	// Written at any moment, it goes on as if it had not been.
	var file bytes.Buffer
	if _, err := w.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	restored, err := window.Read(&file, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("goes on after row", restored.Rows()-1)
	// Output:
	// rows 22616 to 29999, from 18:16:56 to 20:19:59
	// 14 sketches; the edge is in the first 514 rows
	// y = 5.0 + -1.0·x
	// goes on after row 29999
}

// The fit of a stream in which what is an hour old counts half.
func ExampleFading() {
	f, err := window.NewFading(window.FadingConfig{
		Summary:  ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true},
		HalfLife: time.Hour,
	})
	if err != nil {
		log.Fatal(err)
	}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i := range 30_000 {
		if err := f.AppendAt(noon.Add(time.Duration(i)*time.Second), reading(i)); err != nil {
			log.Fatal(err)
		}
	}
	sum, span, err := f.Summary()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := sum.Fit(1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows count as %.0f\n", span.Rows, sum.Weight())
	fmt.Printf("y = %.1f + %.1f·x\n", fit.Targets[0].Intercept, fit.Targets[0].Coef[0])
	// Output:
	// 30000 rows count as 5178
	// y = 4.4 + -0.6·x
}
