package purego

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Peak measures how many floating-point operations per second the micro-kernel makes on data in the first-level
// cache. The micro-kernel is the innermost loop of a matrix product, so this is an upper bound on the speed of a
// product. Peak runs on GOMAXPROCS threads, each with its own data, for about the time d or until ctx ends.
func (b *Backend) Peak(ctx context.Context, d time.Duration) float64 {
	flops := make([]float64, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range flops {
		wg.Go(func() {
			flops[i] = b.peak(ctx, d)
		})
	}
	wg.Wait()
	var sum float64
	for _, f := range flops {
		sum += f
	}
	return sum
}

// peak measures how many floating-point operations per second the micro-kernel makes on one thread. It runs for
// about the time d or until ctx ends.
func (b *Backend) peak(ctx context.Context, d time.Duration) float64 {
	const k, repeats = 128, 1000
	mr := b.kernel.MR()
	nr := b.kernel.NR()
	x := make([]float64, k*mr)
	y := make([]float64, k*nr)
	c := make([]float64, mr*nr)
	tile := b.kernel.Tile[len(b.kernel.Tile)-1]
	runs := 0
	start := time.Now()
	for ; ctx.Err() == nil && (runs == 0 || time.Since(start) < d); runs++ {
		for range repeats {
			tile(k, 1, &x[0], &y[0], &c[0], nr, true)
		}
	}
	return 2 * float64(mr*nr*k*repeats*runs) / time.Since(start).Seconds()
}
