package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// BenchmarkScatter measures sketches of few features: a sketch that stores AᵀA and a sketch that stores rows.
func BenchmarkScatter(b *testing.B) {
	for _, c := range []struct{ n, d, m int }{{52397, 280, 256}, {20000, 90, 256}, {20000, 576, 256}, {20000, 8, 256}} {
		a := Rows(c.n, c.d)
		for name, store := range map[string]fd.Storage{"scatter": fd.StoreScatter, "rows": fd.StoreRows} {
			b.Run(fmt.Sprintf("n=%d,d=%d,m=%d,%s", c.n, c.d, c.m, name), func(b *testing.B) {
				onEachBackend(b, func(b *testing.B, be engine.Backend) {
					for b.Loop() {
						s, err := fd.New(fd.Config{Dim: c.d, Size: c.m, Store: store, Backend: be})
						if err != nil {
							b.Fatal(err)
						}
						if err := s.AppendRows(c.n, a, c.d); err != nil {
							b.Fatal(err)
						}
						if _, err := s.Spectrum(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(c.n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			})
		}
	}
}

// BenchmarkFewFeatures measures Fit with few features and the default sketch size: with γ given, with γ chosen, and
// by the direct solution.
func BenchmarkFewFeatures(b *testing.B) {
	const n, d = 52397, 280
	src, err := dataset.FromDense(n, d, 1, Rows(n, d), Numbers(n))
	if err != nil {
		b.Fatal(err)
	}
	gammas := []float64{100}
	for _, c := range []struct {
		name string
		opts fdridge.Options
	}{
		{"exact", fdridge.Options{NoIntercept: true, Method: ridge.Exact, Gammas: gammas}},
		{"one-shot", fdridge.Options{NoIntercept: true, Method: ridge.OneShot, Gammas: gammas}},
		{"galerkin", fdridge.Options{NoIntercept: true, Method: ridge.Galerkin, Gammas: gammas}},
		{"gamma auto", fdridge.Options{NoIntercept: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				for b.Loop() {
					c.opts.NoIntercept, c.opts.Backend = false, be
					if _, err := fdridge.Fit(context.Background(), src, c.opts); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		})
	}
}
