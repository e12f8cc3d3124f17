package gram

import (
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/sparsework"
)

// TestPassSparseWork: a pass over sparse rows takes the time of their entries, centred or not,
// weighted or not, measured with twice the digits or not.
func TestPassSparseWork(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, centred := range []bool{false, true} {
		for _, precise := range []bool{false, true} {
			t.Run(fmt.Sprintf("centred and weighted %v, precise %v", centred, precise), func(t *testing.T) {
				sparsework.Hold(t, func(t *testing.T, src dataset.Source) func() int {
					n, d, _ := src.Dims()
					r := Rows{Source: src, Count: n, Weight: float64(n)}
					if centred {
						r.Mean = make([]float64, d+1)
						r.Source, r.Weight = weigh(t, src, 0.5), float64(n)/2
					}
					o, err := New(r, be, nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					v, out, rss := make([]float64, d), make([]float64, d), make([]float64, 1)
					for j := range v {
						v[j] = 1
					}
					return func() int {
						if _, err := o.Apply(t.Context(), []Query{{Affine: true, Precise: precise, Gamma: 1}}, v, out, rss, nil); err != nil {
							t.Fatal(err)
						}
						return 1
					}
				})
			})
		}
	}
}

// weigh gives every row a weight.
func weigh(t *testing.T, src dataset.Source, weight float64) dataset.Source {
	t.Helper()
	n, _, _ := src.Dims()
	w := make([]float64, n)
	for i := range w {
		w[i] = weight
	}
	weights, err := dataset.FromDense(int(n), 1, 0, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	weighted, err := dataset.Weigh(src, weights)
	if err != nil {
		t.Fatal(err)
	}
	return weighted
}

// TestScattered: products that go to compensated sums at once are those that go there by way of
// plain sums, to round-off.
func TestScattered(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	src := sparsework.New(1500)
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
