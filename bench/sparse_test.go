package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
)

// BenchmarkSparse fits many more columns than rows, with 200 nonzeros in a row and m = 100, to 10⁻⁸ at γ =
// ‖A‖²_F/(100n).
func BenchmarkSparse(b *testing.B) {
	for _, c := range []struct{ n, d int }{{4000, 55000}, {800, 88000}} {
		src, err := sparse(c.n, c.d, 200)
		if err != nil {
			b.Fatal(err)
		}
		for _, intercept := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d,d=%d,intercept=%v", c.n, c.d, intercept), func(b *testing.B) {
				onEachBackend(b, func(b *testing.B, be engine.Backend) {
					ctx, passes := context.Background(), 0
					for b.Loop() {
						sum, err := ridge.Summarize(
							ctx,
							src,
							ridge.SummaryConfig{Size: 100, Intercept: intercept, Backend: be},
							nil,
						)
						if err != nil {
							b.Fatal(err)
						}
						gamma := 1e-2 * sum.Sketch().Bound().Frobenius2 / float64(c.n)
						f, err := ridge.Solve(ctx, src, sum, gamma, ridge.SolveOptions{})
						if err != nil {
							b.Fatal(err)
						}
						passes = f.Passes
					}
					b.ReportMetric(float64(passes), "passes")
				})
			})
		}
	}
}

// sparse returns rows of about k nonzeros with targets of a random model. Early columns have more nonzeros.
func sparse(n, d, k int) (dataset.Source, error) {
	rng := rand.New(rand.NewPCG(4, 4))
	x0 := Numbers(d)
	x, y := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}, make([]float64, n)
	columns := make([]int32, k)
	for i := range n {
		for c := range columns {
			u := rng.Float64()
			columns[c] = int32(u * u * float64(d))
		}
		slices.Sort(columns)
		for _, j := range slices.Compact(slices.Clone(columns)) {
			v := rng.NormFloat64() + 0.5
			x.ColIdx, x.Val = append(x.ColIdx, j), append(x.Val, v)
			y[i] += v * x0[j]
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	return dataset.FromCSR(x, 1, y)
}
