package dataset_test

import (
	"context"
	"errors"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestEvery: rows 0, k, 2k, … whatever the blocks, dense or sparse, with targets and
// weights.
func TestEvery(t *testing.T) {
	var rows [][]float64
	var w []float64
	for i := range 23 {
		rows, w = append(rows, []float64{float64(i), float64(i % 2), -1}), append(w, float64(i)/2)
	}
	for _, source := range []func(*testing.T, ...[]float64) dataset.Source{dense, sparse} {
		src, err := dataset.Concat(source(t, rows[:5]...), source(t, rows[5:6]...), source(t, rows[6:]...))
		if err != nil {
			t.Fatal(err)
		}
		src = weighted(t, src, w...)
		for _, k := range []int64{1, 2, 3, 7, 22, 23, 100} {
			out, err := dataset.Every(src, k)
			if err != nil {
				t.Fatal(err)
			}
			n, _, _ := out.Dims()
			row := int64(0)
			for b, err := range out.Blocks(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				if b.First != row {
					t.Errorf("k = %d: block begins at %d, want %d", k, b.First, row)
				}
				for i := range b.N {
					want := rows[row*k]
					for j := range want {
						got := 0.0
						if b.Sparse == nil {
							got = b.X[3*i+j]
						} else {
							idx, val := b.Sparse.Row(i)
							for e, c := range idx {
								if int(c) == j {
									got = val[e]
								}
							}
						}
						if got != want[j] {
							t.Fatalf("k = %d: row %d is not row %d", k, row, row*k)
						}
					}
					if b.W[i] != w[row*k] || len(b.Y) != b.N {
						t.Fatalf("k = %d: weight %v, %d targets", k, b.W[i], len(b.Y))
					}
					row++
				}
			}
			if row != n || row != (23+k-1)/k {
				t.Errorf("k = %d: %d rows, said %d", k, row, n)
			}
		}
		if _, err := dataset.Every(src, 0); !errors.Is(err, dataset.ErrShape) {
			t.Errorf("every 0-th row: %v", err)
		}
	}
}
