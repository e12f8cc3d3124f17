package testkit

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/svmlight"
	"github.com/fdridge/fdridge/engine"
)

func ReadFixture(t *testing.T, name string, v any) {
	t.Helper()
	text := Must(os.ReadFile(Path(t, "ridge", "testdata", "sklearn", name)))(t)
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// observations are rows in memory, each with one target.
type observations struct {
	N, D   int
	X      []float64
	Sparse *engine.CSR
	y      []float64
}

// ReadEvery reads src and keeps the rows 0, stride, 2·stride and so on.
func ReadEvery(t *testing.T, src dataset.Source, stride int) *observations {
	t.Helper()
	_, d, _ := src.Dims()
	o := &observations{D: d}
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Sparse != nil && o.Sparse == nil {
			o.Sparse = &engine.CSR{Cols: d, RowPtr: []int{0}}
		}
		for i := range b.N {
			if (int(b.First)+i)%stride != 0 {
				continue
			}
			o.N++
			o.y = append(o.y, b.Y[i])
			if b.Sparse == nil {
				o.X = append(o.X, b.X[i*d:(i+1)*d]...)
				continue
			}
			idx, val := b.Sparse.Row(i)
			o.Sparse.Rows++
			o.Sparse.ColIdx, o.Sparse.Val = append(o.Sparse.ColIdx, idx...), append(o.Sparse.Val, val...)
			o.Sparse.RowPtr = append(o.Sparse.RowPtr, len(o.Sparse.Val))
		}
	}
	return o
}

func Weights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 0.5 + float64(i%7)/4
	}
	return w
}

// Source returns a source of the rows. targets is 1 or 2. If weighted is true, the rows have the weights of
// [Weights].
func (o *observations) Source(t *testing.T, targets int, weighted bool) dataset.Source {
	t.Helper()
	y := make([]float64, 0, o.N*targets)
	for i, v := range o.y {
		y = append(y, v)
		if targets == 2 {
			y = append(y, float64(1+i%3)*v)
		}
	}
	var src dataset.Source
	if o.Sparse != nil {
		src = Must(dataset.FromCSR(o.Sparse, targets, y))(t)
	} else {
		src = Must(dataset.FromDense(o.N, o.D, targets, o.X, y))(t)
	}
	if !weighted {
		return src
	}
	return Must(dataset.Weigh(src, Must(dataset.FromDense(o.N, 1, 0, Weights(o.N), nil))(t)))(t)
}

// Prepare returns src, standardised if standardise is true. It also returns the scaling, which is the identity if
// src is not standardised.
func Prepare(t *testing.T, src dataset.Source, standardise bool) (dataset.Source, *dataset.Scaling) {
	t.Helper()
	if standardise {
		out, s, err := dataset.Standardize(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		return out, s
	}
	_, d, _ := src.Dims()
	s := &dataset.Scaling{Mean: make([]float64, d), Scale: make([]float64, d)}
	for j := range s.Scale {
		s.Scale[j] = 1
	}
	return src, s
}

// PublicData lists the data sets of the fixtures. If ours is true, the data
// set is in the repository. Otherwise open reads it from the folder dir.
var PublicData = []struct {
	Name string
	ours bool
	open func(t *testing.T, dir string) dataset.Source
}{
	{"housing", true, func(t *testing.T, _ string) dataset.Source {
		return Must(
			csv.Open(Path(t, "testdata", "cal_housing.csv.gz"), csv.Options{Targets: []string{"last"}}),
		)(
			t,
		)
	}},
	{"w8a", true, func(t *testing.T, _ string) dataset.Source {
		return Must(
			svmlight.Open(Path(t, "testdata", "w8a.svm.gz"), svmlight.Options{Features: 300, Targets: 1}),
		)(
			t,
		)
	}},
	{"diabetes", false, func(t *testing.T, dir string) dataset.Source {
		return Must(csv.Open(filepath.Join(dir, "diabetes.tab.txt"), csv.Options{Targets: []string{"Y"}}))(t)
	}},
	{"abalone", false, func(t *testing.T, dir string) dataset.Source {
		text := string(Must(os.ReadFile(filepath.Join(dir, "abalone.data")))(t))
		coded := filepath.Join(t.TempDir(), "abalone.csv")
		err := os.WriteFile(coded, []byte(strings.NewReplacer("M,", "0,", "F,", "1,", "I,", "2,").Replace(text)), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return Must(csv.Open(coded, csv.Options{Targets: []string{"last"}}))(t)
	}},
	{"covtype", false, func(t *testing.T, dir string) dataset.Source {
		return Must(csv.Open(filepath.Join(dir, "covtype.data.gz"), csv.Options{Targets: []string{"last"}}))(t)
	}},
	{"year, the first rows", false, func(t *testing.T, dir string) dataset.Source {
		return Must(
			csv.Open(filepath.Join(dir, "YearPredictionMSD.head1176.txt.gz"), csv.Options{Targets: []string{"first"}}),
		)(
			t,
		)
	}},
	{"year, a sample", false, func(t *testing.T, dir string) dataset.Source {
		return Must(
			csv.Open(
				filepath.Join(dir, "YearPredictionMSD.sample7000.txt.gz"),
				csv.Options{Targets: []string{"first"}},
			),
		)(
			t,
		)
	}},
}

// EachPublic runs f as a subtest for each named data set. It skips the data sets that are not in the repository if
// FDRIDGE_DATA is not set.
func EachPublic(t *testing.T, names []string, f func(t *testing.T, name string, src dataset.Source)) {
	dir := os.Getenv("FDRIDGE_DATA")
	for _, p := range PublicData {
		if !slices.Contains(names, p.Name) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			if !p.ours && dir == "" {
				t.Skipf("FDRIDGE_DATA is not set: %s is left out", p.Name)
			}
			f(t, p.Name, p.open(t, dir))
		})
	}
}
