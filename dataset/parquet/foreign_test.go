package parquet_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/parquet"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// foreign is row i of the files that testdata/write.mjs makes.
func foreign(i int) []float64 {
	return []float64{
		float64(i*37%101)/8 - 5,
		float64(i%17)/4 - 2,
		float64(i%53*1000003 - 50000000),
		float64((i%71)*(i%71) - 1000),
		float64(-(i % 29) * 100),
		float64(i * 7 % 256),
		float64(4294967295 - int64(i%5)),
		map[bool]float64{true: 1}[i%3 == 0],
	}
}

var foreignColumns = []string{"double", "float", "int64", "int32", "int16", "uint8", "uint32", "bool"}

// TestForeignFiles reads files of writers that share no code with the reader. The files have data pages of both
// versions, several pages and row groups, and every compression. Encodings are dictionaries, deltas and plain, of
// required and nullable columns.
func TestForeignFiles(t *testing.T) {
	rows := map[string]int{
		"rust-v1-plain": 700, "rust-v1-snappy-dictionary": 1000, "rust-v1-gzip": 1000, "rust-v1-brotli": 1000,
		"rust-v2-zstd-delta": 1000, "rust-v2-snappy-dictionary": 1000, "rust-v2-uncompressed-dictionary": 1000,
		"rust-v2-lz4":      1000,
		"duckdb-v1-snappy": 5000, "duckdb-v1-uncompressed": 5000, "duckdb-v1-gzip": 5000, "duckdb-v2-zstd": 5000,
		"duckdb-v2-delta-lz4": 5000,
		"arrow-v1-plain":      1000, "arrow-v1-snappy-dictionary": 1000, "arrow-v1-zstd-delta": 1000,
		"arrow-v1-brotli-split": 1000,
		"arrow-v2-gzip-delta":   1000, "arrow-v2-lz4-split": 1000, "arrow-v2-zstd-dictionary": 1000,
	}
	for name, n := range rows {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".parquet")
			opts := parquet.Options{Targets: []string{"int64"}}
			for _, blockRows := range []int{0, 1, 37, 512} {
				if err := readForeign(path, opts, n, blockRows); err != nil {
					t.Errorf("blocks of %d rows: %v", blockRows, err)
				}
			}
		})
	}
}

// TestForeignAtOnce: passes that run at the same time do not share the memory of their
// pages, nor do those that are left early give back what another one holds.
func TestForeignAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for name, n := range map[string]int{
				"rust-v1-snappy-dictionary": 1000, "rust-v2-zstd-delta": 1000, "duckdb-v2-zstd": 5000,
			} {
				path, opts := filepath.Join("testdata", name+".parquet"), parquet.Options{Targets: []string{"int64"}}
				if err := readForeign(path, opts, n, 100); err != nil {
					t.Error(name, err)
				}
				s, err := parquet.Open(path, opts)
				if err != nil {
					t.Error(err)
					return
				}
				for range s.Blocks(context.Background()) {
					break
				}
			}
		})
	}
	all.Wait()
}

// readForeign compares what is read with what was written.
func readForeign(path string, opts parquet.Options, n, blockRows int) error {
	s, err := parquet.Open(path, opts)
	if err != nil {
		return err
	}
	features, targets, err := parquet.Names(path, opts)
	if err != nil {
		return err
	}
	s.BlockRows = blockRows
	if rows, d, t := s.Dims(); rows != int64(n) || d != 8-len(opts.Columns)-t || t != 1 {
		return fmt.Errorf("%d rows × %d features, %d targets", rows, d, t)
	}
	at := 0
	for b, err := range s.Blocks(context.Background()) {
		if err != nil {
			return err
		}
		d := len(features)
		for i := range b.N {
			got := append(append([]float64{}, b.X[i*d:(i+1)*d]...), b.Y[i])
			want := foreign(at)
			for k, name := range append(features, targets...) {
				if w := want[slices.Index(foreignColumns, name)]; got[k] != w {
					return fmt.Errorf("row %d, %s: %v, want %v", at+1, name, got[k], w)
				}
			}
			at++
		}
	}
	if at != n {
		return fmt.Errorf("%d rows, want %d", at, n)
	}
	return nil
}

// TestForeignNulls: a missing value is refused where it stands, and doesn't matter
// where its column is left out.
func TestForeignNulls(t *testing.T) {
	for name, want := range map[string]string{
		"rust-v1-null":   ":334:5: column int16 has a missing value (null)",
		"rust-v2-null":   ":334:2: column float has a missing value (null)",
		"duckdb-v2-null": ":4322:1: column double has a missing value (null)",
	} {
		path := filepath.Join("testdata", name+".parquet")
		if _, err := open(path, parquet.Options{}); err == nil || !strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if _, err := open(path, parquet.Options{Columns: []string{"-int16", "-float", "-double"}}); err != nil {
			t.Errorf("%s without the column: %v", name, err)
		}
	}
}

// TestForeignTexts: the same texts in every encoding have the same codes, from the first row and from
// amid the rows, and missing ones are NaN.
func TestForeignTexts(t *testing.T) {
	names := []string{"plain", "dictionary", "length", "prefix"}
	for _, first := range []int64{0, 333, 777} {
		s, err := parquet.Open(
			filepath.Join("testdata", "arrow-texts.parquet"),
			parquet.Options{Cells: &prepare.Cells{OneHot: names, Missing: prepare.MissingMean}},
		)
		if err != nil {
			t.Fatal(err)
		}
		s.BlockRows = 1 // blocks begin at first
		codes, row := map[int]float64{}, int(first)
		for b, err := range dataset.From(t.Context(), s, first) {
			if err != nil {
				t.Fatal(err)
			}
			for k, code := range b.X {
				switch want, seen := codes[row%23]; {
				case row%7 == 0:
					if code == code {
						t.Errorf("row %d, %s: %v, want NaN", row, names[k], code)
					}
				case seen && code != want:
					t.Errorf("row %d, %s: %v, want %v", row, names[k], code, want)
				default:
					codes[row%23] = code
				}
			}
			row++
		}
		if row != 1000 || len(codes) != 23 {
			t.Errorf("from row %d: %d rows, %d texts", first, row, len(codes))
		}
	}
	if _, err := open(
		filepath.Join("testdata", "arrow-texts.parquet"),
		parquet.Options{Columns: []string{"plain"}, Cells: &prepare.Cells{OneHot: []string{"plain"}}},
	); err == nil ||
		!strings.Contains(err.Error(), ":1:1: column plain has a missing value") {
		t.Error(err)
	}
}

// TestOneWriter: the tests of dataset/file write with the same writer.
func TestOneWriter(t *testing.T) {
	var texts [2]string
	for i, name := range []string{"writer_test.go", filepath.Join("..", "file", "parquet_test.go")} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, texts[i], _ = strings.Cut(string(text), "\n")
	}
	if there := strings.Replace(texts[1], "dataset/parquet has", "dataset/file has", 1); there != texts[0] {
		t.Error("writer_test.go and dataset/file/parquet_test.go differ")
	}
}
