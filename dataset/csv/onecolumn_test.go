package csv

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// numbers returns the first column of all rows. Missing values become −1.
func numbers(ctx context.Context, path string, opts Options) ([]float64, error) {
	s, err := Open(path, opts)
	if err != nil {
		return nil, err
	}
	_, d, _ := s.Dims()
	var out []float64
	for b, err := range s.Blocks(ctx) {
		if err != nil {
			return out, err
		}
		for i := range b.N {
			if v := b.X[i*d]; math.IsNaN(v) {
				out = append(out, -1)
			} else {
				out = append(out, v)
			}
		}
	}
	return out, nil
}

// TestOneColumn checks that each line of a file of one column is a row, except empty lines at the end.
func TestOneColumn(t *testing.T) {
	for text, want := range map[string][]float64{
		"x\n1\n\n3\n":              {1, -1, 3},
		"x\n1\n\"\"\n3\n":          {1, -1, 3},
		"x\n1\n  \n3\n":            {1, -1, 3},
		"x\n1\nNA\n\n\n3":          {1, -1, -1, -1, 3},
		"x\r\n1\r\n\r\n3\r\n\r\n":  {1, -1, 3},
		"x\n1\n\n\n":               {1},
		"x\n1\n\"\"\n\n":           {1, -1},
		"x\n1\n \n\n":              {1, -1},
		"x\n\n1\n":                 {-1, 1},
		"\n\nx\n1\n":               {1},
		"\n1\n2\n":                 {-1, 1, 2},
		"\"\"\n1\n2\n":             {-1, 1, 2},
		"x\n\n\n":                  nil,
		"\"x\ny\"\n1\n\n\"4\"\n":   {1, -1, 4},
		"\ufeffx\n\n1\n":           {-1, 1},
		"a,b\n1,2\n\n3,4\n   \n\n": {1, 3}, // several columns: blank lines are no rows
		"a,b\n,\n3,4\n":            {-1, 3},
	} {
		path := filepath.Join(t.TempDir(), "data.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := numbers(t.Context(), path, Options{Cells: &prepare.Cells{Missing: prepare.MissingDrop}})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestOneColumnRefused checks the line in the error for a missing value, and that the rows before it are delivered.
func TestOneColumnRefused(t *testing.T) {
	for text, want := range map[string]string{
		"x\n1\n2\n\n4\n":        ":4:1: column x is empty; fill in what is missing, or leave the column out",
		"x\n1\n2\n\"\"\n":       ":4:1: column x is empty; fill in what is missing, or leave the column out",
		"x\n1\n2\n\t \n\n":      ":4:1: column x is empty; fill in what is missing, or leave the column out",
		"a,b\n1,2\n2,3\n\"\"\n": ":4:1: the row has 1 fields, the first line has 2",
	} {
		path := filepath.Join(t.TempDir(), "data.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := numbers(t.Context(), path, Options{})
		if err == nil || err.Error() != path+want || !slices.Equal(got, []float64{1, 2}) {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

// TestOneColumnParts checks long random files of one column, whole and divided into parts. The parts together have
// each row once, in order.
func TestOneColumnParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "data.csv")
	cells := &prepare.Cells{Missing: prepare.MissingDrop}
	for range 30 {
		var text strings.Builder
		var want []float64
		text.WriteString("x\n")
		for range rng.IntN(40) {
			for range rng.IntN(4) * rng.IntN(1+2*rng.IntN(3000)) { // runs of gaps, some longer than a chunk's share
				text.WriteString([]string{"\n", "\r\n", "\"\"\n", " \n"}[rng.IntN(4)])
				want = append(want, -1)
			}
			for range rng.IntN(4) * rng.IntN(1+2*rng.IntN(3000)) {
				v := rng.IntN(1000)
				fmt.Fprintf(&text, "%d\n", v)
				want = append(want, float64(v))
			}
		}
		text.WriteString("7\n")
		want = append(want, 7)
		text.WriteString(strings.Repeat([]string{"\n", "\r\n"}[rng.IntN(2)], rng.IntN(3)*rng.IntN(200000)))
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		size := int64(text.Len())
		for _, parts := range []int64{1, 2, 7} {
			var got []float64
			for i := range parts {
				opts := Options{Cells: cells}
				if parts > 1 {
					opts.Range = dataset.Range{Lo: size * i / parts, Hi: size * (i + 1) / parts}
				}
				if parts > 1 && opts.Range.Lo == opts.Range.Hi {
					continue
				}
				part, err := numbers(t.Context(), path, opts)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, part...)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d parts: %d rows, want %d", parts, len(got), len(want))
			}
		}
	}
}
