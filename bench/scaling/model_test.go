package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// summarize makes a summary of n rows with t targets.
func summarize(t *testing.T, n, d, m, targets int) (*ridge.Summary, dataset.Source) {
	t.Helper()
	a := bench.Slow(n, d)
	y := bench.Numbers(n * targets)
	src, err := dataset.FromDense(n, d, targets, a, y)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := ridge.Summarize(context.Background(), src, ridge.SummaryConfig{Size: m, Store: fd.StoreRows}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sum, src
}

// TestModelMatchesCode: the formulas are those of the packages.
func TestModelMatchesCode(t *testing.T) {
	tuning, err := engine.DefaultTuning()
	if err != nil {
		t.Fatal(err)
	}
	if tuning.Shrink.Value == 0 {
		for m := 1; m < 3000; m += 7 {
			if got, want := shrinkRows(float64(m)), float64(tuning.ShrinkRows(m)); got != want {
				t.Fatalf("m = %d: p = %g, not %g", m, got, want)
			}
		}
	}
	for _, targets := range []int{1, 3} {
		// One more row than a shrink left, and so on: live rows after n are known.
		const d, m = 40, 8
		p := int(shrinkRows(m))
		for _, n := range []int{0, 1, m, m + p, m + p + 1, m + 2*p, m + 5*p + 3} {
			sum, _ := summarize(t, n, d, m, targets)
			live, kept := n, 0
			if n > m+p {
				kept = m
				live = m + (n-m-1)%p + 1
			}
			if got, want := summaryBytes(d, float64(targets), float64(live), float64(kept)), float64(sum.BinarySize()); got != want {
				t.Errorf("%d rows, %d targets: %g bytes, not %g", n, targets, got, want)
			}
		}
	}
}

// TestPlanAgrees: flops and passes are those that ridge.Summary.Plan counts.
func TestPlanAgrees(t *testing.T) {
	const d, m = 60, 12
	sum, _ := summarize(t, 500, d, m, 1)
	// Passes by the solver's own prediction.
	b, err := sum.Sketch().Spectrum()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []float64{0.01, 0.3, 1, 30} {
		gamma := f * b.Bound.Shrinkage
		want, err := plan.PredictedPasses(sum, gamma, 1e-8, ridge.CG)
		if err != nil {
			t.Fatal(err)
		}
		if got := passesOf(1+1/f, 1e-8); got < want-1 || got > want+1 {
			t.Errorf("γ = %g·η: %d passes, not %d", f, got, want)
		}
	}
	// Flops per row as the difference of two plans, at one flop a second and no reading.
	const n = 1000000
	flops := func(rows int64) float64 {
		plan, err := plan.New(sum, plan.Config{Rows: rows, Sizes: []int{m}, FlopRate: 1, ReadRate: 1e300, Gammas: []float64{1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range plan.Options {
			if o.Method == ridge.OneShot {
				return o.Seconds
			}
		}
		t.Fatal("no one-shot in the plan")
		return 0
	}
	if got, want := rowFlops(m, d, 1), (flops(2*n)-flops(n))/n; !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("%g flops a row, not %g", got, want)
	}
}

// TestTraffic: messages and bytes of a job are those that dist counts.
func TestTraffic(t *testing.T) {
	const n, d, m, targets = 400, 30, 6, 2
	ctx := context.Background()
	a, y := bench.Slow(n, d), bench.Numbers(n*targets)
	for _, p := range []int{1, 2, 3, 4, 7, 8} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			ranks := dist.Loopback(p)
			var union int64
			sent := make([]int64, p) // the length of each rank's summary when it left
			passes := make([]int, p)
			err := each(ranks, func(tr dist.Transport) error {
				r := tr.Rank()
				lo, hi := n*r/p, n*(r+1)/p
				src, err := dataset.FromDense(hi-lo, d, targets, a[lo*d:hi*d], y[lo*targets:hi*targets])
				if err != nil {
					return err
				}
				sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: m, Store: fd.StoreRows}, nil)
				if err != nil {
					return err
				}
				own := sum
				sum, err = dist.Merge(ctx, tr, sum)
				if err != nil {
					return err
				}
				if r == 0 {
					union = sum.BinarySize()
				} else {
					sent[r] = own.BinarySize()
				}
				gammas := []float64{choose.Grid(sum, 1)[0]}
				_, err = ridge.SolvePath(ctx, src, sum, gammas, ridge.SolveOptions{
					Tol: 1e-300, MaxPasses: 3, Reducer: tr,
					Observe: func(it ridge.Iterate) { passes[r] = max(passes[r], it.Pass) },
				})
				var short *ridge.NotConvergedError
				if err != nil && !errors.As(err, &short) {
					return err
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for r, tr := range ranks {
				got := tr.Traffic()
				var want dist.Traffic
				if p > 1 {
					if r == 0 {
						want.Broadcast.Sent = union
					} else {
						want.Broadcast.Received = union
						want.Send = dist.Volume{Calls: 1, Sent: sent[r]}
					}
					for step := 1; step < p && r%(2*step) == 0; step *= 2 {
						if r+step < p {
							want.Recv.Calls++
							want.Recv.Received += sent[r+step]
						}
					}
					want.Allreduce.Sent = 8 * int64(solveNumbers(d, targets, targets, float64(passes[r])))
					want.Allreduce.Received = want.Allreduce.Sent
				}
				want.Broadcast.Calls, want.Allreduce.Calls, want.Time = 1, int64(passes[r]), got.Time
				if got != want {
					t.Errorf("rank %d of %d: %+v, not %+v", r, p, got, want)
				}
				if !(sent[r] <= int64(summaryBytes(d, targets, m+shrinkRows(m), m))) {
					t.Errorf("rank %d sends %d bytes, more than m+p rows make", r, sent[r])
				}
				c := newCluster(p, testNetwork)
				if err := c.run(mergeTree(p, 1, 0)); err != nil {
					t.Fatal(err)
				}
				if c.sent[r] != float64(want.Send.Calls) {
					t.Errorf("rank %d of %d sends %g messages in the simulation, %d in dist", r, p, c.sent[r], want.Send.Calls)
				}
			}
		})
	}
}

// TestDecay: the integral of a spectrum is its sum, nearly.
func TestDecay(t *testing.T) {
	const d = 3000
	for _, s := range []decay{{1}, {2}, {1.5}} {
		for _, k := range []float64{0, 1, 10, 500} {
			want := 0.0
			for j := k + 1; j <= d; j++ {
				want += math.Pow(j, -s.power)
			}
			if got := s.tail(k, d); !(math.Abs(got-want) <= 0.04*want) {
				t.Errorf("power %g: the tail after %g is %g, not %g", s.power, k, got, want)
			}
		}
	}
}
