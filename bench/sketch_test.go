package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// onEachBackend runs a benchmark on each backend of the build.
func onEachBackend(b *testing.B, f func(b *testing.B, be engine.Backend)) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range engine.Names() {
		be, err := engine.New(name, tuning)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) { f(b, be) })
	}
}

// BenchmarkSketch appends n rows to a new sketch, in blocks as a source yields
// them, and reads it. The flops counted
// are those of the products, (2mp + p² + 2m(m+p))·d for p rows, p = m.
func BenchmarkSketch(b *testing.B) {
	for _, c := range []struct{ n, d, m int }{{20000, 1024, 256}, {20000, 1024, 64}, {10000, 4096, 128}, {5000, 16384, 64}} {
		b.Run(fmt.Sprintf("n=%d,d=%d,m=%d", c.n, c.d, c.m), func(b *testing.B) {
			a := Rows(c.n, c.d)
			tuning, err := engine.DefaultTuning()
			if err != nil {
				b.Fatal(err)
			}
			block := tuning.GradientRows(c.d)
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				for b.Loop() {
					s, err := fd.New(fd.Config{Dim: c.d, Size: c.m, Backend: be})
					if err != nil {
						b.Fatal(err)
					}
					for i := 0; i < c.n; i += block {
						if err := s.AppendRows(min(block, c.n-i), a[i*c.d:], c.d); err != nil {
							b.Fatal(err)
						}
					}
					if _, err := s.Spectrum(); err != nil {
						b.Fatal(err)
					}
				}
				seconds := b.Elapsed().Seconds() / float64(b.N)
				b.ReportMetric(float64(c.n)/seconds, "rows/s")
				b.ReportMetric(7*float64(c.n)*float64(c.m)*float64(c.d)/seconds/1e9, "GFLOP/s")
			})
		})
	}
}

// BenchmarkPass is one refining pass of CG over rows in memory, for one and for
// three systems.
func BenchmarkPass(b *testing.B) {
	const n, d = 20000, 1024
	a := Rows(n, d)
	y := make([]float64, n)
	for i := range y {
		y[i] = a[i*d]
	}
	src, err := dataset.FromDense(n, d, 1, a, y)
	if err != nil {
		b.Fatal(err)
	}
	for _, gammas := range [][]float64{{1e-9}, {1e-9, 2e-9, 3e-9}} {
		b.Run(fmt.Sprintf("n=%d,d=%d,systems=%d", n, d, len(gammas)), func(b *testing.B) {
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				sum, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{Size: 8, Backend: be}, nil)
				if err != nil {
					b.Fatal(err)
				}
				const passes = 4
				for b.Loop() {
					_, err := ridge.SolvePath(context.Background(), src, sum, gammas, ridge.SolveOptions{Tol: 1e-15, MaxPasses: passes})
					if _, ok := err.(*ridge.NotConvergedError); !ok {
						b.Fatal(err)
					}
				}
				seconds := b.Elapsed().Seconds() / float64(b.N) / passes
				b.ReportMetric(8*n*d/seconds/1e9, "GB/s")
				b.ReportMetric(4*n*d*float64(len(gammas))/seconds/1e9, "GFLOP/s")
			})
		})
	}
}
