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

// streams are sketches of m rows, made from n rows of d features.
var streams = []struct{ n, d, m int }{{20000, 1024, 256}, {20000, 1024, 64}, {10000, 4096, 128}, {5000, 16384, 64}}

// BenchmarkSketch appends n rows to a new sketch, in blocks as a source yields them, and reads the sketch. It counts
// the flops of the products, (2mp + p² + 2m(m+p))·d for p rows, with p = m.
func BenchmarkSketch(b *testing.B) {
	for _, c := range streams {
		b.Run(fmt.Sprintf("n=%d,d=%d,m=%d", c.n, c.d, c.m), func(b *testing.B) {
			manyRows(b, c.n, c.d)
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
				b.ReportMetric(float64(c.n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				flopRate(b, 7*float64(c.n)*float64(c.m)*float64(c.d))
			})
		})
	}
}

// BenchmarkLossless measures a sketch that keeps as many rows as there are features.
func BenchmarkLossless(b *testing.B) {
	for _, d := range []int{8, 64, 256} {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			b.Run(fmt.Sprintf("d=%d,%s", d, driver), func(b *testing.B) {
				const n = 20000
				a := Rows(n, d)
				onEachBackend(b, func(b *testing.B, be engine.Backend) {
					for b.Loop() {
						s, err := fd.New(fd.Config{Dim: d, Size: d, Shrink: driver, Store: fd.StoreRows, Backend: be})
						if err != nil {
							b.Fatal(err)
						}
						if err := s.AppendRows(n, a, d); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			})
		}
	}
}

// BenchmarkShrink measures one shrink, with the copying of the rows that fill the sketch again.
func BenchmarkShrink(b *testing.B) {
	for _, c := range []struct{ d, m int }{{1024, 256}, {1024, 64}, {4096, 128}, {16384, 64}} {
		b.Run(fmt.Sprintf("d=%d,m=%d", c.d, c.m), func(b *testing.B) {
			a := Rows(4*c.m, c.d)
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				s, err := fd.New(fd.Config{Dim: c.d, Size: c.m, ShrinkRows: c.m, Backend: be})
				if err != nil {
					b.Fatal(err)
				}
				add := func(i int) {
					if err := s.AppendRows(c.m, a[i%4*c.m*c.d:], c.d); err != nil {
						b.Fatal(err)
					}
				}
				add(0)
				add(1)
				for i := 2; b.Loop(); i++ {
					add(i)
				}
				flopRate(b, 7*float64(c.m)*float64(c.m)*float64(c.d))
			})
		})
	}
}

// BenchmarkSummarize measures a summary of rows in memory, with and without an intercept. With an intercept, rows are
// centred.
func BenchmarkSummarize(b *testing.B) {
	for _, c := range []struct{ n, d, m int }{{20000, 1024, 64}, {20000, 64, 16}} {
		a, y := Rows(c.n, c.d), Numbers(c.n)
		src, err := dataset.FromDense(c.n, c.d, 1, a, y)
		if err != nil {
			b.Fatal(err)
		}
		for _, intercept := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d,d=%d,m=%d,intercept=%v", c.n, c.d, c.m, intercept), func(b *testing.B) {
				onEachBackend(b, func(b *testing.B, be engine.Backend) {
					for b.Loop() {
						_, err := ridge.Summarize(
							context.Background(),
							src,
							ridge.SummaryConfig{Size: c.m, Intercept: intercept, Backend: be},
							nil,
						)
						if err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(c.n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			})
		}
	}
}

// BenchmarkPass measures a pass of CG over rows in memory, for one and for three γ.
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
					_, err := ridge.SolvePath(
						context.Background(),
						src,
						sum,
						gammas,
						ridge.SolveOptions{Tol: 1e-15, MaxPasses: passes},
					)
					if _, ok := err.(*ridge.NotConvergedError); !ok {
						b.Fatal(err)
					}
				}
				readRate(b, passes*8*n*d)
				flopRate(b, passes*4*n*d*float64(len(gammas)))
			})
		})
	}
}

// BenchmarkSolve measures a sketch of 128 rows followed by CG to 10⁻⁸, and the exact solution of the same problem.
func BenchmarkSolve(b *testing.B) {
	const n, d = 20000, 1024
	a := Rows(n, d)
	y := make([]float64, n)
	for i := range y {
		y[i] = a[i*d] - a[i*d+1]
	}
	src, err := dataset.FromDense(n, d, 1, a, y)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	gammas := []float64{10, 100, 1000}
	b.Run("cg", func(b *testing.B) {
		onEachBackend(b, func(b *testing.B, be engine.Backend) {
			for b.Loop() {
				sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 128, Backend: be}, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := ridge.SolvePath(ctx, src, sum, gammas, ridge.SolveOptions{Tol: 1e-8}); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("exact", func(b *testing.B) {
		onEachBackend(b, func(b *testing.B, be engine.Backend) {
			for b.Loop() {
				if _, err := ridge.SolveExact(ctx, src, gammas, ridge.ExactOptions{Backend: be}); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// BenchmarkLanes summarises n rows in memory, in one lane and in two. The flag -cpu sets the number of cores. It
// reports the bound η relative to ‖A‖²_F.
func BenchmarkLanes(b *testing.B) {
	for _, c := range streams {
		for _, lanes := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d,d=%d,m=%d,lanes=%d", c.n, c.d, c.m, lanes), func(b *testing.B) {
				manyRows(b, c.n, c.d)
				src, err := dataset.FromDense(c.n, c.d, 1, Slow(c.n, c.d), Slow(c.n, 1))
				if err != nil {
					b.Fatal(err)
				}
				onEachBackend(b, func(b *testing.B, be engine.Backend) {
					var lost float64
					for b.Loop() {
						s, err := ridge.Summarize(
							context.Background(),
							src,
							ridge.SummaryConfig{Size: c.m, Lanes: lanes, Backend: be},
							nil,
						)
						if err != nil {
							b.Fatal(err)
						}
						spectrum, err := s.Sketch().Spectrum()
						if err != nil {
							b.Fatal(err)
						}
						lost = spectrum.Bound.FD() / spectrum.Bound.Frobenius2
					}
					b.ReportMetric(float64(c.n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
					b.ReportMetric(lost, "eta/trace")
				})
			})
		}
	}
}
