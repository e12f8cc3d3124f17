package dist

import (
	"bytes"
	"context"
	"fmt"

	"github.com/fdridge/fdridge/ridge"
)

// Merge returns the summary of the rows of all P ranks, with the same bits on every rank. The argument sum is the
// summary of this rank's rows, perhaps none; Merge destroys it.
//
// Summaries are sent up a binary tree. For s = 1, 2, 4, … < P, every rank r that is a multiple of 2s receives the
// summary of rank r+s, if that rank exists, and merges it by [ridge.Summary.Merge]. Rank 0 then broadcasts the
// result, which has the Meta of rank 0. A summary is merged at most ⌈log₂P⌉ times, in an order that depends
// only on P. The error bound η of the result is the total shrinkage.
//
// Let |S| be the size of a summary in bytes ([ridge.Summary.BinarySize]). Every rank except 0 sends |S| bytes once,
// and every rank receives |S| bytes for each of its merges. Finally the result is broadcast.
//
// Errors are errors of the transport, [ridge.Summary.Merge] and [ridge.ReadSummary]. If [ridge.Summary.Merge] fails,
// only the rank that called it returns an error, which names both ranks. This rank must then call Abort, see
// [Transport].
func Merge(ctx context.Context, t Transport, sum *ridge.Summary) (*ridge.Summary, error) {
	rank, size := t.Rank(), t.Size()
	for s := 1; s < size; s *= 2 {
		if rank%(2*s) != 0 {
			if err := send(ctx, t, rank-s, sum); err != nil {
				return nil, err
			}
			break
		}
		if rank+s < size {
			if err := receive(ctx, t, rank+s, sum); err != nil {
				return nil, err
			}
		}
	}
	return share(ctx, t, sum)
}

func send(ctx context.Context, t Transport, to int, sum *ridge.Summary) error {
	b, err := sum.MarshalBinary()
	if err != nil {
		return err
	}
	return t.Send(ctx, to, b)
}

// receive merges the summary of another rank into sum.
func receive(ctx context.Context, t Transport, from int, sum *ridge.Summary) error {
	b, err := t.Recv(ctx, from)
	if err != nil {
		return err
	}
	o, err := decode(b, sum)
	if err == nil {
		err = sum.Merge(o)
	}
	if err != nil {
		return fmt.Errorf("dist: merging the summary of rank %d into the summary of rank %d: %w", from, t.Rank(), err)
	}
	return nil
}

// share returns the summary of rank 0 on every rank. The argument sum is the summary of this rank.
func share(ctx context.Context, t Transport, sum *ridge.Summary) (*ridge.Summary, error) {
	if t.Rank() != 0 {
		b, err := t.Broadcast(ctx, 0, nil)
		if err != nil {
			return nil, err
		}
		return decode(b, sum)
	}
	var b []byte
	if t.Size() > 1 {
		var err error
		b, err = sum.MarshalBinary()
		if err != nil {
			return nil, err
		}
	}
	_, err := t.Broadcast(ctx, 0, b)
	return sum, err
}

// decode decodes a summary from b. The decoded summary uses the same backend as other.
func decode(b []byte, other *ridge.Summary) (*ridge.Summary, error) {
	return ridge.ReadSummary(bytes.NewReader(b), other.Config().Backend)
}
