package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/purego"
)

// BenchmarkBlocks tries block sizes of the packed product, for every kernel of the machine. In each round all sizes
// take turns. It reports the best rate, and the time of the best size divided by the time of the dispatcher's choice.
// The aim is at least 0.95.
func BenchmarkBlocks(b *testing.B) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range purego.Kernels() {
		err := tuning.Override(func(name string) (string, bool) { return k.Name, name == "FDRIDGE_KERNEL" })
		if err != nil {
			b.Fatal(err)
		}
		model := purego.Config{Kernel: k.Name, MC: tuning.MC.Value, KC: tuning.KC.Value, NC: tuning.NC.Value}
		configs := []purego.Config{model}
		for _, kc := range []int{128, 192, 256, 384, 512} {
			for _, mc := range []int{96, 192, 384, 768} {
				for _, nc := range []int{1024, 4096} {
					configs = append(configs, purego.Config{Kernel: k.Name, MC: mc, KC: kc, NC: nc})
				}
			}
		}
		for _, n := range []int{512, 2048} {
			if n > 512 && k.Name == "generic" {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", k.Name, n), func(b *testing.B) {
				if n > 512 || k.Name == "generic" {
					large(b)
				}
				sweep(b, n, configs)
			})
		}
	}
}

// sweep times products of order n. The first configuration is the dispatcher's choice.
func sweep(b *testing.B, n int, configs []purego.Config) {
	x, y, z := Numbers(n*n), Numbers(n*n), make([]float64, n*n)
	engines := make([]*purego.Backend, len(configs))
	for i, cfg := range configs {
		var err error
		engines[i], err = purego.New(cfg)
		if err != nil {
			b.Fatal(err)
		}
	}
	times := make([][]time.Duration, len(configs))
	for b.Loop() {
		for range 5 {
			for i, be := range engines {
				start := time.Now()
				be.Gemm(false, false, 1, engine.View(n, n, x), engine.View(n, n, y), 0, engine.View(n, n, z))
				times[i] = append(times[i], time.Since(start))
			}
		}
	}
	medians := make([]float64, len(configs))
	for i, t := range times {
		slices.Sort(t)
		medians[i] = t[len(t)/2].Seconds()
	}
	best := slices.Index(medians, slices.Min(medians))
	b.Logf("best of %d: %+v", len(configs), configs[best])
	b.ReportMetric(2e-9*float64(n)*float64(n)*float64(n)/medians[best], "best-GFLOP/s")
	b.ReportMetric(medians[best]/medians[0], "model/best")
}
