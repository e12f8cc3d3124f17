package parquet_test

import (
	"context"
	"fmt"
	"log"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/parquet"
)

// Two columns by their names, of the first rows.
func ExampleOpen() {
	src, err := parquet.Open(
		"testdata/duckdb-v2-zstd.parquet",
		parquet.Options{Targets: []string{"double"}, Columns: []string{"int32", "bool"}},
	)
	if err != nil {
		log.Fatal(err)
	}
	first, err := dataset.Rows(src, 0, 3)
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range first.Blocks(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.X, "->", b.Y)
	}
	// Output: [-1000 1 -999 0 -996 0] -> [-5 -0.375 4.25]
}
