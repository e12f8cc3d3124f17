// Package disttest holds transports to their contract. A transport adds a few lines
// to be tested:
//
//	disttest.Run(t, open)
//	disttest.Cancel(t, open, kind) // for each of disttest.Kinds
//	disttest.Abort(t, open, kind)
//
// open returns those ranks of a new computation that live in this process: all of
// them, or one in each process of a job, which then makes the same calls in all.
// Every check is one function that all ranks run, each in its goroutine; what other
// ranks put in is known from seeds. Sums are compared with compensated ones, summaries
// with merges made one by one, bit for bit.
package disttest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dist"
)

const eps = 0x1p-52

// patience is after how long a rank that hears nothing fails the test.
const patience = time.Minute

// Run runs all checks after which a transport can still be used: all but Cancel and Abort.
func Run(t *testing.T, open func() []dist.Transport) {
	for _, c := range []struct {
		name  string
		check func(ctx context.Context, t *testing.T, r dist.Transport) error
	}{
		{"Ranks", ranks},
		{"Allreduce", allreduce},
		{"Broadcast", broadcast},
		{"Inside", inside},
		{"Messages", messages},
		{"Barrier", barrier},
		{"Mismatch", mismatch},
		{"Peers", peers},
		{"Traffic", traffic},
		{"Merge", merge},
		{"MergeRefused", mergeRefused},
		{"Reducer", reducer},
		{"Agree", agree},
		{"Table", table},
	} {
		t.Run(c.name, func(t *testing.T) { each(t, open(), c.check) })
	}
}

// each runs check on every rank of this process. A rank that fails ends it for all.
func each(t *testing.T, ranks []dist.Transport, check func(ctx context.Context, t *testing.T, r dist.Transport) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for _, r := range ranks {
		wg.Go(func() {
			err := check(ctx, t, r)
			if err == nil {
				return
			}
			t.Errorf("rank %d of %d: %v", r.Rank(), r.Size(), err)
			if aborted := (*dist.AbortError)(nil); !errors.As(err, &aborted) {
				r.Abort(fmt.Errorf("%s: %w", t.Name(), err))
			}
		})
	}
	wg.Wait()
}

// random returns the generator that all ranks know for one of them.
func random(rank, trial int) *rand.Rand { return rand.New(rand.NewPCG(uint64(rank), uint64(trial))) }

func ranks(ctx context.Context, _ *testing.T, r dist.Transport) error {
	if r.Size() < 1 || r.Rank() < 0 || r.Rank() >= r.Size() {
		return fmt.Errorf("rank %d of %d", r.Rank(), r.Size())
	}
	seen := make([]float64, r.Size())
	seen[r.Rank()] = 1
	if err := r.Allreduce(ctx, seen); err != nil {
		return err
	}
	for i, n := range seen {
		if n != 1 {
			return fmt.Errorf("there are %v of rank %d", n, i)
		}
	}
	return nil
}
