package dist

import (
	"bytes"
	"context"
	"fmt"

	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/ridge"
)

// Merge returns, on every rank and to the same bits, the summary of the rows of
// all ranks. sum, this rank's own, is used up.
//
// Summaries travel in their wire format up a binary tree: for s = 1, 2, 4, … < P
// every rank r that is a multiple of 2s merges the summary of rank r+s, if there is one,
// into its own, as [ridge.Summary.Merge] does. So a summary is merged at most ⌈log₂P⌉ times,
// and η is the sum of all that was shrunk. Rank 0 then broadcasts the union, which has the
// Meta of rank 0. The order depends on nothing but P. A rank may have seen no rows.
//
// With |S| the bytes of a summary ([ridge.Summary.BinarySize]) a rank other than 0
// sends |S| once; rank r receives one |S| for every s at which it merges, and all
// receive the union in one broadcast.
//
// Errors: those of the transport; those of [ridge.Summary.Merge] and [ridge.ReadSummary],
// with the numbers of the two ranks. Only the rank that merged has these: [Transport] says
// how it tells the others.
func Merge(ctx context.Context, t Transport, sum *ridge.Summary) (*ridge.Summary, error) {
	ctx = background.IfNil(ctx)
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

// receive merges the summary that comes from another rank into sum.
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
		return fmt.Errorf("dist: merging the summary of rank %d into that of rank %d: %w", from, t.Rank(), err)
	}
	return nil
}

// share returns rank 0's sum on every rank.
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
		if b, err = sum.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	_, err := t.Broadcast(ctx, 0, b)
	return sum, err
}

// decode returns the summary that b holds, for the backend of like.
func decode(b []byte, like *ridge.Summary) (*ridge.Summary, error) {
	return ridge.ReadSummary(bytes.NewReader(b), like.Config().Backend)
}
