package engine

import (
	"context"
	"time"
)

// A Measurement holds speeds of the machine that [Measure] measured, using all threads.
type Measurement struct {
	Peak      float64 `json:"peak_gflops"`                // purego's micro-kernel alone, on data in the first-level cache
	Gemm      float64 `json:"gemm_gflops"`                // a matrix product of order 512 by the backend
	Bandwidth float64 `json:"read_gigabytes_per_second"`  // reading memory
	Fresh     float64 `json:"fresh_gigabytes_per_second"` // the first write to new memory
}

// measureRounds is the number of times that Measure measures the micro-kernel and the matrix product, in turn.
const measureRounds = 8

// Measure measures the speed of the micro-kernel, of a matrix product, and of reading 256 MiB of memory. The
// micro-kernel is the innermost loop of a matrix product. Each measurement takes a third of the time d. Measure
// also times the first write to these 256 MiB.
//
// The micro-kernel and the product are measured in turn, eight times each, and the best rate counts. So other work
// on the machine slows down both alike.
func Measure(ctx context.Context, be Backend, d time.Duration) (Measurement, error) {
	t, err := DefaultTuning()
	if err != nil {
		return Measurement{}, err
	}
	pure, err := newPureGo(t)
	if err != nil {
		return Measurement{}, err
	}
	var m Measurement
	const n = 512
	a := make([]float64, n*n)
	b := make([]float64, n*n)
	c := make([]float64, n*n)
	for i := range a {
		a[i] = float64(i % 7)
		b[i] = float64(i % 5)
	}
	product := func() {
		left, right := View(n, n, a), View(n, n, b)
		be.Gemm(false, false, 1, left, right, 0, View(n, n, c))
	}
	for range measureRounds {
		m.Peak = max(m.Peak, pure.Peak(ctx, d/3/measureRounds)/1e9)
		seconds, runs, err := repeat(ctx, d/3/measureRounds, product)
		if err != nil {
			return m, err
		}
		m.Gemm = max(m.Gemm, 2*n*n*n*float64(runs)/seconds/1e9)
	}

	// Reading the matrix takes nearly all the time of a matrix-vector product.
	const rows, cols = 1 << 15, 1 << 10 // 256 MiB
	const bytes = 8 * rows * cols
	b = make([]float64, cols)
	c = make([]float64, rows)
	start := time.Now()
	a = make([]float64, rows*cols)
	for i := range a {
		a[i] = 1 // the system provides memory at the first write
	}
	m.Fresh = bytes / time.Since(start).Seconds() / 1e9
	seconds, runs, err := repeat(ctx, d/3, func() {
		pure.Gemv(false, 1, View(rows, cols, a), b, 0, c)
	})
	m.Bandwidth = bytes * float64(runs) / seconds / 1e9
	return m, err
}

// repeat calls f once without timing it. Then it calls f at least once and until d has passed, and returns the time
// and the number of these calls.
func repeat(
	ctx context.Context,
	d time.Duration,
	f func(),
) (seconds float64, runs int, err error) {
	f()
	start := time.Now()
	for runs == 0 || time.Since(start) < d {
		if err := ctx.Err(); err != nil {
			return 1, 0, err
		}
		f()
		runs++
	}
	return time.Since(start).Seconds(), runs, nil
}
