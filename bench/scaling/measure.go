package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
)

// costs are the measured costs of one core.
type costs struct {
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Go     string  `json:"go"`
	Kernel string  `json:"kernel"`
	Read   float64 `json:"read_bytes_per_second"` // rows of an .npy file in the page cache
	Pass   float64 `json:"pass_bytes_per_second"` // a gradient pass over rows in memory
	Shapes []shape `json:"shapes"`
}

// A shape holds the costs of a sketch of m rows of d features. All times are in seconds on one core.
type shape struct {
	D        int     `json:"d"`
	M        int     `json:"m"`
	P        int     `json:"rows_of_a_shrink"`
	Shrink   float64 `json:"shrink"`   // appending P rows, and the shrink that they cause
	Merge    float64 `json:"merge"`    // adding a sketch to a sketch
	Encode   float64 `json:"encode"`   // writing and reading the message with a sketch
	Spectrum float64 `json:"spectrum"` // reading the sketch when all rows are in it
	Bytes    float64 `json:"message_bytes"`
}

// A clock returns the mean processor time of a call of f, in seconds.
type clock func(f func() error) (float64, error)

// newClock returns a clock that calls f at least three times, for about the given processor time.
func newClock(seconds float64) clock {
	return func(f func() error) (float64, error) {
		begin := bench.ProcessorTime()
		for calls := 1; ; calls++ {
			if err := f(); err != nil {
				return 0, err
			}
			if spent := (bench.ProcessorTime() - begin).Seconds(); calls >= 3 && spent >= seconds {
				return spent / float64(calls), nil
			}
		}
	}
}

// measure measures the costs of the shapes. Each cost is measured for about the given number of seconds.
func measure(ctx context.Context, shapes []shape, seconds float64) (*costs, error) {
	report, err := engine.NewReport()
	if err != nil {
		return nil, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	be, err := engine.Default()
	if err != nil {
		return nil, err
	}
	c, timed := &costs{
		CPU:    report.CPU,
		Cores:  report.GoMaxProcs,
		Go:     report.Go,
		Kernel: be.Capabilities()["kernel"],
	}, newClock(
		seconds,
	)
	if err := c.reading(ctx, be, timed); err != nil {
		return nil, err
	}
	for _, s := range shapes {
		if err := s.measure(be, timed); err != nil {
			return nil, fmt.Errorf("d = %d, m = %d: %w", s.D, s.M, err)
		}
		c.Shapes = append(c.Shapes, s)
	}
	return c, nil
}

// readRows is the number of rows of 8 KiB that reading measures. They have 256 MiB and do not fit into the caches.
var readRows = 1 << 15

// reading measures Read and Pass.
func (c *costs) reading(ctx context.Context, be engine.Backend, timed clock) error {
	n, d := readRows, 1<<10
	dir, err := os.MkdirTemp("", "scaling")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	a, path := bench.Numbers(n*d), filepath.Join(dir, "rows.npy")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(npy.Write(f, n, d, a), f.Close()); err != nil {
		return err
	}
	src, err := npy.Open(path, npy.Options{Targets: []string{"last"}})
	if err != nil {
		return err
	}
	read, err := timed(func() error {
		for _, err := range src.Blocks(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	x, g, b, r := make([]float64, d), make([]float64, d), make([]float64, n), make([]float64, n)
	pass, err := timed(func() error {
		be.Gradient(
			engine.View(n, d, a),
			engine.View(1, d, x),
			engine.View(n, 1, b),
			engine.View(1, d, g),
			engine.View(n, 1, r),
		)
		return nil
	})
	c.Read, c.Pass = float64(8*n*d)/read, float64(8*n*d)/pass
	return err
}

// measure fills in the times and sizes of s.
func (s *shape) measure(be engine.Backend, timed clock) error {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return err
	}
	s.P = tuning.ShrinkRows(s.M)
	cfg := ridge.SummaryConfig{Dim: s.D, Size: s.M, Lanes: 1, Backend: be, Store: fd.StoreRows}
	x, y := bench.Rows(4*s.P, s.D), bench.Numbers(4*s.P)
	into, err := ridge.NewSummary(cfg)
	if err != nil {
		return err
	}
	other, err := ridge.NewSummary(cfg)
	if err != nil {
		return err
	}
	// P rows are appended between two shrinks. When a sketch is merged, P/2 of these rows are in its buffer on average.
	half := 3*s.P + s.P/2
	if err := other.AppendBlock(dataset.Block{N: half, X: x[:half*s.D], Y: y[:half]}); err != nil {
		return err
	}
	s.Bytes = float64(other.BinarySize())
	for _, job := range []struct {
		seconds *float64
		calls   float64
		run     func() error
	}{
		{&s.Shrink, 4, func() error { return into.AppendBlock(dataset.Block{N: 4 * s.P, X: x, Y: y}) }},
		{&s.Merge, 1, func() error { return into.Merge(other) }},
		{&s.Encode, 1, func() error {
			b, err := other.MarshalBinary()
			if err == nil {
				_, err = ridge.ReadSummary(bytes.NewReader(b), be)
			}
			return err
		}},
		{&s.Spectrum, 1, func() error {
			_, err := other.Sketch().Spectrum()
			return err
		}},
	} {
		t, err := timed(job.run)
		if err != nil {
			return err
		}
		*job.seconds = t / job.calls
	}
	return nil
}
