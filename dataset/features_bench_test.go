package dataset_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
)

// BenchmarkFeatures reads 4,096 rows in memory through a feature map: of 300 columns with 12
// entries a row, as in w8a, and of dense rows.
func BenchmarkFeatures(b *testing.B) {
	const n = 4096
	rng := rand.New(rand.NewPCG(1, 2))
	dense := func(d int) dataset.Source {
		x := make([]float64, n*d)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		s, err := dataset.FromDense(n, d, 0, x, nil)
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	sparse := func(d, entries int) dataset.Source {
		c := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
		for range n {
			for k := range entries {
				c.ColIdx = append(c.ColIdx, int32(k*d/entries+rng.IntN(d/entries)))
				c.Val = append(c.Val, 1)
			}
			c.RowPtr = append(c.RowPtr, len(c.Val))
		}
		s, err := dataset.FromCSR(c, 0, nil)
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name     string
		src      dataset.Source
		features dataset.Features
	}{
		{"rff 1024 of sparse 300", sparse(300, 12), dataset.Fourier{Components: 1024, Gamma: 0.05}},
		{"rff 1024 of dense 90", dense(90), dataset.Fourier{Components: 1024, Gamma: 0.05}},
		{"rff 1024 of dense 1000", dense(1000), dataset.Fourier{Components: 1024, Gamma: 0.05}},
		{"poly 4 of dense 8", dense(8), dataset.Polynomial{Degree: 4}},
		{"poly 2 of dense 90", dense(90), dataset.Polynomial{Degree: 2}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := c.features.Apply(c.src, nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for _, err := range s.Blocks(context.Background()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			_, d, _ := s.Dims()
			rows := n * float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rows, "rows/s")
			b.ReportMetric(rows*float64(8*d)/1e9, "GB/s")
		})
	}
}
