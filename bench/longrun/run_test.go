package main

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// small is a run of a few seconds.
var small = config{seed: 2, dim: 16, size: 5, shards: 3, rows: 120, beta: 0.9, every: 10, warmUp: 60, growth: standard.growth, duty: 1}

func begin(t *testing.T, epochs int) *run {
	t.Helper()
	r, err := start(small)
	if err != nil {
		t.Fatal(err)
	}
	for range epochs {
		if err := r.step(context.Background()); err != nil {
			t.Fatalf("epoch %d: %v", r.epoch, err)
		}
	}
	return r
}

func TestRun(t *testing.T) {
	r := begin(t, 200)
	if r.checks != 20 || r.reloads == 0 {
		t.Errorf("%d checks, %d summaries read back", r.checks, r.reloads)
	}
	for _, promise := range []string{"sketch, above", "fd, error", "rfd, rss", "rfd, gcv", "cg, error"} {
		if !(r.worst[promise] > 0) {
			t.Errorf("%s was not tried", promise)
		}
	}
	t.Log(r)
}

// TestLoud: a run whose promises don't hold says which.
func TestLoud(t *testing.T) {
	blocks := func(r *run, rows int, to func(dataset.Block) error) {
		for b, err := range r.source(0, rows).Blocks(context.Background()) {
			if err == nil {
				err = to(b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, want string
		damage     func(r *run)
	}{
		{"rows are forgotten", "sketch", func(r *run) {
			blocks(r, 50, func(b dataset.Block) error { r.recent.exact.add(b); return nil })
		}},
		{"rows come twice", "sketch", func(r *run) {
			blocks(r, 50, func(b dataset.Block) error { return r.total.sum.AppendBlock(b) })
		}},
		{"a decay is missed", "sketch", func(r *run) { r.recent.exact.decay(0.5) }},
		{"targets are swapped", "error", func(r *run) {
			m, d := r.total.exact, r.dim
			for j := range d {
				a, b := &m.sum[d*(d+1)/2+j], &m.sum[(d+1)*(d+2)/2+j]
				*a, *b = *b, *a
			}
		}},
		{"a goroutine stays", "goroutines", func(r *run) {
			stop := make(chan struct{})
			t.Cleanup(func() { close(stop) })
			go func() { <-stop }()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := begin(t, 70)
			c.damage(r)
			if err := r.check(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the check says %v", err)
			}
		})
	}
	t.Run("memory grows", func(t *testing.T) {
		r := begin(t, 70)
		leak := make([]float64, r.growth/4)
		for i := range leak {
			leak[i] = 1
		}
		if err := r.check(context.Background()); err == nil || !strings.Contains(err.Error(), "heap has grown") {
			t.Errorf("the check says %v", err)
		}
		runtime.KeepAlive(leak)
	})
}
