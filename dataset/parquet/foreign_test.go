package parquet_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset/parquet"
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

// TestForeignFiles: files by writers that share no code with the reader, with data
// pages of both versions, several pages and row groups, every compression, with
// dictionaries, deltas and plain, of required and of nullable columns.
func TestForeignFiles(t *testing.T) {
	rows := map[string]int{
		"rust-v1-plain": 700, "rust-v1-snappy-dictionary": 1000, "rust-v1-gzip": 1000, "rust-v1-brotli": 1000,
		"rust-v2-zstd-delta": 1000, "rust-v2-snappy-dictionary": 1000, "rust-v2-uncompressed-dictionary": 1000, "rust-v2-lz4": 1000,
		"duckdb-v1-snappy": 5000, "duckdb-v1-uncompressed": 5000, "duckdb-v1-gzip": 5000, "duckdb-v2-zstd": 5000, "duckdb-v2-delta-lz4": 5000,
	}
	for name, n := range rows {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".parquet")
			opts := parquet.Options{Targets: []string{"int64"}}
			if name == unsignedDelta {
				opts.Columns = []string{"-uint32"}
			}
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
			for name, n := range map[string]int{"rust-v1-snappy-dictionary": 1000, "rust-v2-zstd-delta": 1000, "duckdb-v2-zstd": 5000} {
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

// unsignedDelta has unsigned integers from 2³¹ on as deltas, the first of which
// DuckDB writes in a way that the library doesn't take.
const unsignedDelta = "duckdb-v2-delta-lz4"

// TestForeignUnsignedDelta: what the library doesn't take is an error, not another
// number.
func TestForeignUnsignedDelta(t *testing.T) {
	path := filepath.Join("testdata", unsignedDelta+".parquet")
	if _, err := open(path, parquet.Options{}); err == nil || !strings.HasPrefix(err.Error(), path+":1:7: column uint32 cannot be read") {
		t.Error(err)
	}
}

// TestForeignNulls: a missing value is refused where it stands, and doesn't matter
// where its column is left out.
func TestForeignNulls(t *testing.T) {
	for name, want := range map[string]string{
		"rust-v1-null":   ":334:5: column int16 has no value (null)",
		"rust-v2-null":   ":334:2: column float has no value (null)",
		"duckdb-v2-null": ":4322:1: column double has no value (null)",
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
