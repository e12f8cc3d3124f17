package npy

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestFortranBeyondWindow reads an array in Fortran order with more rows than a window, more columns than a strip, and
// targets between the features. The block size divides neither. All rows are right, and an entry that is not finite is
// found wherever it is.
func TestFortranBeyondWindow(t *testing.T) {
	const n, d = windowRows + 77, stripColumns + 13
	path := filepath.Join(t.TempDir(), "x.npy")
	whole := text(1, "True", fmt.Sprintf("(%d, %d)", n, d), n*d)
	start := len(whole) - 8*n*d
	set := func(i, j int, v float64) {
		binary.LittleEndian.PutUint64(whole[start+8*(j*n+i):], math.Float64bits(v))
	}
	for j := range d {
		for i := range n {
			set(i, j, float64(i*d+j))
		}
	}
	pass := func() (rows int, err error) {
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{Targets: []string{"40", "3"}})
		if err != nil {
			t.Fatal(err)
		}
		s.BlockRows = 100
		for b, err := range s.Blocks(t.Context()) {
			if err != nil {
				return rows, err
			}
			for i := range b.N {
				row := float64((rows + i) * d)
				if y := b.Y[2*i : 2*i+2]; y[0] != row+39 || y[1] != row+2 {
					t.Fatalf("row %d has targets %v", rows+i, y)
				}
				k := i * (d - 2)
				for j := range d {
					if j != 2 && j != 39 {
						if b.X[k] != row+float64(j) {
							t.Fatalf("row %d, column %d is %v", rows+i, j, b.X[k])
						}
						k++
					}
				}
			}
			rows += b.N
		}
		return rows, nil
	}
	if rows, err := pass(); rows != n || err != nil {
		t.Fatalf("%d rows, %v", rows, err)
	}
	for _, at := range [][2]int{{0, 0}, {n - 1, d - 1}, {windowRows - 1, 2}, {windowRows, stripColumns}, {850, 39}} {
		i, j := at[0], at[1]
		set(i, j, math.Inf(-1))
		want := fmt.Sprintf("%s:%d:%d: row %d, column %d is -Inf, which is not finite", path, i+1, j+1, i+1, j+1)
		if _, err := pass(); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
		set(i, j, float64(i*d+j))
	}
}
