package disttest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dist"
)

// Kinds are the names of the calls of a transport that can wait for other ranks.
var Kinds = []string{"Send", "Recv", "Broadcast", "Allreduce", "Barrier"}

// call makes a call that involves the last rank.
func call(ctx context.Context, r dist.Transport, kind string) error {
	last := r.Size() - 1
	switch kind {
	case "Send":
		return r.Send(ctx, last, make([]byte, 1<<20))
	case "Recv":
		_, err := r.Recv(ctx, last)
		return err
	case "Broadcast":
		_, err := r.Broadcast(ctx, 0, make([]byte, 1<<20))
		return err
	case "Allreduce":
		return r.Allreduce(ctx, make([]float64, 1<<17))
	case "Barrier":
		return r.Barrier(ctx)
	}
	return fmt.Errorf("no call of kind %s", kind)
}

// Cancel checks a call of the given kind whose context is cancelled. The last rank makes no call. All other ranks
// wait for the last rank in the call until they cancel its context. Then the call must return, and all later calls
// must return a *[dist.BrokenError].
func Cancel(t *testing.T, open func() []dist.Transport, kind string) {
	onEveryRank(t, open(), func(ctx context.Context, _ *testing.T, r dist.Transport) error {
		if r.Rank() == r.Size()-1 {
			return nil
		}
		mine, cancel := context.WithCancel(ctx)
		defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
		if err := call(mine, r, kind); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("cancelled %s: %w", kind, err)
		}
		for _, later := range append(Kinds, kind) {
			err := call(ctx, r, later)
			if broken := (*dist.BrokenError)(nil); !errors.As(err, &broken) || !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%s after a cancelled %s: %w", later, kind, err)
			}
		}
		return nil
	})
}

// Abort checks that all running and later calls end if the last rank calls Abort. They must return an error with
// the number of the last rank and the error that it passed to Abort. All ranks must be in one process, because
// Abort does not return if ranks are processes.
func Abort(t *testing.T, open func() []dist.Transport, kind string) {
	why := errors.New("it had to be")
	onEveryRank(t, open(), func(ctx context.Context, _ *testing.T, r dist.Transport) error {
		last := r.Size() - 1
		if r.Rank() == last {
			time.Sleep(5 * time.Millisecond)
			r.Abort(why)
			r.Abort(errors.New("too late"))
		}
		for _, k := range append([]string{kind}, Kinds...) {
			if r.Rank() == last && (k == "Send" || k == "Recv") {
				continue
			}
			err := call(ctx, r, k)
			aborted := (*dist.AbortError)(nil)
			if !errors.As(err, &aborted) || aborted.Rank != last || aborted.Err != why {
				return fmt.Errorf("aborted %s: got %w", k, err)
			}
		}
		return nil
	})
}
