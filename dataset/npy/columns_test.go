package npy

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestByColumns: an array in Fortran order has its features as the rows of a source, in the order
// wanted, and its targets as rows; one in C order hasn't. What is wrong is told where it is.
func TestByColumns(t *testing.T) {
	const n, d = 5, 300
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
	write := func() {
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	s, err := Open(path, Options{Targets: []string{"40", "3"}, Columns: []string{"7", "1", "2", "4", "5", "200"}})
	if err != nil {
		t.Fatal(err)
	}
	features, ok := dataset.ByColumns(s)
	if !ok {
		t.Fatal("no columns")
	}
	features.(*dataset.Stream).BlockRows = 4
	want := []int{6, 0, 1, 3, 4, 199}
	if k, m, targets := features.Dims(); k != int64(len(want)) || m != n || targets != 0 {
		t.Fatalf("%d features of %d, %d targets", k, m, targets)
	}
	seen := 0
	for b, err := range features.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for k := range b.N {
			for i := range n {
				if v := b.X[k*n+i]; v != float64(i*d+want[seen]) {
					t.Errorf("feature %d, row %d is %v", seen, i, v)
				}
			}
			seen++
		}
	}
	if seen != len(want) {
		t.Errorf("%d features", seen)
	}
	y, w, err := dataset.Samples(t.Context(), s)
	if err != nil || w != nil || !slices.Equal(y, []float64{39, 2, 339, 302, 639, 602, 939, 902, 1239, 1202}) {
		t.Errorf("targets %v, weights %v, %v", y, w, err)
	}
	last := func(src dataset.Source) (err error) {
		for _, err = range src.Blocks(t.Context()) {
		}
		return err
	}
	set(2, 199, math.NaN())
	write()
	s, err = Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	features, _ = dataset.ByColumns(s)
	if err := last(features); err == nil ||
		err.Error() != path+":3:200: row 3, column 200 is NaN, which is not finite" {
		t.Error(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-8], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := last(features); err == nil {
		t.Error("a file that was cut is read")
	}
	whole = text(1, "False", fmt.Sprintf("(%d, %d)", n, d), n*d)
	write()
	s, err = Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := dataset.ByColumns(s); ok {
		t.Error("an array in C order has columns")
	}
}
