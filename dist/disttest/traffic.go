package disttest

import (
	"context"
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/dist"
)

// traffic checks that the method Traffic counts calls of every kind as the documentation of [dist.Traffic] says.
func traffic(ctx context.Context, _ *testing.T, r dist.Transport) error {
	before := r.Traffic()
	want, err := round(ctx, r)
	if err != nil {
		return err
	}
	return checkTraffic(r, before, want)
}

// round makes calls of every kind and returns the traffic that they should cause.
func round(ctx context.Context, r dist.Transport) (dist.Traffic, error) {
	var want dist.Traffic
	for _, n := range []int{0, 5, 1000} {
		if err := r.Allreduce(ctx, make([]float64, n)); err != nil {
			return want, err
		}
		want.Allreduce.Calls++
		if r.Size() > 1 {
			want.Allreduce.Sent += 8 * int64(n)
			want.Allreduce.Received += 8 * int64(n)
		}
	}
	for root := range r.Size() {
		if _, err := r.Broadcast(ctx, root, make([]byte, 100+root)); err != nil {
			return want, err
		}
		want.Broadcast.Calls++
		switch {
		case r.Size() == 1:
		case root == r.Rank():
			want.Broadcast.Sent += 100 + int64(root)
		default:
			want.Broadcast.Received += 100 + int64(root)
		}
	}
	want.Barrier.Calls = 1
	if err := r.Barrier(ctx); err != nil {
		return want, err
	}
	if r.Rank() > 0 {
		want.Send = dist.Volume{Calls: 1, Sent: 77}
		if err := r.Send(ctx, 0, make([]byte, 77)); err != nil {
			return want, err
		}
		return want, nil
	}
	for from := 1; from < r.Size(); from++ {
		want.Recv.Calls++
		want.Recv.Received += 77
		if _, err := r.Recv(ctx, from); err != nil {
			return want, err
		}
	}
	return want, nil
}

// checkTraffic checks that r's traffic grew by want.
func checkTraffic(r dist.Transport, before, want dist.Traffic) error {
	got := r.Traffic()
	if !(got.Time > before.Time) {
		return fmt.Errorf("the calls took no time: %v before, %v after", before.Time, got.Time)
	}
	got.Time = 0
	for _, v := range []struct{ got, before *dist.Volume }{
		{&got.Send, &before.Send}, {&got.Recv, &before.Recv}, {&got.Broadcast, &before.Broadcast},
		{&got.Allreduce, &before.Allreduce}, {&got.Barrier, &before.Barrier},
	} {
		v.got.Calls -= v.before.Calls
		v.got.Sent -= v.before.Sent
		v.got.Received -= v.before.Received
	}
	if got != want {
		return fmt.Errorf("moved %+v, should be %+v", got, want)
	}
	if sent := got.Send.Sent + got.Broadcast.Sent + got.Allreduce.Sent; got.Sent() != sent {
		return fmt.Errorf("%d bytes sent in all, should be %d", got.Sent(), sent)
	}
	if received := got.Recv.Received + got.Broadcast.Received + got.Allreduce.Received; got.Received() != received {
		return fmt.Errorf("%d bytes received in all, should be %d", got.Received(), received)
	}
	return nil
}
