package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
)

type config struct {
	seed      uint64
	dim, size int
	shards    int     // fresh summaries in an epoch
	rows      int     // of a shard, at most
	beta      float64 // what the one that forgets keeps after an epoch
	every     int     // epochs between checks
	warmUp    int     // epochs before memory has to be flat
	growth    int64   // bytes by which it may grow afterwards
	duty      float64 // part of the time to be busy
}

var standard = config{seed: 1, dim: 64, size: 16, shards: 3, rows: 300, beta: 0.98, every: 50, warmUp: 500, growth: 8 << 20, duty: 0.1}

// A tracked summary comes with the moments of its rows.
type tracked struct {
	sum   *ridge.Summary
	exact *moments
}

func (c config) tracked() (*tracked, error) {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: c.dim, Targets: targets, Size: c.size, Intercept: true})
	return &tracked{sum, newMoments(c.dim)}, err
}

// A run is where the stream has got to.
type run struct {
	config
	rng             *rand.Rand
	epoch           int
	total, recent   *tracked // never forgets; forgets
	last            *tracked // shard 0 of the last epoch
	lastRows        int
	worst           worst
	most            usage // of the warm-up
	checks, reloads int
	short           int // solves that did not reach their tolerance
}

// A usage is what the process takes at a time.
type usage struct {
	heap, resident int64 // bytes
	goroutines     int
}

func start(c config) (*run, error) {
	r := &run{config: c, rng: rand.New(rand.NewPCG(c.seed, 0)), worst: worst{}}
	var err error
	if r.total, err = c.tracked(); err != nil {
		return nil, err
	}
	r.recent, err = c.tracked()
	return r, err
}

// source reads the rows of a shard of the epoch at hand.
func (r *run) source(shard, rows int) *dataset.Stream {
	epoch := r.epoch
	s := dataset.NewStream(int64(rows), r.dim, targets, false, func() (dataset.Reader, error) {
		return newGenerator(r.seed, r.dim, epoch, shard, rows), nil
	})
	s.BlockRows = 1 + shard*40
	return s
}

// step makes an epoch.
func (r *run) step(ctx context.Context) error {
	r.epoch++
	shards, rows, errs := make([]*tracked, r.shards), make([]int, r.shards), make([]error, r.shards)
	var wg sync.WaitGroup
	for i := range shards {
		rows[i] = 1 + r.rng.IntN(r.rows)
		wg.Go(func() { shards[i], errs[i] = r.fill(ctx, i, rows[i]) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	r.last, r.lastRows = shards[0], rows[0]
	if err := r.recent.decay(r.beta); err != nil {
		return err
	}
	// Merges of summaries that have themselves been merged, in an order that varies.
	r.rng.Shuffle(r.shards, func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
	if err := r.total.merge(shards[0]); err != nil {
		return err
	}
	all, err := r.tracked()
	if err != nil {
		return err
	}
	for i, s := range shards {
		if i > 0 {
			if err := r.total.merge(s); err != nil {
				return err
			}
		}
		if err := all.merge(s); err != nil {
			return err
		}
	}
	if err := r.recent.merge(all); err != nil {
		return err
	}
	if err := r.reload(); err != nil {
		return err
	}
	if r.epoch%r.every == 0 {
		return r.check(ctx)
	}
	return nil
}

// fill streams a shard's rows into a fresh summary.
func (r *run) fill(ctx context.Context, shard, rows int) (*tracked, error) {
	t, err := r.tracked()
	if err != nil {
		return nil, err
	}
	for b, err := range r.source(shard, rows).Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if err := t.sum.AppendBlock(b); err != nil {
			return nil, err
		}
		t.exact.add(b)
	}
	return t, nil
}

func (t *tracked) merge(o *tracked) error {
	t.exact.merge(o.exact)
	return t.sum.Merge(o.sum)
}

func (t *tracked) decay(beta float64) error {
	t.exact.decay(beta)
	return t.sum.Decay(beta)
}

// reload replaces one of the long-lived summaries, now and then, by what was read
// of what it wrote.
func (r *run) reload() error {
	var t *tracked
	switch r.rng.IntN(20) {
	case 0:
		t = r.total
	case 1:
		t = r.recent
	default:
		return nil
	}
	data, err := t.sum.MarshalBinary()
	if err != nil {
		return err
	}
	sum, err := ridge.ReadSummary(bytes.NewReader(data), nil)
	if err != nil {
		return err
	}
	again, err := sum.MarshalBinary()
	if err != nil {
		return err
	}
	if !bytes.Equal(data, again) {
		return errors.New("a summary that was read writes other bytes")
	}
	t.sum = sum
	r.reloads++
	return nil
}

// check holds everything against the exact moments, and memory against what it was.
func (r *run) check(ctx context.Context) error {
	r.checks++
	for name, t := range map[string]*tracked{"total": r.total, "recent": r.recent, "shard": r.last} {
		if err := r.hold(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return r.memory()
}

// hold checks the sketch, and fits at one γ.
func (r *run) hold(ctx context.Context, t *tracked) error {
	p, trace := t.exact.problem()
	if err := r.worst.sketch(p, trace, t.sum); err != nil {
		return err
	}
	if t.sum.Rows() < 2 || !(trace > 0) {
		return nil // no scale to choose γ by
	}
	gamma := []float64{1e-3, 0.1, 10}[r.checks%3] * trace / float64(r.dim)
	exact, err := p.Solve(gamma)
	if err != nil {
		return err
	}
	fits := map[string]func() (*ridge.Solution, error){
		"fd":  func() (*ridge.Solution, error) { return t.sum.FitFD(gamma) },
		"rfd": func() (*ridge.Solution, error) { return t.sum.Fit(gamma) },
	}
	if t == r.last {
		method := []ridge.Method{ridge.CG, ridge.Newton}[r.rng.IntN(2)]
		fits[method.String()] = func() (*ridge.Solution, error) {
			f, err := ridge.Solve(ctx, r.source(0, r.lastRows), t.sum, gamma, ridge.SolveOptions{Method: method, MaxPasses: 50})
			if short := (*ridge.NotConvergedError)(nil); errors.As(err, &short) {
				r.short++ // small γ: what it got to has a certificate too
				return short.Solutions[0], nil
			}
			return f, err
		}
	}
	for kind, fit := range fits {
		f, err := fit()
		if err != nil {
			return err
		}
		if err := r.worst.fit(kind, p, exact, f); err != nil {
			return fmt.Errorf("γ = %g: %w", gamma, err)
		}
	}
	return nil
}

// memory returns what is free to the system and compares what is left.
func (r *run) memory() error {
	debug.FreeOSMemory()
	now := usage{heap(), rss.Current(), runtime.NumGoroutine()}
	switch {
	case r.epoch <= r.warmUp:
		r.most = usage{max(r.most.heap, now.heap), max(r.most.resident, now.resident), max(r.most.goroutines, now.goroutines)}
	case now.heap > r.most.heap+r.growth:
		return fmt.Errorf("the heap has grown from %d to %d bytes", r.most.heap, now.heap)
	case now.resident > r.most.resident+r.growth:
		return fmt.Errorf("the resident set has grown from %d to %d bytes", r.most.resident, now.resident)
	case now.goroutines > r.most.goroutines:
		return fmt.Errorf("there are %d goroutines, there were %d", now.goroutines, r.most.goroutines)
	}
	return nil
}

func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// String is a line on the run so far.
func (r *run) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %d, %d rows, %d checks, %d reloads, %d solves cut short, heap %.1f MiB (limit %.1f), resident %.1f MiB (limit %.1f); worst error/bound:",
		r.epoch, r.total.sum.Rows(), r.checks, r.reloads, r.short, mib(heap()), mib(r.most.heap+r.growth), mib(rss.Current()), mib(r.most.resident+r.growth))
	for _, name := range slices.Sorted(maps.Keys(r.worst)) {
		fmt.Fprintf(&b, " %s %.3g;", name, r.worst[name])
	}
	return b.String()
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }
