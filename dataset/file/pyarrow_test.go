package file_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// TestPyarrowTypes checks that the columns of every numeric type that pyarrow writes have the numbers of
// pyarrow-types.csv, as strconv parses them.
func TestPyarrowTypes(t *testing.T) {
	at := func(name string) string { return filepath.Join("testdata", "programs", name) }
	records, err := csv.NewReader(bytes.NewReader(unpacked(t, at("pyarrow-types.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]float64{}
	for j, name := range records[0] {
		for _, r := range records[1:] {
			v := math.NaN()
			if r[j] != "" {
				v, err = strconv.ParseFloat(r[j], 64)
			}
			if err != nil {
				t.Fatal(err)
			}
			want[name] = append(want[name], v)
		}
	}
	for name, columns := range map[string]int{
		"pyarrow-types.parquet": 17, "pyarrow-types-plain.parquet": 17, "pyarrow-types-split.parquet": 7,
		"pyarrow-types-integers.parquet": 3, "pyarrow-types.feather": 17,
	} {
		opened, err := file.Open([]string{at(name)}, file.Options{
			Origin: file.Origin{Cells: &prepare.Cells{Missing: prepare.MissingDrop, Features: []int{}}},
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(opened.Names) != columns {
			t.Errorf("%s: %d columns, want %d", name, len(opened.Names), columns)
		}
		row := 0
		for b, err := range opened.Blocks(t.Context()) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, v := range b.X {
				j, k := i%len(opened.Names), row+i/len(opened.Names)
				w := want[opened.Names[j]][k]
				if math.Float64bits(v) != math.Float64bits(w) && !(v != v && w != w) {
					t.Errorf("%s: column %s, row %d is %v, want %v", name, opened.Names[j], k+1, v, w)
				}
			}
			row += b.N
		}
		if row != len(records)-1 {
			t.Errorf("%s: %d rows, want %d", name, row, len(records)-1)
		}
	}
}

// TestPyarrowDates checks that the dates and times that pyarrow writes become the same features as their texts.
func TestPyarrowDates(t *testing.T) {
	at := func(name string) string { return filepath.Join("testdata", "programs", name) }
	read := func(name string, columns ...string) (*prepare.Encoding, []float64) {
		return prepared(t, []string{at(name)}, file.Options{Target: []string{"y"}, Targets: 1, Columns: columns})
	}
	want, rows := read("pyarrow-dates.csv")
	if len(rows) < 24*12 {
		t.Fatalf("%d numbers in 24 rows with 6 dates", len(rows))
	}
	for _, name := range []string{"pyarrow-dates.parquet", "pyarrow-dates.feather"} {
		if e, got := read(name); !reflect.DeepEqual(e, want) || !reflect.DeepEqual(got, rows) {
			t.Errorf("%s: other features than the texts have: %+v, want %+v", name, e.Columns, want.Columns)
		}
	}
	want, rows = read("pyarrow-dates.csv", "us")
	if e, got := read("pyarrow-int96.parquet"); !reflect.DeepEqual(e, want) || !reflect.DeepEqual(got, rows) {
		t.Errorf("INT96: other features than the texts have: %+v, want %+v", e.Columns, want.Columns)
	}
}
