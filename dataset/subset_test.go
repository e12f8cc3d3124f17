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
	isPositive := func(b dataset.Block, i int) (bool, error) { return b.X[i] > 0, nil }
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

// TestFilter: dense and sparse rows keep their targets and weights, the rows left out are counted once, and an error of
// keep ends the pass.
func TestFilter(t *testing.T) {
	const n = 1000
	var rows [][]float64
	weights := make([]float64, n)
	for i := range n {
		rows, weights[i] = append(rows, []float64{float64(i), float64(i % 3)}), float64(2*i)
	}
	w, err := dataset.FromDense(n, 1, 0, weights, nil)
	if err != nil {
		t.Fatal(err)
	}
	errRow := errors.New("row 998")
	for _, src := range []dataset.Source{dense(t, rows...), sparse(t, rows...)} {
		if _, _, targets := src.Dims(); targets != 1 {
			t.Fatal("a target is missing")
		}
		weighed, err := dataset.Weigh(src, w)
		if err != nil {
			t.Fatal(err)
		}
		counts := []int64{}
		limit := int64(n)
		kept := dataset.Filter(weighed, func(b dataset.Block, i int) (bool, error) {
			row := b.First + int64(i)
			if row >= limit {
				return false, errRow
			}
			return row%7 != 0 && row > 10, nil
		}, func(leftOut int64) { counts = append(counts, leftOut) })
		if rows, _, _ := kept.Dims(); rows != -1 {
			t.Errorf("%d rows before a pass", rows)
		}
		for range 2 {
			var got []float64
			for b, err := range kept.Blocks(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.N {
					x := 0.0 // the first row, which is left out, has no entries
					if b.Sparse == nil {
						if x = b.X[2*i]; b.Y[i] != x {
							t.Fatalf("row %v has the target %v", x, b.Y[i])
						}
					} else {
						_, val := b.Sparse.Row(i)
						x = val[0]
					}
					if b.W[i] != 2*x {
						t.Fatalf("row %v has the weight %v", x, b.W[i])
					}
					got = append(got, x)
				}
			}
			var want []float64
			for i := 11; i < n; i++ {
				if i%7 != 0 {
					want = append(want, float64(i))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("rows %v", got)
			}
			if rows, _, _ := kept.Dims(); rows != int64(len(want)) || !slices.Equal(counts, []int64{n - rows}) {
				t.Errorf("%d rows, %v left out", rows, counts)
			}
		}
		limit = n - 2
		if _, err := read(t, kept); !errors.Is(err, errRow) {
			t.Errorf("the pass ended in %v", err)
		}
	}
}
