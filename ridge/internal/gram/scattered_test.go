package gram

import (
	"context"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// singly is a source whose blocks have one sparse row each.
type singly struct{ dataset.Source }

func (s singly) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for b, err := range s.Source.Blocks(ctx) {
			for i := 0; i < b.N && err == nil; i++ {
				row := b.Sparse.Slice(i, i+1)
				if !yield(dataset.Block{First: b.First + int64(i), N: 1, Sparse: &row, Y: b.Y[i : i+1]}, nil) {
					return
				}
			}
			if err != nil {
				yield(dataset.Block{}, err)
				return
			}
		}
	}
}

// threeEntries returns rows of three random entries in 400 000 columns, one row in each block.
func threeEntries(t *testing.T, n int) dataset.Source {
	t.Helper()
	const entries, share = 3, 133_333
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := &engine.CSR{Rows: n, Cols: 400_000, RowPtr: []int{0}}, []float64(nil)
	for range n {
		for k := range entries {
			x.ColIdx = append(x.ColIdx, int32(k*share+rng.IntN(share)))
			x.Val = append(x.Val, rng.NormFloat64())
		}
		x.RowPtr, y = append(x.RowPtr, len(x.Val)), append(y, rng.NormFloat64())
	}
	src, err := dataset.FromCSR(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	return singly{src}
}

// TestScattered: products that go to compensated sums at once are those that go there by way of
// plain sums, to round-off.
func TestScattered(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	src := threeEntries(t, 1500)
	n, d, _ := src.Dims()
	o, err := New(Rows{Source: src, Count: n, Weight: float64(n)}, be, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, rss := make([]float64, 2*d), make([]float64, 2)
	for j := range v {
		v[j] = float64(j%7) - 3
	}
	out := make([]float64, 2*d)
	if _, err := o.Apply(t.Context(), []Query{{Affine: true}, {}}, v, out, rss, nil); err != nil {
		t.Fatal(err)
	}
	if len(o.sums.plain) > 0 {
		t.Error("rows of a thousandth as many entries as columns were summed plainly")
	}
	want, residual := make([]float64, 2*d), make([]float64, 2)
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !scattered(b.Sparse) {
			t.Fatalf("%d entries in %d rows of %d columns are not scattered", b.Sparse.NNZ(), b.N, d)
		}
		rhs, r := make([]float64, 2*b.N), engine.View(b.N, 2, make([]float64, 2*b.N))
		for i, y := range b.Y {
			rhs[2*i] = y
		}
		b.Sparse.Gradient(engine.View(2, d, v), engine.View(b.N, 2, rhs), engine.View(2, d, want), r)
		for i := range b.N {
			for q, x := range r.Row(i) {
				residual[q] += x * x
			}
		}
	}
	for j := range out {
		if diff := out[j] - want[j]; diff > 1e-12 || diff < -1e-12 {
			t.Fatalf("number %d is %v, plain sums make it %v", j, out[j], want[j])
		}
	}
	for q := range rss {
		if diff := rss[q]/residual[q] - 1; diff > 1e-12 || diff < -1e-12 {
			t.Errorf("‖r‖² is %v, plain sums make it %v", rss[q], residual[q])
		}
	}
}
