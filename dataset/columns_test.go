package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// rowsOf are all rows of a source, sparse ones written out.
func rowsOf(t *testing.T, src dataset.Source) (x, y, w []float64) {
	t.Helper()
	_, d, _ := src.Dims()
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		y, w = append(y, b.Y...), append(w, b.W...)
		if b.Sparse == nil {
			x = append(x, b.X...)
			continue
		}
		for i := range b.N {
			row := make([]float64, d)
			idx, val := b.Sparse.Row(i)
			for k, j := range idx {
				row[j] = val[k]
			}
			x = append(x, row...)
		}
	}
	return x, y, w
}

// TestTranspose: rows are columns, in one window or many, dense or sparse; targets, weights and a
// scaling go with them, by rows and by columns.
func TestTranspose(t *testing.T) {
	ctx := context.Background()
	const n, d = 7, 3
	var x, turned []float64
	for j := range d {
		for i := range n {
			turned = append(turned, float64((10*i+j)*(i%3)))
		}
	}
	for i := range n {
		for j := range d {
			x = append(x, turned[j*n+i])
		}
	}
	dense := must(dataset.FromDense(d, n, 0, turned, nil))(t)
	csr := &engine.CSR{Rows: d, Cols: n, RowPtr: []int{0}}
	for j := range d {
		for i := range n {
			if v := turned[j*n+i]; v != 0 {
				csr.ColIdx, csr.Val = append(csr.ColIdx, int32(i)), append(csr.Val, v)
			}
		}
		csr.RowPtr = append(csr.RowPtr, len(csr.Val))
	}
	y, w := []float64{1, 2, 3, 4, 5, 6, 7}, []float64{1, 0, 2, 1, 1, 1, 1}
	targets, weights := must(dataset.FromDense(n, 1, 0, y, nil))(t), must(dataset.FromDense(n, 1, 0, w, nil))(t)
	scaling := &dataset.Scaling{Mean: []float64{1, 2, 3}, Scale: []float64{2, 4, 8}}
	for name, features := range map[string]dataset.Source{
		"dense":  dense,
		"sparse": must(dataset.FromCSR(csr, 0, nil))(t),
	} {
		for _, bytes := range []int{0, 1, 8 * d * 2, 8 * d * 3} {
			what := fmt.Sprintf("%s in %d bytes", name, bytes)
			src := must(dataset.Transpose(ctx, features, bytes))(t)
			if rows, cols, none := src.Dims(); rows != n || cols != d || none != 0 {
				t.Fatalf("%s: %d×%d, %d targets", what, rows, cols, none)
			}
			if got, _, _ := rowsOf(t, src); !slices.Equal(got, x) {
				t.Fatalf("%s: %v", what, got)
			}
			var late []float64
			for b, err := range dataset.From(ctx, src, 4) {
				if err != nil {
					t.Fatal(err)
				}
				late = append(late, b.X[max(0, 4-int(b.First))*d:]...)
			}
			if !slices.Equal(late, x[4*d:]) {
				t.Errorf("%s from row 4: %v", what, late)
			}
			all := must(dataset.Weigh(must(dataset.Zip(must(scaling.Apply(src))(t), targets))(t), weights))(t)
			byRows, _, _ := rowsOf(t, all)
			columns, ok := dataset.ByColumns(all)
			if !ok {
				t.Fatalf("%s: no columns", what)
			}
			byColumns, _, _ := rowsOf(t, columns)
			for i := range n {
				for j := range d {
					if byRows[i*d+j] != byColumns[j*n+i] ||
						byRows[i*d+j] != (x[i*d+j]-scaling.Mean[j])/scaling.Scale[j] {
						t.Fatalf(
							"%s: row %d, column %d is %v by rows, %v by columns",
							what,
							i,
							j,
							byRows[i*d+j],
							byColumns[j*n+i],
						)
					}
				}
			}
			gotY, gotW, err := dataset.Samples(ctx, all)
			if err != nil || !slices.Equal(gotY, y) || !slices.Equal(gotW, w) {
				t.Errorf("%s: targets %v, weights %v, %v", what, gotY, gotW, err)
			}
		}
	}
	if _, ok := dataset.ByColumns(dense); ok {
		t.Error("rows in memory have columns")
	}
	few := must(dataset.FromDense(n-1, 1, 0, y[1:], nil))(t)
	if _, err := dataset.Zip(must(dataset.Transpose(ctx, dense, 0))(t), few); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("targets of other rows: %v", err)
	}
	if _, err := dataset.Transpose(
		ctx, must(dataset.FromDense(1, 1, 1, y[:1], y[:1]))(t), 0,
	); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("a source with targets: %v", err)
	}
	if _, err := dataset.Transpose(ctx, nil, 0); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("no source: %v", err)
	}
}

// must returns a function that returns v, or fails the test if err is not nil.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
