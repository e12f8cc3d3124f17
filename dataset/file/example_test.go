package file_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// A file of any format by its name. Its layout says what it was found to be, and whether
// another file may follow it.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "rows")
	if err := os.WriteFile(name, []byte("x1,x2,y\n1,2,3\n4,5,6\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	var opened *file.Opened
	opened, err = file.Open([]string{name}, file.Options{Target: []string{"y"}, Targets: 1})
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range opened.Blocks(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.X, "->", b.Y)
	}
	fmt.Println(opened.Format, opened.Names, opened.TargetNames, opened.Passes(), "pass")
	other := file.Layout{
		File:        "other",
		Number:      2,
		Format:      "csv",
		Names:       []string{"x1", "x3"},
		TargetNames: []string{"y"},
		Features:    2,
		Targets:     1,
	}
	first := opened.Layout
	first.File = "rows"
	fmt.Println(other.Agrees(first))
	// Output:
	// [1 2 4 5] -> [3 6]
	// csv [x1 x2] [y] 1 pass
	// other: its columns differ from those of rows: feature 2 is "x3", not "x2" (files 2 and 1 of the list)
}

// A table with texts, dates and missing values becomes numbers in one call.
func ExamplePrepare() {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "homes.csv")
	table := "id,built,town,size,rent\n"
	for i := range 40 {
		table += fmt.Sprintf("%d,%d-05-01,%s,%d,%d\n", i, 1980+i, []string{"Rome", "Oslo"}[i%2], 50+i*7%13, 500+i)
	}
	if err := os.WriteFile(name, []byte(table), 0o600); err != nil {
		log.Fatal(err)
	}
	look := prepare.LookOptions{Rules: prepare.Rules{Auto: true}}
	opened, e, err := file.Prepare(
		context.Background(),
		[]string{name},
		file.Options{Target: []string{"rent"}, Targets: 1},
		look,
	)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range e.Columns {
		fmt.Println(c.Name, "is", c.Kind, "for", c.Use)
	}
	rows, err := e.Apply(opened, prepare.EncodeOptions{Cells: opened.Cells})
	if err != nil {
		log.Fatal(err)
	}
	_, d, _ := rows.Dims()
	fmt.Println(d, "features:", e.MadeNames()[:4])
	// Output:
	// id is number for omit
	// built is date for date
	// town is text for levels
	// size is number for number
	// 12 features: [built.elapsed built.year built.weekday=1 built.weekday=2]
}
