package csv_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
)

// Two of four columns are read by their names, in another order. Then only the part of the file after byte 24 is read,
// where one row begins.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "rows.csv")
	text := "age;name;height;weight\n31;\"Ann; B.\";1.7;65\n45;Bob;1.8;80\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	opts := csv.Options{Targets: []string{"weight"}, Columns: []string{"height", "age"}, Header: csv.Present}
	var header csv.Header = opts.Header
	fmt.Println("a header line is said to be there:", header == csv.Present)
	for _, part := range []dataset.Range{{}, {Lo: 24, Hi: int64(len(text))}} {
		opts.Range = part
		src, err := csv.Open(name, opts)
		if err != nil {
			log.Fatal(err)
		}
		for b, err := range src.Blocks(context.Background()) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(b.N, "rows:", b.X, "->", b.Y)
		}
	}
	// Output:
	// a header line is said to be there: true
	// 2 rows: [1.7 31 1.8 45] -> [65 80]
	// 1 rows: [1.8 45] -> [80]
}
