package npy_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/dataset/npy"
)

// An array is written, and read as features and a target.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "rows.npy")
	f, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	if err := npy.Write(f, 2, 3, []float64{1, 2, 3, 4, 5, 6}); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	src, err := npy.Open(name, npy.Options{Targets: []string{"last"}})
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.X, "->", b.Y)
	}
	// Output: [1 2 4 5] -> [3 6]
}
