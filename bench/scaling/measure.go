package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A shape is where a constant is measured.
type shape struct{ d, m int }

// shapes of a measurement: the largest takes about 300 MB of sketch.
var shapes = []shape{{1024, 64}, {1024, 256}, {16384, 64}, {16384, 256}, {131072, 64}, {1000000, 16}}

// most is how long d·q a step may be to be measured.
const most = 1 << 21

// A pace says how long the constants are measured, and on what shapes.
type pace struct {
	each    time.Duration // about so long each
	numbers int           // in the rows of a pass
	shapes  []shape
}

// A meter measures with one backend.
type meter struct {
	pace
	be engine.Backend
	c  *constants
}

// measure finds the constants of this machine.
func measure(ctx context.Context, p pace) (*constants, error) {
	be, err := engine.Default()
	if err != nil {
		return nil, err
	}
	report, err := engine.NewReport()
	if err != nil {
		return nil, err
	}
	peaks, err := engine.Measure(ctx, be, 3*p.each)
	if err != nil {
		return nil, err
	}
	m := &meter{pace: p, be: be, c: &constants{
		CPU: report.CPU, Cores: report.GoMaxProcs, Go: report.Go, Backend: be.Name(), Kernel: be.Capabilities()["kernel"],
		Peak: peaks.Peak, Gemm: peaks.Gemm, Read: peaks.Bandwidth,
	}}
	m.add()
	for _, s := range p.shapes {
		if err := m.summary(ctx, s); err != nil {
			return nil, fmt.Errorf("d = %d, m = %d: %w", s.d, s.m, err)
		}
	}
	for i, s := range p.shapes {
		if i > 0 && s.d == p.shapes[i-1].d {
			continue
		}
		for _, q := range []int{1, 8, 64} {
			if q > 1 && s.d*q > 8*most {
				break
			}
			m.pass(s.d, q)
		}
		m.sparse(s.d)
	}
	if err := m.blocks(ctx); err != nil {
		return nil, err
	}
	return m.c, m.loopback(ctx)
}

// clock is the seconds of f: the least of three times, each the mean of as many calls
// as a third of the time allows, at least one. Others on the machine can only make a
// time longer.
func (m *meter) clock(f func()) float64 {
	f()
	best := math.Inf(1)
	for range 3 {
		start, calls := time.Now(), 0
		for calls == 0 || time.Since(start) < m.each/3 {
			f()
			calls++
		}
		best = min(best, time.Since(start).Seconds()/float64(calls))
	}
	return best
}

func (m *meter) add() {
	const n = 1 << 22
	x, y := make([]float64, n), make([]float64, n)
	m.c.Add = 8 * n / m.clock(func() { floats.Add(x, y) })
}

// cycle are rows that are appended again and again: enough of them to differ between
// two shrinks, no more than 128 MiB.
func cycle(d int) (n int, x, y []float64) {
	n = max(64, min(2048, 1<<24/d))
	x = bench.Rows(n, d)
	return n, x, bench.Targets(n, d, x)
}

// summary measures appending, merging, the wire format, reading the spectrum and the
// step of a solve.
func (m *meter) summary(ctx context.Context, s shape) error {
	n, x, y := cycle(s.d)
	var failed error
	grow := func(sum *ridge.Summary, rows int) {
		for done := 0; done < rows; {
			k := min(n, rows-done)
			if err := sum.AppendBlock(dataset.Block{N: k, X: x[:k*s.d], Y: y[:k]}); err != nil {
				failed = err
				return
			}
			done += k
		}
	}
	fresh := func() (*ridge.Summary, error) {
		return ridge.NewSummary(ridge.SummaryConfig{Dim: s.d, Size: s.m, Backend: m.be, Store: fd.StoreRows})
	}
	a, err := fresh()
	if err != nil {
		return err
	}
	d, mm := float64(s.d), float64(s.m)
	p := int(shrinkRows(mm))
	grow(a, s.m+p)
	seconds := m.clock(func() { grow(a, 2*p) })
	rows := float64(2*p) / seconds
	m.c.Sketch = append(m.c.Sketch, sketchRate{d, mm, rows, rows * rowFlops(mm, d, 1)})

	b, err := fresh()
	if err != nil {
		return err
	}
	grow(b, 3*p+p/2)
	rate := mergeRate{D: d, M: mm, Bytes: float64(b.BinarySize())}
	var message []byte
	rate.Write = rate.Bytes / m.clock(func() {
		if message, err = b.MarshalBinary(); err != nil {
			failed = err
		}
	})
	rate.Load = rate.Bytes / m.clock(func() {
		if _, err := ridge.ReadSummary(bytes.NewReader(message), m.be); err != nil {
			failed = err
		}
	})
	// A clone for each merge would be timed with it; a grows instead, as in the tree.
	before, merges := a.Sketch().Shrinks(), int64(0)
	rate.Seconds = m.clock(func() {
		merges++
		if err := a.Merge(b); err != nil {
			failed = err
		}
	})
	rate.Shrinks = float64(a.Sketch().Shrinks()-before)/float64(merges) - float64(b.Sketch().Shrinks())
	rate.Flops = mergeFlops(mm, d, rate.Shrinks) / rate.Seconds
	rate.Spectrum = m.clock(func() {
		if _, err := b.Sketch().Spectrum(); err != nil {
			failed = err
		}
	})
	m.c.Merge = append(m.c.Merge, rate)
	if failed != nil {
		return failed
	}
	return m.step(ctx, s, x, y, n)
}

// step measures what a solve does between two passes, by a solve over m+1 rows: its time
// is shared out by flops between the step and the gradient of these rows, so that
// the rate is rather too low.
func (m *meter) step(ctx context.Context, s shape, x, y []float64, n int) error {
	k := min(n, s.m+1)
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: s.d, Size: s.m, Backend: m.be, Store: fd.StoreRows})
	if err != nil {
		return err
	}
	if err := sum.AppendBlock(dataset.Block{N: k, X: x[:k*s.d], Y: y[:k]}); err != nil {
		return err
	}
	src, err := dataset.FromDense(k, s.d, 1, x[:k*s.d], y[:k])
	if err != nil {
		return err
	}
	for _, q := range []int{1, 8} {
		if q > 1 && s.d*q > most {
			break
		}
		gammas := make([]float64, q)
		for i := range gammas {
			gammas[i] = choose.Grid(sum, 1)[0] * 1e-6 * float64(i+1)
		}
		var failed error
		const passes = 6
		seconds := m.clock(func() {
			_, err := ridge.SolvePath(ctx, src, sum, gammas, ridge.SolveOptions{Tol: 1e-300, MaxPasses: passes})
			var short *ridge.NotConvergedError
			if !errors.As(err, &short) {
				failed = fmt.Errorf("a solve that should not end: %w", err)
			}
		}) / passes
		if failed != nil {
			return failed
		}
		d, mm, qq := float64(s.d), float64(s.m), float64(q)
		rate := (stepFlops(mm, d, qq) + 4*float64(k)*d*qq) / seconds
		m.c.Step = append(m.c.Step, stepRate{d, mm, qq, stepFlops(mm, d, qq) / rate, rate})
	}
	return nil
}

// pass measures a gradient over rows in memory.
func (m *meter) pass(d, q int) {
	n := max(32, m.numbers/d)
	a := make([]float64, n*d)
	for i := range a {
		a[i] = float64(i%7) - 3
	}
	x, g := make([]float64, q*d), make([]float64, q*d)
	b, r := make([]float64, n*q), make([]float64, n*q)
	block := min(n, 512)
	seconds := m.clock(func() {
		for i := 0; i+block <= n; i += block {
			m.be.Gradient(engine.View(block, d, a[i*d:]), engine.View(q, d, x), engine.View(block, q, b), engine.View(q, d, g), engine.View(block, q, r))
		}
	})
	rows := float64(n/block*block) / seconds
	m.c.Pass = append(m.c.Pass, passRate{float64(d), float64(q), rows, rows * 8 * float64(d), rows * 4 * float64(d*q)})
}

// sparse measures a gradient of one vector over rows of nonzeros spread evenly.
func (m *meter) sparse(d int) {
	const nnz, n = 100, 20000
	rows := engine.CSR{Rows: n, Cols: d, RowPtr: make([]int, n+1), ColIdx: make([]int32, n*nnz), Val: make([]float64, n*nnz)}
	for i := range n {
		rows.RowPtr[i+1] = (i + 1) * nnz
		for j := range nnz {
			rows.ColIdx[i*nnz+j] = int32(j*(d/nnz) + (i*31)%(d/nnz))
			rows.Val[i*nnz+j] = 1
		}
	}
	x, g, b, r := make([]float64, d), make([]float64, d), make([]float64, n), make([]float64, n)
	rate := n / m.clock(func() {
		rows.Gradient(engine.View(1, d, x), engine.View(rows.Rows, 1, b), engine.View(1, d, g), engine.View(rows.Rows, 1, r))
	})
	m.c.Sparse = append(m.c.Sparse, sparseRate{float64(d), nnz, rate, rate * 4 * nnz})
}

// loopback measures dist.Loopback, in which ranks share this machine's cores.
func (m *meter) loopback(ctx context.Context) error {
	for _, ranks := range []int{2, 8} {
		for _, n := range []int{1, 1 << 10, 1 << 20} {
			const calls = 8
			x := make([][]float64, ranks)
			for r := range x {
				x[r] = make([]float64, n)
			}
			var failed error
			seconds := m.clock(func() {
				if err := each(dist.Loopback(ranks), func(t dist.Transport) error {
					for range calls {
						if err := t.Allreduce(ctx, x[t.Rank()]); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					failed = err
				}
			})
			if failed != nil {
				return failed
			}
			m.c.Loopback = append(m.c.Loopback, transportRate{ranks, "allreduce", 8 * float64(n), seconds / calls})
		}
	}
	return nil
}

// each runs f on every rank at once.
func each(ranks []dist.Transport, f func(t dist.Transport) error) error {
	errs := make([]error, len(ranks))
	done := make(chan struct{})
	for r, t := range ranks {
		go func() {
			if errs[r] = f(t); errs[r] != nil {
				t.Abort(errs[r])
			}
			done <- struct{}{}
		}()
	}
	for range ranks {
		<-done
	}
	return errors.Join(errs...)
}
