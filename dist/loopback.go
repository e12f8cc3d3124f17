package dist

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fdridge/fdridge/internal/background"
)

// Loopback returns the connected ranks of a computation of size >= 1 workers in
// this process, one for the goroutine of each.
//
// Bytes are copied, so that ranks share no memory. Sums are made in the order of
// the ranks, each rank making those of its own part of x, and so do not depend on
// timing. Send waits until its bytes are received.
func Loopback(size int) []Transport {
	if size < 1 {
		panic("dist: Loopback of no ranks")
	}
	h := &hub{
		calls:   make([]call, size),
		wake:    make([]chan struct{}, size),
		pipes:   make(map[[2]int]chan []byte),
		aborted: make(chan struct{}),
	}
	ranks := make([]Transport, size)
	for r := range ranks {
		h.wake[r] = make(chan struct{}, 1)
		ranks[r] = &loopback{hub: h, rank: r}
	}
	return ranks
}

// A call is a collective call of one rank, with its arguments.
type call struct {
	what string
	root int
	x    []float64
	b    []byte
}

func (c call) same(o call) bool {
	return c.what == o.what && c.root == o.root && len(c.x) == len(o.x)
}

func (c call) String() string {
	switch c.what {
	case "Broadcast":
		return fmt.Sprintf("%s(root %d)", c.what, c.root)
	case "Allreduce":
		return fmt.Sprintf("%s(%d numbers)", c.what, len(c.x))
	}
	return c.what
}

// A hub is where the ranks of a loopback meet.
type hub struct {
	mu       sync.Mutex
	calls    []call // of each rank, set before it arrives
	arrived  int
	meetings uint64 // how many took place
	mismatch error  // of the last meeting
	wake     []chan struct{}
	pipes    map[[2]int]chan []byte // by sender and receiver
	aborted  chan struct{}          // closed when abort is set
	abort    *AbortError
}

// pipe returns the channel for messages between two ranks.
func (h *hub) pipe(from, to int) chan []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pipes[[2]int{from, to}]
	if p == nil {
		p = make(chan []byte)
		h.pipes[[2]int{from, to}] = p
	}
	return p
}

// arrive enters a rank for the next meeting. It returns the number of that meeting
// and whether it took place, this rank being the last.
func (h *hub) arrive(rank int) (meeting uint64, last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.arrived++
	if h.arrived < len(h.calls) {
		return h.meetings, false
	}
	h.mismatch = nil
	for r := range h.calls {
		if h.mismatch == nil && !h.calls[r].same(h.calls[0]) {
			h.mismatch = fmt.Errorf("%w: rank 0 %v, rank %d %v", ErrMismatch, h.calls[0], r, h.calls[r])
		}
	}
	h.arrived = 0
	h.meetings++
	for r, wake := range h.wake {
		if r != rank {
			wake <- struct{}{}
		}
	}
	return h.meetings - 1, true
}

// withdraw takes a rank's call back unless the meeting took place, and reports whether it
// did so.
func (h *hub) withdraw(rank int, meeting uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.meetings > meeting {
		return false
	}
	h.calls[rank] = call{}
	h.arrived--
	return true
}

// A loopback is one rank.
type loopback struct {
	*hub
	rank   int
	meter  Meter
	broken error // of the call in which this rank fell out of step, nil for none
}

func (l *loopback) Rank() int { return l.rank }

func (l *loopback) Size() int { return len(l.calls) }

func (l *loopback) Abort(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.abort == nil {
		l.abort = &AbortError{Rank: l.rank, Err: err}
		close(l.aborted)
	}
}

func (l *loopback) Traffic() Traffic { return l.meter.Traffic() }

// stopped returns why no call can be made.
func (l *loopback) stopped(ctx context.Context) error {
	select {
	case <-l.aborted:
		return l.abort
	default:
	}
	if l.broken != nil {
		return &BrokenError{Err: l.broken}
	}
	if err := ctx.Err(); err != nil {
		return l.fallOut(err)
	}
	return nil
}

// fallOut notes that this rank is out of step because of err, and returns err.
func (l *loopback) fallOut(err error) error {
	l.broken = err
	return err
}

// meet returns when all ranks have arrived with a call. Each may then read the calls of the
// others, until all have called part.
func (l *loopback) meet(ctx context.Context, c call) error {
	if err := l.stopped(ctx); err != nil {
		return err
	}
	l.calls[l.rank] = c
	meeting, last := l.arrive(l.rank)
	if last {
		return l.mismatch
	}
	var err error
	select {
	case <-l.wake[l.rank]:
		return l.mismatch
	case <-l.aborted:
		err = l.abort
	case <-ctx.Done():
		err = ctx.Err()
	}
	if l.withdraw(l.rank, meeting) {
		return l.fallOut(err)
	}
	<-l.wake[l.rank]
	return l.mismatch
}

// part returns when all ranks that have met are done with each other's call. It needs no
// ctx: every rank that has met comes here.
func (l *loopback) part() {
	if _, last := l.arrive(l.rank); !last {
		<-l.wake[l.rank]
	}
}

func (l *loopback) Barrier(ctx context.Context) error {
	ctx = background.IfNil(ctx)
	start := time.Now()
	err := l.meet(ctx, call{what: "Barrier"})
	l.meter.Barrier(start, err)
	return err
}

func (l *loopback) Allreduce(ctx context.Context, x []float64) error {
	ctx = background.IfNil(ctx)
	start := time.Now()
	err := l.meet(ctx, call{what: "Allreduce", x: x})
	if err == nil {
		n, size := uint64(len(x)), uint64(l.Size())
		lo, hi := n*uint64(l.rank)/size, n*uint64(l.rank+1)/size
		l.sum(int(lo), int(hi))
		l.part()
	}
	l.meter.Allreduce(l, start, len(x), err)
	return err
}

// sum overwrites the components lo to hi of every rank's x with their sum.
func (l *loopback) sum(lo, hi int) {
	total := l.calls[0].x[lo:hi]
	for _, c := range l.calls[1:] {
		for i, v := range c.x[lo:hi] {
			total[i] += v
		}
	}
	for _, c := range l.calls[1:] {
		copy(c.x[lo:hi], total)
	}
}

func (l *loopback) Broadcast(ctx context.Context, root int, b []byte) ([]byte, error) {
	ctx = background.IfNil(ctx)
	start := time.Now()
	b, err := l.broadcast(ctx, root, b)
	l.meter.Broadcast(l, root, start, len(b), err)
	return b, err
}

func (l *loopback) broadcast(ctx context.Context, root int, b []byte) ([]byte, error) {
	if err := CheckRoot(l, root); err != nil {
		return nil, err
	}
	if err := l.meet(ctx, call{what: "Broadcast", root: root, b: b}); err != nil {
		return nil, err
	}
	if l.rank != root {
		b = bytes.Clone(l.calls[root].b)
	}
	l.part()
	return b, nil
}

func (l *loopback) Send(ctx context.Context, to int, b []byte) error {
	ctx = background.IfNil(ctx)
	start := time.Now()
	err := l.send(ctx, to, b)
	l.meter.Send(start, len(b), err)
	return err
}

func (l *loopback) send(ctx context.Context, to int, b []byte) error {
	if err := CheckPeer(l, to); err != nil {
		return err
	}
	if err := l.stopped(ctx); err != nil {
		return err
	}
	select {
	case l.pipe(l.rank, to) <- append([]byte{}, b...):
		return nil
	case <-l.aborted:
		return l.abort
	case <-ctx.Done():
		return l.fallOut(ctx.Err())
	}
}

func (l *loopback) Recv(ctx context.Context, from int) ([]byte, error) {
	ctx = background.IfNil(ctx)
	start := time.Now()
	b, err := l.recv(ctx, from)
	l.meter.Recv(start, len(b), err)
	return b, err
}

func (l *loopback) recv(ctx context.Context, from int) ([]byte, error) {
	if err := CheckPeer(l, from); err != nil {
		return nil, err
	}
	if err := l.stopped(ctx); err != nil {
		return nil, err
	}
	select {
	case b := <-l.pipe(from, l.rank):
		return b, nil
	case <-l.aborted:
		return nil, l.abort
	case <-ctx.Done():
		return nil, l.fallOut(ctx.Err())
	}
}
