package file_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fdridge/fdridge/dataset/file"
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
	if opened, err = file.Open([]string{name}, file.Options{Target: []string{"y"}, Targets: 1}); err != nil {
		log.Fatal(err)
	}
	for b, err := range opened.Blocks(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.X, "->", b.Y)
	}
	fmt.Println(opened.Format, opened.Names, opened.TargetNames, opened.Passes(), "pass")
	other := file.Layout{File: "other", Number: 2, Format: "csv", Names: []string{"x1", "x3"}, TargetNames: []string{"y"}, Features: 2, Targets: 1}
	first := opened.Layout
	first.File = "rows"
	fmt.Println(other.Agrees(first))
	fmt.Println("formats that this build leaves out:", len(file.LeftOut()))
	// Output:
	// [1 2 4 5] -> [3 6]
	// csv [x1 x2] [y] 1 pass
	// other: its columns are not those of rows in the same order: feature 2 is "x3", not "x2" (files 2 and 1 of the list)
	// formats that this build leaves out: 0
}
