package npy

import (
	"path/filepath"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestSparseWindows reads csc and coo in windows of few rows, from every row on.
func TestSparseWindows(t *testing.T) {
	values, rows := mostValues, mostRows
	defer func() { mostValues, mostRows = values, rows }()
	for _, limits := range [][2]int64{{1, 24}, {30, 24}, {1000, 5}, {20, 3}} {
		mostValues, mostRows = limits[0], limits[1]
		for _, name := range []string{"csc", "csc-stored", "coo", "coo-unsorted"} {
			whole := sparseRowsOf(t, "csr", 0)
			for _, first := range []int64{0, 7, 23} {
				got := sparseRowsOf(t, name, first)
				for i, row := range got {
					for j, v := range row {
						if v != whole[int(first)+i][j] {
							t.Fatalf("%s, limits %v, row %d from row %d on: %v", name, limits, i, first, row)
						}
					}
				}
				if len(got) != 24-int(first) {
					t.Errorf("%s, limits %v: %d rows from row %d on", name, limits, len(got), first)
				}
			}
		}
	}
}

// sparseRowsOf returns the rows of a file of testdata, from row first on.
func sparseRowsOf(t *testing.T, name string, first int64) (rows [][12]float64) {
	t.Helper()
	src, err := OpenMember(filepath.Join("testdata", "sparse-"+name+".npz"), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	src.BlockRows = 1
	for b, err := range dataset.From(t.Context(), src, first) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			var row [12]float64
			idx, val := b.Sparse.Row(i)
			for k, j := range idx {
				row[j] = val[k]
			}
			rows = append(rows, row)
		}
	}
	return rows
}
