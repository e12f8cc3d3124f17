package parquet_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/parquet"
)

// bits returns the bits of all numbers from row first on, and the row at which each block begins.
func bits(t *testing.T, src dataset.Source, first int64) (out []uint64) {
	t.Helper()
	for b, err := range dataset.From(context.Background(), src, first) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, uint64(b.First))
		for _, v := range slices.Concat(b.X, b.Y) {
			out = append(out, math.Float64bits(v))
		}
	}
	return out
}

// TestSkip: a pass that begins amid the rows, in any row group and page, of any
// encoding and with levels, has the very rows that are there.
func TestSkip(t *testing.T) {
	const n, groups = 3000, 3
	valid := make([]bool, n)
	for i := range valid {
		valid[i] = true
	}
	cols := []column{
		{node("a", false, double, nil), sequence(n), nil},
		{node("c", true, double, nil), sequence(n), valid},
	}
	paths := []string{}
	for _, l := range []layout{
		{}, {encoding: indices}, {codec: snap, version2: true, encoding: indices}, {encoding: split},
	} {
		l.pageRows = 125
		paths = append(paths, write(t, encode(t, groups, cols, l)))
	}
	others, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range others {
		if !strings.Contains(path, "null") && !strings.Contains(path, "texts") && !strings.Contains(path, "wide") {
			paths = append(paths, path)
		}
	}
	if len(paths) < 8 {
		t.Fatalf("%d files", len(paths))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s, err := parquet.Open(path, parquet.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s.BlockRows = 7
			rows, d, _ := s.Dims()
			all, width := bits(t, s, 0), 7*d+1
			for _, first := range []int64{1, 7, 1000, 1024, 2999, 3000, 3001, rows / 2, rows - 8, rows - 1, rows} {
				want := []uint64{}
				if first < rows {
					want = all[int(first)/7*width:]
				}
				if got := bits(t, s, min(first, rows)); first <= rows && !slices.Equal(got, want) {
					t.Errorf("from row %d there are %d numbers, want %d", first, len(got), len(want))
				}
			}
		})
	}
}
