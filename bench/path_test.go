package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// BenchmarkPath sketches n rows, evaluates 50 γ over [10⁻³, 10³]·‖A‖²_F/d with certificates, and refines
// all of them to 10⁻⁸. It reports the time of each of these three steps.
func BenchmarkPath(b *testing.B) {
	for _, c := range []struct {
		name    string
		rows    func(n, d int) []float64
		n, d, m int
	}{
		{"gaussian", Rows, 20000, 1024, 256},
		{"slow", Slow, 20000, 1024, 256},
		{"gaussian", Rows, 10000, 4096, 256},
		{"slow", Slow, 10000, 4096, 128},
		{"gaussian", Rows, 5000, 16384, 2048},
		{"slow", Slow, 5000, 16384, 256},
	} {
		b.Run(fmt.Sprintf("%s/n=%d,d=%d,m=%d", c.name, c.n, c.d, c.m), func(b *testing.B) {
			manyRows(b, c.n, c.d)
			a := c.rows(c.n, c.d)
			src, err := dataset.FromDense(c.n, c.d, 1, a, Targets(c.n, c.d, a))
			if err != nil {
				b.Fatal(err)
			}
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				ctx := context.Background()
				var times [3]time.Duration
				var passes int
				for b.Loop() {
					start := time.Now()
					sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: c.m, Backend: be}, nil)
					if err != nil {
						b.Fatal(err)
					}
					gammas := choose.Grid(sum, 50)
					times[0] += time.Since(start)
					start = time.Now()
					_, err = sum.Path(gammas)
					if err != nil {
						b.Fatal(err)
					}
					times[1] += time.Since(start)
					start = time.Now()
					fits, err := ridge.SolvePath(ctx, src, sum, gammas, ridge.SolveOptions{Method: ridge.Galerkin})
					if err != nil {
						b.Fatal(err)
					}
					times[2] += time.Since(start)
					passes = 0
					for _, f := range fits {
						passes = max(passes, f.Passes)
					}
				}
				for i, name := range []string{"sketch", "path", "refine"} {
					b.ReportMetric(times[i].Seconds()/float64(b.N), name+"-s/op")
				}
				b.ReportMetric(float64(passes), "passes")
			})
		})
	}
}

// BenchmarkManyGammas solves for 50 γ by one reduction of K = AᵀA to tridiagonal form, and
// certifies all of them to 10⁻⁸.
func BenchmarkManyGammas(b *testing.B) {
	for _, c := range []struct {
		name string
		rows func(n, d int) []float64
		n, d int
	}{
		{"gaussian", Rows, 20000, 1024},
		{"slow", Slow, 20000, 1024},
		{"gaussian", Rows, 10000, 4096},
	} {
		b.Run(fmt.Sprintf("%s/n=%d,d=%d", c.name, c.n, c.d), func(b *testing.B) {
			if c.d > 1024 {
				large(b)
			}
			a := c.rows(c.n, c.d)
			src, err := dataset.FromDense(c.n, c.d, 1, a, Targets(c.n, c.d, a))
			if err != nil {
				b.Fatal(err)
			}
			sum, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{Size: 1}, nil)
			if err != nil {
				b.Fatal(err)
			}
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				var fits []*ridge.Solution
				for b.Loop() {
					fits, err = ridge.SolveExact(
						context.Background(),
						src,
						choose.Grid(sum, 50),
						ridge.ExactOptions{Method: ridge.Tridiagonal, Tol: 1e-8, Backend: be},
					)
					if err != nil {
						b.Fatal(err)
					}
				}
				passes := 0
				for _, f := range fits {
					passes = max(passes, f.Passes)
					if err := f.Status.Err(); err != nil || f.Method != ridge.Tridiagonal {
						b.Fatalf("%s at γ = %g: %v", f.Method, f.Gamma, err)
					}
				}
				b.ReportMetric(50*float64(b.N)/b.Elapsed().Seconds(), "γ/s")
				b.ReportMetric(float64(passes), "passes")
			})
		})
	}
}
