package engine

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// A Report is what `fdridge doctor` shows: the machine, what the dispatcher made
// of it and the backend in use.
type Report struct {
	CPU          string            `json:"cpu"`
	Cores        int               `json:"cores"`
	Platform     string            `json:"platform"`
	Go           string            `json:"go"`
	GoMaxProcs   int               `json:"gomaxprocs"`
	Backend      string            `json:"backend"`
	Backends     []string          `json:"backends"`
	Capabilities map[string]string `json:"capabilities"`
	Tuning       Tuning            `json:"tuning"`
}

// NewReport describes the default backend.
func NewReport() (*Report, error) {
	t, err := DefaultTuning()
	if err != nil {
		return nil, err
	}
	be, err := Default()
	if err != nil {
		return nil, err
	}
	return &Report{
		CPU: cmp.Or(cpuid.CPU.BrandName, "unknown CPU"), Cores: runtime.NumCPU(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), GoMaxProcs: runtime.GOMAXPROCS(0),
		Backend: be.Name(), Backends: Names(), Capabilities: be.Capabilities(), Tuning: t,
	}, nil
}

// A Measurement is what the machine reaches, on all threads.
type Measurement struct {
	Gemm      float64 `json:"gemm_gflops"`               // matrix product of order 512
	Bandwidth float64 `json:"read_gigabytes_per_second"` // from memory
}

// Measure runs a matrix product and a read of memory for half of d each.
func Measure(ctx context.Context, be Backend, d time.Duration) (Measurement, error) {
	var m Measurement
	const n = 512
	a, b, c := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := range a {
		a[i], b[i] = float64(i%7), float64(i%5)
	}
	seconds, runs, err := repeat(ctx, d/2, func() { be.Gemm(false, false, n, n, n, 1, a, n, b, n, 0, c, n) })
	if err != nil {
		return m, err
	}
	m.Gemm = 2 * n * n * n * float64(runs) / seconds / 1e9

	x := make([]float64, 1<<25) // 256 MiB
	for i := range x {
		x[i] = 1
	}
	seconds, runs, err = repeat(ctx, d/2, func() { readAll(x) })
	m.Bandwidth = 8 * float64(len(x)) * float64(runs) / seconds / 1e9
	return m, err
}

// repeat runs f until d has passed, and at least twice; the first run warms up.
func repeat(ctx context.Context, d time.Duration, f func()) (seconds float64, runs int, err error) {
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

// sink keeps the sums of readAll alive.
var sink atomic.Uint64

// readAll sums x, a share on each thread.
func readAll(x []float64) {
	k := runtime.GOMAXPROCS(0)
	sums := make([]float64, k)
	var wg sync.WaitGroup
	for i := range k {
		wg.Go(func() {
			part := x[len(x)/k*i : len(x)/k*(i+1)]
			var s [8]float64
			for ; len(part) >= 8; part = part[8:] {
				for j, v := range part[:8:8] {
					s[j] += v
				}
			}
			sums[i] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7]
		})
	}
	wg.Wait()
	for _, s := range sums {
		sink.Add(math.Float64bits(s))
	}
}
