// Package disttest tests transports. The tests of a transport are
//
//	disttest.Run(t, open)
//	disttest.Cancel(t, open, kind) // for each of disttest.Kinds
//	disttest.Abort(t, open, kind)
//
// The function open starts a new computation and returns the ranks in this process. These are all ranks, or one
// rank if each rank is a process. All processes must make the same calls. Each check runs on all ranks at the same
// time, and each rank has its own goroutine. Seeds determine the input. Sums are compared with compensated sums.
// Merged summaries must have the same bits as summaries that were merged in one process.
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

// patience is the time limit of each check.
const patience = time.Minute

// Run runs all checks except Cancel and Abort. After these two a transport cannot be used.
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
		t.Run(c.name, func(t *testing.T) { onEveryRank(t, open(), c.check) })
	}
}

// onEveryRank runs check on every rank at the same time. If one rank fails, it ends the other ranks by Abort.
func onEveryRank(
	t *testing.T,
	ranks []dist.Transport,
	check func(ctx context.Context, t *testing.T, r dist.Transport) error,
) {
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

// random returns a generator that every rank can construct.
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
