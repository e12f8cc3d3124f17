package dataset_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// TestParallelTransforms transforms random rows on one core and on several. Scalings, features and errors must be
// equal, bit for bit.
func TestParallelTransforms(t *testing.T) {
	transformed := func(x []float64, n, d, cores int) (out []uint64, err error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		src, err := dataset.FromDense(n, d, 0, x, nil)
		if err != nil {
			return nil, err
		}
		scaled, scaling, err := dataset.Standardize(t.Context(), src)
		if err != nil {
			return nil, err
		}
		squares, err := dataset.Polynomial{Degree: 2}.Apply(src, nil)
		if err != nil {
			return nil, err
		}
		numbers := [][]float64{scaling.Mean, scaling.Scale}
		for _, s := range []dataset.Source{scaled, squares} {
			for b, err := range s.Blocks(t.Context()) {
				if err != nil {
					return out, err
				}
				numbers = append(numbers, slices.Clone(b.X))
			}
		}
		for _, v := range slices.Concat(numbers...) {
			out = append(out, math.Float64bits(v))
		}
		return out, nil
	}
	failed := 0
	const tables = 20
	for seed := range tables {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		d := 1 + rng.IntN(60)
		n := 1 + rng.IntN(20000/d)
		x := make([]float64, n*d)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for range max(0, rng.IntN(4)-1) { // the square is infinite, but the variance is not
			x[rng.IntN(n*d)] = 1.4e154
		}
		want, wantErr := transformed(x, n, d, 1)
		got, err := transformed(x, n, d, 2+rng.IntN(7))
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got, want) {
			t.Errorf(
				"table %d: error %v, on one core %v; equal numbers: %v",
				seed,
				err,
				wantErr,
				slices.Equal(got, want),
			)
		}
		if wantErr != nil {
			failed++
		}
	}
	if failed == 0 || failed == tables {
		t.Errorf("%d of %d tables had errors", failed, tables)
	}
}
