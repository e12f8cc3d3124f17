package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// BenchmarkSweep compares a summary with the sketch alone, on one thread. The rows are in memory, or in an .npy file
// whose last column is the target. Summaries have an intercept or none. All rivals take turns. Times are processor
// times, so that other programs disturb little. It reports the median rate of the sketch in rows per second. For each
// other rival it reports the median of the ratio to the sketch of the same turn.
func BenchmarkSweep(b *testing.B) {
	for _, c := range []struct{ n, d, m int }{{20000, 1024, 256}, {20000, 1024, 64}, {10000, 4096, 128}, {5000, 16384, 64}} {
		b.Run(fmt.Sprintf("n=%d,d=%d,m=%d", c.n, c.d, c.m), func(b *testing.B) {
			manyRows(b, c.n, c.d)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			a, y := Rows(c.n, c.d), Numbers(c.n)
			memory, err := dataset.FromDense(c.n, c.d, 1, a, y)
			if err != nil {
				b.Fatal(err)
			}
			onFile, err := fileOf(b, c.n, c.d, a, y)
			if err != nil {
				b.Fatal(err)
			}
			onEachBackend(b, func(b *testing.B, be engine.Backend) {
				summarize := func(src dataset.Source, intercept bool) func() error {
					return func() error {
						s, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{
							Size: c.m, Intercept: intercept, Backend: be, Store: fd.StoreRows}, nil)
						if err == nil {
							_, err = s.Sketch().Spectrum()
						}
						return err
					}
				}
				rivals := []struct {
					name string
					run  func() error
				}{
					{"sketch", func() error { return sketchOf(be, c.n, c.d, c.m, a) }},
					{"memory", summarize(memory, false)},
					{"memory,intercept", summarize(memory, true)},
					{"file", summarize(onFile, false)},
					{"file,intercept", summarize(onFile, true)},
				}
				rates := make([][]float64, len(rivals))
				for b.Loop() {
					for i, r := range rivals {
						begin := ProcessorTime()
						if err := r.run(); err != nil {
							b.Fatal(err)
						}
						rates[i] = append(rates[i], float64(c.n)/(ProcessorTime()-begin).Seconds())
					}
				}
				for i, r := range rivals[1:] {
					ratios := slices.Clone(rates[i+1])
					for k := range ratios {
						ratios[k] /= rates[0][k]
					}
					b.ReportMetric(median(ratios), r.name+"/sketch")
				}
				b.ReportMetric(median(rates[0]), "rows/s")
			})
		})
	}
}

// sketchOf makes a sketch of n rows, in blocks as a source yields them, and reads the sketch.
func sketchOf(be engine.Backend, n, d, m int, a []float64) error {
	s, err := fd.New(fd.Config{Dim: d, Size: m, Backend: be, Store: fd.StoreRows})
	if err != nil {
		return err
	}
	block := engine.Tuning{}.GradientRows(d)
	for i := 0; i < n; i += block {
		if err := s.AppendRows(min(block, n-i), a[i*d:], d); err != nil {
			return err
		}
	}
	_, err = s.Spectrum()
	return err
}

// fileOf writes rows and targets to an .npy file and opens it.
func fileOf(b *testing.B, n, d int, a, y []float64) (dataset.Source, error) {
	path := filepath.Join(b.TempDir(), "rows.npy")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	whole := make([]float64, 0, n*(d+1))
	for i := range n {
		whole = append(append(whole, a[i*d:(i+1)*d]...), y[i])
	}
	err = npy.Write(f, n, d+1, whole)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	src, err := file.Open([]string{path}, file.Options{Target: []string{"last"}, Targets: 1})
	if err != nil {
		return nil, err
	}
	return src, nil
}

// median returns the median of some numbers, which it sorts.
func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
