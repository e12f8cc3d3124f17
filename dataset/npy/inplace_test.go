package npy

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestInPlace: rows that are read directly into a block are right, with no target, one target or two targets behind the
// features. So are rows that have to be decoded, because they are big-endian or their features follow the targets. The
// sizes of chunks and blocks do not divide the rows or each other. On many cores rows are read in parallel.
func TestInPlace(t *testing.T) {
	for _, cores := range []int{2, 40} {
		t.Run(fmt.Sprintf("%d cores", cores), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			testInPlace(t)
		})
	}
}

func testInPlace(t *testing.T) {
	const n, cols = 5000, 37
	path := filepath.Join(t.TempDir(), "x.npy")
	for _, descr := range []string{"<f8", ">f8"} {
		whole := text(1, "False", fmt.Sprintf("(%d, %d)", n, cols), n*cols)
		start := len(whole) - 8*n*cols
		var order binary.ByteOrder = binary.LittleEndian
		if descr == ">f8" {
			order = binary.BigEndian
			for i := range whole {
				if string(whole[i:i+3]) == "<f8" {
					whole[i] = '>'
					break
				}
			}
		}
		set := func(i, j int, v float64) { order.PutUint64(whole[start+8*(i*cols+j):], math.Float64bits(v)) }
		for i := range n {
			for j := range cols {
				set(i, j, float64(i*cols+j))
			}
		}
		for _, targets := range [][]string{nil, {"last"}, {"36", "37"}, {"37", "36"}, {"first"}} {
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, Options{Targets: targets})
			if err != nil {
				t.Fatal(err)
			}
			s.BlockRows = 1999
			rows, d := 0, cols-len(targets)
			first := 0 // column of the first feature
			if len(targets) == 1 && targets[0] == "first" {
				first = 1
			}
			for b, err := range s.Blocks(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if len(b.X) != b.N*d || len(b.Y) != b.N*len(targets) {
					t.Fatalf("%s, targets %v: %d rows with %d and %d numbers", descr, targets, b.N, len(b.X), len(b.Y))
				}
				for i := range b.N {
					row := float64((rows + i) * cols)
					for j, v := range b.X[i*d : (i+1)*d] {
						if v != row+float64(first+j) {
							t.Fatalf("%s, targets %v: row %d, feature %d is %v", descr, targets, rows+i, j, v)
						}
					}
					for j, v := range b.Y[i*len(targets) : (i+1)*len(targets)] {
						want := map[string]float64{"first": 0, "36": 35, "37": 36, "last": 36}[targets[j]]
						if v != row+want {
							t.Fatalf("%s, targets %v: row %d, target %d is %v", descr, targets, rows+i, j, v)
						}
					}
				}
				rows += b.N
			}
			if rows != n {
				t.Fatalf("%d rows", rows)
			}
		}
		// Entries that are not finite are found in features and targets of any chunk.
		for _, at := range [][2]int{{0, 0}, {n - 1, cols - 1}, {900, cols - 1}, {3333, 20}} {
			i, j := at[0], at[1]
			set(i, j, math.NaN())
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, Options{Targets: []string{"last"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range s.Blocks(t.Context()) {
				err = e
			}
			want := fmt.Sprintf("%s:%d:%d: row %d, column %d is NaN, which is not finite", path, i+1, j+1, i+1, j+1)
			if err == nil || err.Error() != want {
				t.Errorf("%v, want %q", err, want)
			}
			set(i, j, float64(i*cols+j))
		}
	}
}
