package file_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	npyfile "github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/svmlight"
	"github.com/fdridge/fdridge/engine"
)

// whole copies the blocks of a pass, or of the rest of one.
func whole(t *testing.T, src dataset.Source, first int64) []dataset.Block {
	t.Helper()
	var out []dataset.Block
	for b, err := range dataset.From(context.Background(), src, first) {
		if err != nil {
			t.Fatal(err)
		}
		b.X, b.Y, b.W = slices.Clone(b.X), slices.Clone(b.Y), slices.Clone(b.W)
		if b.Sparse != nil {
			s := *b.Sparse
			s.RowPtr, s.ColIdx, s.Val = slices.Clone(s.RowPtr), slices.Clone(s.ColIdx), slices.Clone(s.Val)
			b.Sparse = &s
		}
		out = append(out, b)
	}
	return out
}

// array is a .npy file of n×d float64.
func array(n, d int, fortran bool) []byte {
	order, at := "False", func(i, j int) int { return i*d + j }
	if fortran {
		order, at = "True", func(i, j int) int { return j*n + i }
	}
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }", order, n, d)
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	out = append(out, head...)
	data := make([]byte, 8*n*d)
	for i := range n {
		for j := range d {
			binary.LittleEndian.PutUint64(data[8*at(i, j):], math.Float64bits(math.Sin(float64(i*d+j))))
		}
	}
	return append(out, data...)
}

// TestFrom: the rest of a pass is the blocks that the whole one has from there on, of
// every reader and every transform.
func TestFrom(t *testing.T) {
	const n, d = 500, 6
	dir := t.TempDir()
	put := func(name string, text []byte) string {
		name = filepath.Join(dir, name)
		if strings.HasSuffix(name, ".gz") {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Write(text)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			text = b.Bytes()
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	with := func(s dataset.Source, err error) dataset.Source {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := s.(*dataset.Stream); ok && s.BlockRows == 0 {
			s.BlockRows = 64
		}
		return s
	}
	blocks := func(rows int, s *dataset.Stream, err error) dataset.Source {
		t.Helper()
		if err == nil {
			s.BlockRows = rows
		}
		return with(s, err)
	}
	var table, svm strings.Builder
	for i := range n {
		for j := range 4 {
			fmt.Fprintf(&table, "%v,", math.Cos(float64(4*i+j)))
		}
		fmt.Fprintf(&table, "%d,%d\n", i%7, i%3)
		fmt.Fprintf(&svm, "%d %d:%d 90:1.5\n", i%5, 1+i%80, i)
	}
	c, f, packed := put("c.npy", array(n, d, false)), put("f.npy", array(n, d, true)), put("c.npy.gz", array(n, d, false))
	text, textPacked, labelled := put("a.csv", []byte(table.String())), put("a.csv.gz", []byte(table.String())), put("a.svm", []byte(svm.String()))
	last := []string{"last"}
	fromArray := func(name string, rows int, targets ...string) dataset.Source {
		s, err := npyfile.Open(name, npyfile.Options{Targets: targets})
		return blocks(rows, s, err)
	}
	fromText := func(name string, targets ...string) dataset.Source {
		s, err := csv.Open(name, csv.Options{Targets: targets})
		return blocks(70, s, err)
	}
	fromPairs := func() dataset.Source {
		s, err := svmlight.Open(labelled, svmlight.Options{Targets: 1})
		return blocks(60, s, err)
	}
	dense := fromArray(c, 64, last...)
	_, scaling, err := dataset.Standardize(context.Background(), dense)
	if err != nil {
		t.Fatal(err)
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		t.Fatal(err)
	}
	wide := 1 << 14
	x := make([]float64, wide*(2*tuning.GradientRows(wide)+11))
	for name, s := range map[string]dataset.Source{
		"npy":             dense,
		"Fortran order":   fromArray(f, 50, last...),
		"npy.gz":          fromArray(packed, 50, last...),
		"csv":             fromText(text, last...),
		"csv.gz":          fromText(textPacked, last...),
		"svmlight":        fromPairs(),
		"several texts":   with(dataset.Concat(fromText(text, last...), fromText(textPacked, last...), fromText(text, last...))),
		"several arrays":  with(dataset.Concat(fromArray(c, 64, last...), fromArray(f, 70, last...), fromArray(packed, 80, last...))),
		"own target":      with(dataset.Zip(fromArray(c, 64), fromArray(put("y.npy", array(n, 1, false)), 48))),
		"rows":            with(dataset.Rows(dense, 100, 430)),
		"last rows":       with(dataset.Rows(fromText(text), 200, n)),
		"weights":         with(dataset.TargetAsWeight(with(dataset.Rows(fromText(text, "5", "6"), 3, 450)))),
		"a weights file":  with(dataset.Weigh(fromArray(f, 55, last...), fromText(put("w.csv", []byte(strings.Repeat("2\n", n)))))),
		"scaled":          with(scaling.Apply(dense)),
		"Fourier":         with(dataset.Fourier{Components: wide, Gamma: 1}.Apply(with(dataset.Rows(with(scaling.Apply(dense)), 20, 180)), nil)),
		"sparse Fourier":  with(dataset.Fourier{Components: wide, Gamma: 1}.Apply(with(dataset.Rows(fromPairs(), 0, 130)), nil)),
		"polynomial":      with(dataset.Polynomial{Degree: 3}.Apply(fromText(textPacked, last...), nil)),
		"every third row": with(dataset.Every(dense, 3)),
		"memory":          with(dataset.FromDense(len(x)/wide, wide, 0, x, nil)),
		"sparse memory":   with(dataset.FromCSR(&engine.CSR{Rows: 1300, Cols: 1, RowPtr: make([]int, 1301)}, 0, nil)),
	} {
		t.Run(name, func(t *testing.T) {
			all := whole(t, s, 0)
			if len(all) < 2 {
				t.Fatalf("%d blocks", len(all))
			}
			var rows int64
			for i, b := range all {
				for _, first := range []int64{b.First, b.First + 1, b.First + int64(b.N) - 1} {
					if b.N > 1 || first == b.First {
						if got := whole(t, s, first); !reflect.DeepEqual(got, all[i:]) {
							t.Fatalf(
								"from row %d there are %d blocks, not the last %d of %d",
								first,
								len(got),
								len(all)-i,
								len(all),
							)
						}
					}
				}
				rows += int64(b.N)
			}
			if got := whole(t, s, rows); len(got) > 0 {
				t.Errorf("%d blocks behind the last row", len(got))
			}
		})
	}
}
