package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

func ExampleFilter() {
	src, err := dataset.FromDense(5, 1, 0, []float64{3, -1, 4, -1, 5}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	isPositive := func(b *dataset.Block, i int) bool { return b.X[i] > 0 }
	positive := dataset.Filter(src, isPositive, func(leftOut int64) { fmt.Println(leftOut, "rows left out") })
	for b, err := range positive.Blocks(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(b.X)
	}
	// Output:
	// [3 4 5]
	// 2 rows left out
}

// TestFilter: rows keep their targets and weights, the rows left out are counted once, and sparse rows are refused.
func TestFilter(t *testing.T) {
	const n = 1000
	var rows [][]float64
	weights := make([]float64, n)
	for i := range n {
		rows, weights[i] = append(rows, []float64{float64(i), 1}), float64(2*i)
	}
	w, err := dataset.FromDense(n, 1, 0, weights, nil)
	if err != nil {
		t.Fatal(err)
	}
	weighed, err := dataset.Weigh(dense(t, rows...), w)
	if err != nil {
		t.Fatal(err)
	}
	var counts []int64
	keep := func(b *dataset.Block, i int) bool { return int(b.X[2*i])%7 != 0 && b.W[i] > 20 }
	kept := dataset.Filter(weighed, keep, func(leftOut int64) { counts = append(counts, leftOut) })
	if rows, _, _ := kept.Dims(); rows != -1 {
		t.Errorf("%d rows before a pass", rows)
	}
	var want []float64
	for i := 11; i < n; i++ {
		if i%7 != 0 {
			want = append(want, float64(i))
		}
	}
	for range 2 {
		var got []float64
		for b, err := range kept.Blocks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.N {
				if x := b.X[2*i]; b.X[2*i+1] != 1 || b.Y[i] != x || b.W[i] != 2*x {
					t.Fatalf(
						"row %v has the feature %v, the target %v and the weight %v",
						x,
						b.X[2*i+1],
						b.Y[i],
						b.W[i],
					)
				}
				got = append(got, b.X[2*i])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("rows %v", got)
		}
		if rows, _, _ := kept.Dims(); rows != int64(len(want)) || !slices.Equal(counts, []int64{n - rows}) {
			t.Errorf("%d rows, %v left out", rows, counts)
		}
	}
	if _, err := read(t, dataset.Filter(sparse(t, rows...), keep, nil)); !errors.Is(err, dataset.ErrShape) {
		t.Errorf("sparse rows: %v", err)
	}
}
