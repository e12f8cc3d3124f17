package parquet_test

import (
	"errors"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/parquet"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// unscaled is unscaled of testdata/arrow/wide_test.go: the integer of the decimal in row i.
func unscaled(i int, column string) *big.Int {
	v := big.NewInt(int64(i*i%997 - 500))
	step := map[string]string{"decimal32": "1234567", "decimal64": "1234567890123457", "fixed9": "123456789012345679", "fixed38": "12345678901234567890123456789012345", "bytes": "123456789012345678901234567"}[column]
	by, _ := new(big.Int).SetString(step, 10)
	return v.Mul(v, by)
}

var wideScales = map[string]int64{"decimal32": 2, "decimal64": 7, "fixed9": 5, "fixed38": 10, "bytes": 12}

// wide returns the number in row i of the files arrow-wide-*.parquet. Every seventh value of an optional column is
// missing.
func wide(i int, column string) float64 {
	optional := slices.Contains([]string{"decimal64", "fixed38", "half"}, column)
	switch {
	case optional && i%7 == 0:
		return math.NaN()
	case column == "half":
		return float64(i%41)/8 - 2
	}
	exact := new(big.Rat).SetFrac(unscaled(i, column), new(big.Int).Exp(big.NewInt(10), big.NewInt(wideScales[column]), nil))
	f, _ := exact.Float64()
	return f
}

var wideFiles = []string{"v1-plain", "v1-snappy-dictionary", "v2-zstd-dictionary", "v2-lz4-split", "v1-gzip-delta"}

// TestWideNumbers compares decimals of every type and float16 with exact arithmetic, in every encoding that arrow-go
// writes, from several rows on.
func TestWideNumbers(t *testing.T) {
	names := []string{"decimal32", "decimal64", "fixed9", "fixed38", "bytes", "half"}
	for _, file := range wideFiles {
		path := filepath.Join("testdata", "arrow-wide-"+file+".parquet")
		for _, blockRows := range []int{1, 300} {
			for _, first := range []int64{0, 333, 777} {
				s, err := parquet.Open(
					path,
					parquet.Options{Columns: []string{"-int96"}, Cells: &prepare.Cells{Missing: prepare.MissingMean}},
				)
				if err != nil {
					t.Fatal(err)
				}
				s.BlockRows = blockRows
				row := -1
				for b, err := range dataset.From(t.Context(), s, first) {
					if err != nil {
						t.Fatal(file, err)
					}
					for i := range b.N {
						row = int(b.First) + i
						for k, name := range names {
							got, want := b.X[i*len(names)+k], wide(row, name)
							if got != want && (got == got || want == want) {
								t.Fatalf("%s, row %d, %s: %v, want %v", file, row, name, got, want)
							}
						}
					}
				}
				if row != 999 {
					t.Errorf("%s: the last row is %d", file, row)
				}
			}
		}
	}
}

// int96Seconds returns the timestamp in row i of the column int96, in seconds since 1970.
func int96Seconds(i int) float64 { return float64(i*86399 - 20000000) }

// TestInt96 reads timestamps of 96 bits as dates. Automatic preparation also recognises them.
func TestInt96(t *testing.T) {
	for _, file := range wideFiles {
		path := filepath.Join("testdata", "arrow-wide-"+file+".parquet")
		for name, rules := range map[string]prepare.Rules{"dates": {Dates: []string{"int96"}}, "auto": {Auto: true}} {
			cells := &prepare.Cells{Look: true}
			s, err := parquet.Open(path, parquet.Options{Columns: []string{"int96"}, Cells: cells})
			if err != nil {
				t.Fatal(err)
			}
			e, _, err := prepare.Look(
				t.Context(),
				s,
				prepare.LookOptions{
					LearnOptions: prepare.LearnOptions{Cells: cells},
					Names:        []string{"int96"},
					Rules:        rules,
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			if c := e.Columns[0]; c.Use != prepare.UseDate || c.Kind != prepare.KindDate {
				t.Fatalf("%s, %s: %v", file, name, c)
			}
			s, err = parquet.Open(path, parquet.Options{Columns: []string{"int96"}, Cells: e.Cells()})
			if err != nil {
				t.Fatal(err)
			}
			row := 0
			for b, err := range s.Blocks(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				for _, got := range b.X {
					if got != int96Seconds(row) {
						t.Fatalf("%s, row %d: %v, want %v", file, row, got, int96Seconds(row))
					}
					row++
				}
			}
			if row != 1000 {
				t.Errorf("%d rows", row)
			}
		}
	}
}

// TestLeftOut: automatic preparation leaves out columns that cannot be read, and gives the reason. Rules for single
// columns refuse them.
func TestLeftOut(t *testing.T) {
	const n = 40
	words, halves := make([]int32, n), make([][2]byte, n)
	for i := range words {
		words[i] = int32(i * i)
	}
	group := column{
		append(listOf{fields(nil, 3, int32(0), 4, "g", 5, int32(1))}, node("b", false, double, nil)...),
		sequence(n),
		nil,
	}
	cols := []column{
		{node("a", false, double, nil), sequence(n), nil},
		group,
		{node("time", false, word, as(7)), words, nil},
		{node("uuid", false, fixed, nil), halves, nil},
		{node("i", false, word, nil), words, nil},
	}
	path := write(t, encode(t, 2, cols, layout{}))
	names := []string{"a", "g", "time", "uuid", "i"}
	look := func(rules prepare.Rules) (*prepare.Encoding, error) {
		cells := &prepare.Cells{Look: true}
		s, err := parquet.Open(path, parquet.Options{Cells: cells})
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := prepare.Look(
			t.Context(),
			s,
			prepare.LookOptions{LearnOptions: prepare.LearnOptions{Cells: cells}, Names: names, Rules: rules},
		)
		return e, err
	}
	e, err := look(prepare.Rules{Auto: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"g":    "holds nested values",
		"time": "holds values of type Time",
		"uuid": "holds values of type fixed-length bytes",
	}
	for _, c := range e.Columns {
		if why := want[c.Name]; (c.Use == prepare.UseOmit) != (why != "") || c.Why != why {
			t.Errorf("%s: %v, %q, want %q", c.Name, c.Use, c.Why, why)
		}
	}
	_, err = look(prepare.Rules{OneHotText: true})
	refused, ok := errors.AsType[*dataset.InputError](err)
	if !ok || !refused.Omittable || !slices.Equal(refused.Others, []string{"g", "time", "uuid"}) ||
		!strings.Contains(err.Error(), "column g: it holds nested values") {
		t.Error(err)
	}
	if _, err := parquet.Open(
		path, parquet.Options{Targets: []string{"time"}, Cells: &prepare.Cells{Look: true}},
	); err == nil ||
		!strings.Contains(err.Error(), "column time holds values of type Time") {
		t.Error(err)
	}
}
