package dataset_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
)

// with is a step of features.
func with(f dataset.Features) func(dataset.Source) (dataset.Source, error) {
	return func(src dataset.Source) (dataset.Source, error) { return f.Apply(src, nil) }
}

// TestRowMap: rows that RowMap computes have the bits of the rows of a prepared source, one by one and as a matrix. Row
// allocates nothing.
func TestRowMap(t *testing.T) {
	const n, d = 40, 5
	r := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, r.NormFloat64()*3+float64(j))
		}
	}
	scaling := &dataset.Scaling{Mean: []float64{0, 1, 2, 3, 4}, Scale: []float64{3, 2, 1, 3, 0.5}}
	type steps = []func(dataset.Source) (dataset.Source, error)
	for name, s := range map[string]steps{
		"none": nil, "scaled": {scaling.Apply},
		"fourier":    {scaling.Apply, with(dataset.Fourier{Components: 33, Gamma: 0.1, Seed: 4})},
		"polynomial": {with(dataset.Polynomial{Degree: 3})},
		"both":       {with(dataset.Polynomial{Degree: 2}), with(dataset.Fourier{Components: 7, Gamma: 1e-3})},
	} {
		src, err := dataset.FromMatrix(x, nil)
		for _, step := range s {
			if err == nil {
				src, err = step(src)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		want := mustRead(t, src)
		m, err := dataset.NewRowMap(d, s...)
		if err != nil {
			t.Fatal(name, err)
		}
		in, out := m.Dims()
		if in != d || out != len(want.x[0]) {
			t.Errorf("%s: a map of %d to %d", name, in, out)
		}
		all, err := m.Matrix(x.Slice(0, n, 0, d))
		if err != nil {
			t.Fatal(name, err)
		}
		got := make([]float64, out)
		for i := range n {
			err := m.Row(got, x.RawRowView(i))
			if err != nil || !slices.Equal(got, want.x[i]) || !slices.Equal(all.RawRowView(i), want.x[i]) {
				t.Fatalf("%s: row %d is %v and %v, of a source %v: %v", name, i, got, all.RawRowView(i), want.x[i], err)
			}
		}
		row := x.RawRowView(3)
		if k := testing.AllocsPerRun(20, func() { err = m.Row(got, row) }); k > 0 || err != nil {
			t.Errorf("%s: %v allocations: %v", name, k, err)
		}
	}
}

// TestRowMapRefuses: what is no row, and what does not go row by row.
func TestRowMapRefuses(t *testing.T) {
	m, err := dataset.NewRowMap(2, with(dataset.Polynomial{Degree: 2}))
	if err != nil {
		t.Fatal(err)
	}
	dst := []float64{7, 7, 7, 7, 7}
	for name, c := range map[string]struct{ x, dst []float64 }{
		"short": {[]float64{1}, dst}, "long": {[]float64{1, 2, 3}, dst}, "little room": {[]float64{1, 2}, dst[:4]},
	} {
		if err := m.Row(c.dst, c.x); !errors.Is(err, dataset.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, x := range [][]float64{{1, math.NaN()}, {math.Inf(-1), 1}, {1e200, 1e200}} {
		var e *dataset.InputError
		if err := m.Row(dst, x); !errors.As(err, &e) || !e.NonFinite || dst[0] != 7 {
			t.Errorf("%v: %v leaves %v", x, err, dst)
		}
	}
	if _, err := m.Matrix(mat.NewDense(2, 2, []float64{1, 2, 3, math.NaN()})); !errors.Is(err, dataset.ErrInput) {
		t.Errorf("a NaN in a matrix: %v", err)
	}
	if _, err := m.Matrix(mat.NewDense(2, 3, nil)); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("a matrix of other columns: %v", err)
	}
	if _, err := m.Matrix(nil); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("no matrix: %v", err)
	}
	if _, err := dataset.NewRowMap(0); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("no columns: %v", err)
	}
	if _, err := dataset.NewRowMap(2, with(dataset.Fourier{})); !errors.Is(err, dataset.ErrInput) {
		t.Errorf("no features: %v", err)
	}
	if _, err := dataset.NewRowMap(
		2, func(src dataset.Source) (dataset.Source, error) { return dataset.Every(src, 2) },
	); !errors.Is(err, dataset.ErrInput) {
		t.Errorf("every second row: %v", err)
	}
	none := new(dataset.RowMap)
	if err := none.Row(nil, nil); err != nil {
		t.Errorf("the zero map of no columns: %v", err)
	}
}
