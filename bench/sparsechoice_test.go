package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// BenchmarkSparseChoice chooses γ by leave-one-out errors for 7,770 texts of 8,315 words. The words have the
// frequencies of natural language. One of 8 topics makes some words likelier, and it decides the target.
func BenchmarkSparseChoice(b *testing.B) {
	const n, d = 7770, 8315
	rng := rand.New(rand.NewPCG(44, 1))
	x, y := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}, make([]float64, n)
	for i := range n {
		topic := rng.IntN(8)
		if topic == 0 {
			y[i] = 1
		}
		size := 0.0
		for j := rng.IntN(4); j < d; j += 1 + int(rng.ExpFloat64()*float64(j+20)/8) {
			v := math.Log(float64(j + 2)) // rare words weigh more
			if j%8 == topic {
				v *= 3
			}
			x.ColIdx, x.Val = append(x.ColIdx, int32(j)), append(x.Val, v)
			size += v * v
		}
		for k := x.RowPtr[i]; k < len(x.Val); k++ {
			x.Val[k] /= math.Sqrt(size)
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	src, err := dataset.FromCSR(x, 1, y)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := fdridge.Fit(b.Context(), src, fdridge.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(r.Choice.Score.Hi/r.Choice.Score.Lo-1, "width")
	}
}
