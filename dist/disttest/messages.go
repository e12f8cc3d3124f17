package disttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/dist"
)

// sizes are the tested sizes of messages in bytes. MPI libraries send a message of the largest size only when its
// receiver is ready.
var sizes = []int{0, 1, 1000, 1 << 20}

// messages checks the contents and the order of messages between all pairs of ranks. After Send, the sender
// overwrites the bytes, which must not change the message.
func messages(ctx context.Context, _ *testing.T, r dist.Transport) error {
	for from := range r.Size() {
		for to := range r.Size() {
			if from == to {
				continue
			}
			var err error
			switch r.Rank() {
			case from:
				err = sendAll(ctx, r, to)
			case to:
				err = recvAll(ctx, r, from)
			}
			if err != nil {
				return fmt.Errorf("from rank %d to rank %d: %w", from, to, err)
			}
		}
	}
	return nil
}

func sendAll(ctx context.Context, r dist.Transport, to int) error {
	for trial, n := range sizes {
		b := payload(r.Rank(), trial, n)
		if err := r.Send(ctx, to, b); err != nil {
			return err
		}
		clear(b)
	}
	return nil
}

func recvAll(ctx context.Context, r dist.Transport, from int) error {
	for trial, n := range sizes {
		b, err := r.Recv(ctx, from)
		if err != nil {
			return err
		}
		if !bytes.Equal(b, payload(from, trial, n)) {
			return fmt.Errorf("message %d of %d bytes arrived as %d different ones", trial, n, len(b))
		}
	}
	return nil
}

// peers checks that calls with invalid ranks return errors and do not affect other ranks.
func peers(ctx context.Context, _ *testing.T, r dist.Transport) error {
	for _, peer := range []int{-1, r.Rank(), r.Size()} {
		if err := r.Send(ctx, peer, nil); !errors.Is(err, dist.ErrRank) {
			return fmt.Errorf("sending to rank %d: %w", peer, err)
		}
		if _, err := r.Recv(ctx, peer); !errors.Is(err, dist.ErrRank) {
			return fmt.Errorf("receiving from rank %d: %w", peer, err)
		}
	}
	for _, root := range []int{-1, r.Size()} {
		if _, err := r.Broadcast(ctx, root, nil); !errors.Is(err, dist.ErrRank) {
			return fmt.Errorf("a broadcast from rank %d: %w", root, err)
		}
	}
	return r.Barrier(ctx)
}
