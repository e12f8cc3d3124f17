package live_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// A sketch of the newest rows of what a sensor sends, kept in a file that others read.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file, err := live.Open(filepath.Join(dir, "live.fds"))
	if err != nil {
		log.Fatal(err)
	}
	sketch, _, err := file.Load(nil) // where an earlier run came to
	if err == nil && sketch == nil {
		sketch, err = window.NewStream(window.Settings{
			Summary: ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true},
			Policy:  window.Policy{Rows: 100},
		})
	}
	if err != nil {
		log.Fatal(err)
	}
	run := live.Run{
		Sketch: sketch, File: file, Every: 30 * time.Second, Gamma: 1e-6,
		Tell: func(i live.Interval) error {
			_, err := fmt.Printf("%d rows, %d covered, %s\n", i.Rows, i.Covered, i.End)
			return err
		},
	}
	x, y := make([]float64, 1000), make([]float64, 1000)
	for i := range x {
		x[i], y[i] = float64(i%24), 20+float64(i%24)/4
	}
	src, err := dataset.FromDense(1000, 1, 1, x, y)
	if err != nil {
		log.Fatal(err)
	}
	if err := run.Do(context.Background(), src); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: 1000 rows, 100 covered, end of rows
}
