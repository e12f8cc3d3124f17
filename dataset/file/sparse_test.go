package file_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// denseRows reads all rows as dense rows, targets behind features.
func denseRows(t *testing.T, src dataset.Source) (rows [][]float64) {
	t.Helper()
	_, d, k := src.Dims()
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			row := make([]float64, d)
			if b.Sparse != nil {
				idx, val := b.Sparse.Row(i)
				for e, j := range idx {
					row[j] = val[e]
				}
			} else {
				copy(row, b.X[i*d:(i+1)*d])
			}
			rows = append(rows, append(row, b.Y[i*k:(i+1)*k]...))
		}
	}
	return rows
}

// TestSparseFiles: sparse matrices of SciPy with a target in another file, divided into shares, and transposed.
func TestSparseFiles(t *testing.T) {
	folder := filepath.Join("..", "npy", "testdata")
	y := make([]float64, 24)
	for i := range y {
		y[i] = float64(i*i) - 7
	}
	target := named(t, "y.npy", npy("<f8", "False", "(24,)", floats(le, y...)))
	all, err := file.Open(
		[]string{filepath.Join(folder, "dense.npy")},
		file.Options{Target: []string{target}, Targets: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := denseRows(t, all)
	for _, format := range []string{"csr", "csr-stored", "csc", "coo-unsorted", "bsr", "bsr-stored"} {
		path := filepath.Join(folder, "sparse-"+format+".npz")
		var got [][]float64
		for rank := range 3 {
			s, err := file.Open(
				[]string{path},
				file.Options{Target: []string{target}, Targets: 1, Share: dataset.Share{Rank: rank, Size: 3}},
			)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, denseRows(t, s)...)
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: %v\nwant %v", format, got, want)
		}
		turned, err := file.Open([]string{path}, file.Options{Transposed: true})
		if err != nil {
			t.Fatal(err)
		}
		rows := denseRows(t, turned)
		for j, row := range rows {
			for i, v := range row {
				if v != want[i][j] {
					t.Fatalf("%s, transposed: %v in row %d, column %d, want %v", format, v, j, i, want[i][j])
				}
			}
		}
		if len(rows) != 12 {
			t.Errorf("%s, transposed: %d rows", format, len(rows))
		}
	}
	_, err = file.Open(
		[]string{filepath.Join(folder, "sparse-csr.npz")},
		file.Options{Origin: file.Origin{Cells: &prepare.Cells{Look: true}}},
	)
	if err == nil || !strings.Contains(err.Error(), "is a sparse matrix, whose rows have no missing values") {
		t.Error(err)
	}
}

// TestFieldNames: the fields of structured arrays name the features and the target, in files and in archives.
func TestFieldNames(t *testing.T) {
	dict := "{'descr': [('a', '<f8'), ('b', '<f8'), ('c', '<f8')], 'fortran_order': False, 'shape': (2,), }\n"
	array := "\x93NUMPY\x01\x00" + string([]byte{byte(len(dict)), 0}) + dict + string(floats(le, 1, 2, 3, 4, 5, 6))
	for _, path := range []string{named(t, "x.npy", array), named(t, "x.npz", npz(t, 0, "x.npy", array))} {
		s, err := file.Open([]string{path}, file.Options{Target: []string{"b"}, Targets: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := denseRows(t, s); !slices.EqualFunc(got, [][]float64{{1, 3, 2}, {4, 6, 5}}, slices.Equal) {
			t.Errorf("%s: %v", path, got)
		}
		if !slices.Equal(s.Names, []string{"a", "c"}) || !slices.Equal(s.TargetNames, []string{"b"}) {
			t.Errorf("%s: %q, %q", path, s.Names, s.TargetNames)
		}
	}
}
