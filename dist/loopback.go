package dist

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"
)

// Loopback returns size connected ranks in this process, where size must be at least 1. Each rank is for one
// goroutine.
//
// Messages are copied, so that the ranks share no memory. Allreduce adds the numbers in the order of the ranks, so
// that sums do not depend on timing. Send returns after the receiver has received the bytes.
func Loopback(size int) []Transport {
	if size < 1 {
		panic("dist: Loopback needs at least one rank")
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

// A call is one rank's collective call.
type call struct {
	what string
	root int
	x    []float64
	b    []byte
}

func (c call) same(o call) bool {
	return c.what == o.what &&
		c.root == o.root &&
		len(c.x) == len(o.x)
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

// A hub is the memory that the ranks share. When all ranks have arrived with their collective calls, a meeting
// takes place.
type hub struct {
	mu       sync.Mutex
	calls    []call // current call of each rank, set before the rank arrives
	arrived  int
	meetings uint64 // number of meetings that took place
	mismatch error  // error if the calls of the last meeting were different
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

// arrive adds a rank to the next meeting, which takes place when all ranks have arrived. If the rank is the last to
// arrive, last is true, and arrive wakes the other ranks.
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

// withdraw cancels the call of a rank that waits for a meeting. If this meeting has taken place already, it returns
// false.
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

// A loopback is one of the ranks that [Loopback] returns.
type loopback struct {
	*hub
	rank   int
	meter  Meter
	broken error // error after which this rank can make no further call; nil otherwise
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

// stopped returns an error if this rank cannot make a call, otherwise nil.
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
		return l.markBroken(err)
	}
	return nil
}

// markBroken makes all later calls of this rank fail because of err. It returns err.
func (l *loopback) markBroken(err error) error {
	l.broken = err
	return err
}

// meet waits until all ranks have called meet. This rank may then read the calls of the other ranks until it calls
// leave. If the ranks made different calls, meet returns an error.
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
		return l.markBroken(err)
	}
	<-l.wake[l.rank]
	return l.mismatch
}

// leave waits until every rank has called leave, and so has finished reading the calls of the other ranks.
func (l *loopback) leave() {
	if _, last := l.arrive(l.rank); !last {
		<-l.wake[l.rank]
	}
}

func (l *loopback) Barrier(ctx context.Context) error {
	start := time.Now()
	err := l.meet(ctx, call{what: "Barrier"})
	l.meter.Barrier(start, err)
	return err
}

func (l *loopback) Allreduce(ctx context.Context, x []float64) error {
	start := time.Now()
	err := l.meet(ctx, call{what: "Allreduce", x: x})
	if err == nil {
		n := uint64(len(x))
		size := uint64(l.Size())
		lo := n * uint64(l.rank) / size
		hi := n * uint64(l.rank+1) / size
		l.sum(int(lo), int(hi))
		l.leave()
	}
	l.meter.Allreduce(l, start, len(x), err)
	return err
}

// sum replaces elements lo to hi of x, hi excluded, on every rank by their sum over all ranks.
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
	l.leave()
	return b, nil
}

func (l *loopback) Send(ctx context.Context, to int, b []byte) error {
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
		return l.markBroken(ctx.Err())
	}
}

func (l *loopback) Recv(ctx context.Context, from int) ([]byte, error) {
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
		return nil, l.markBroken(ctx.Err())
	}
}
