package bench

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/fdridge/fdridge/engine"
)

// peaks returns the speeds that the machine reaches with the same number of threads. They are measured once.
var peaks = sync.OnceValues(func() (engine.Measurement, error) {
	be, err := engine.Default()
	if err != nil {
		return engine.Measurement{}, err
	}
	return engine.Measure(context.Background(), be, 3*time.Second)
})

// flopRate reports the GFLOP/s of a loop with the given flops in each iteration, and the fraction of the
// micro-kernel's peak.
func flopRate(b *testing.B, flops float64) {
	m, err := peaks()
	if err != nil {
		b.Fatal(err)
	}
	rate := flops * float64(b.N) / b.Elapsed().Seconds() / 1e9
	b.ReportMetric(rate, "GFLOP/s")
	b.ReportMetric(rate/m.Peak, "of-peak-flops")
}

// readRate reports the GB/s of a loop that reads the given bytes in each iteration, and the fraction of the speed of
// reading memory.
func readRate(b *testing.B, bytes float64) {
	m, err := peaks()
	if err != nil {
		b.Fatal(err)
	}
	rate := bytes * float64(b.N) / b.Elapsed().Seconds() / 1e9
	b.ReportMetric(rate, "GB/s")
	b.ReportMetric(rate/m.Bandwidth, "of-peak-read")
}

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
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			f(b, be)
		})
	}
}
