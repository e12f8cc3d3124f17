package fdridge_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
)

// TestRefitPenalty compares cross-validation with penalties with cross-validation of divided columns without
// penalties. The roots of the penalties are powers of two, so that division is exact.
func TestRefitPenalty(t *testing.T) {
	const n, d = 60, 4
	penalty := []float64{16, 0.0625, 4, 0}
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = x[i*d] - 2*x[i*d+1] + x[i*d+3] + rng.NormFloat64()
	}
	divided := make([]float64, n*d)
	for i := range divided {
		divided[i] = x[i]
		if p := penalty[i%d]; p > 0 {
			divided[i] /= math.Sqrt(p)
		}
	}
	score := func(x []float64, opts fdridge.Options) float64 {
		src, err := dataset.FromDense(n, d, 1, x, y)
		if err != nil {
			t.Fatal(err)
		}
		opts.Folds, opts.Candidates = 3, []float64{0.1, 1, 10, 100}
		r, err := fdridge.Fit(context.Background(), src, opts)
		if err != nil {
			t.Fatal(err)
		}
		return r.Choice.Estimate
	}
	got := score(x, fdridge.Options{Penalty: penalty})
	want := score(divided, fdridge.Options{Unpenalized: []int{3}})
	if !(math.Abs(got-want) <= 1e-6*want) {
		t.Errorf("the cross-validated error is %v with penalties, and %v of divided columns", got, want)
	}
}
