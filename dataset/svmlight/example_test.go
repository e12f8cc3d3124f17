package svmlight_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/dataset/svmlight"
)

// The labels are the targets; column numbers of blocks are from 0.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "rows.svm")
	if err := os.WriteFile(name, []byte("1 1:0.5 4:2\n-1 2:3 # a comment\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	src, err := svmlight.Open(name, svmlight.Options{Targets: 1})
	if err != nil {
		log.Fatal(err)
	}
	n, d, _ := src.Dims()
	fmt.Println(n, "rows,", d, "features")
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		for i := range b.N {
			columns, values := b.Sparse.Row(i)
			fmt.Println(columns, values, "->", b.Y[i])
		}
	}
	// Output:
	// 2 rows, 4 features
	// [0 3] [0.5 2] -> 1
	// [1] [3] -> -1
}
