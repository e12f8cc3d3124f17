package sparsework

import (
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// TestGramSparseWork: a pass over sparse rows takes the time of their entries, centred or not,
// weighted or not, measured with twice the digits or not.
func TestGramSparseWork(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, centred := range []bool{false, true} {
		for _, precise := range []bool{false, true} {
			t.Run(fmt.Sprintf("centred and weighted %v, precise %v", centred, precise), func(t *testing.T) {
				Hold(t, func(t *testing.T, src dataset.Source) func() int {
					n, d, _ := src.Dims()
					r := gram.Rows{Source: src, Count: n, Weight: float64(n)}
					if centred {
						r.Mean = make([]float64, d+1)
						r.Source, r.Weight = weigh(t, src, 0.5), float64(n)/2
					}
					o, err := gram.New(r, be, nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					v, out, rss := make([]float64, d), make([]float64, d), make([]float64, 1)
					for j := range v {
						v[j] = 1
					}
					return func() int {
						_, err := o.Apply(
							t.Context(),
							[]gram.Query{{Affine: true, Precise: precise, Gamma: 1}},
							v,
							out,
							rss,
							nil,
						)
						if err != nil {
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
