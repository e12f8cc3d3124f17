//go:build mpi && cgo

package mpi

// #cgo pkg-config: mpi
// #include "layer.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/fdridge/fdridge/dist"
)

// A Comm is this process's rank in the job that mpirun or srun has started. It is a
// [dist.Transport].
//
// All calls of MPI are made by one goroutine that stays on one thread, which asks of
// the library no more than MPI_THREAD_FUNNELED. A rank waits for the others in
// non-blocking calls of a few bytes, which it looks at between sleeps of up to a
// millisecond: so more ranks than cores do not spin against each other, and a
// cancelled ctx ends the wait. Only when all have arrived do bytes move, by blocking
// calls straight from and to the caller's memory.
//
// The sum of Allreduce is MPI_Allreduce's, which the standard requires to be identical
// on all processes (MPI 3.1, section 5.9.6). Its order of summation is the library's,
// and the same from run to run where the library follows the advice of section 5.9.1.
type Comm struct {
	rank, size int
	link       *C.fdr_link
	most       int // bytes in one call of MPI
	work       chan func() error
	done       chan error
	aborted    chan struct{}
	abort      sync.Once
	meter      dist.Meter
	broken     error // what the call returned that fell out of step
}

var _ dist.Transport = (*Comm)(nil)

// most is the bytes of one call of MPI, 1 MiB, where more are divided. Counts of MPI
// have 32 bits. And a sum in place takes memory of the same size, in the library, for
// each call: 100 MB in one call took ten times as long and more, between two processes
// of one machine, as in calls of 1 MiB. That is still far more than what a network
// moves in the time of its latency.
const most = 1 << 20

// grace is how long a cancelled call goes on whose bytes are on their way, before it
// is given up.
const grace = 500 * time.Millisecond

// Init starts MPI, once in a process. It returns when all processes of the job have
// called it; one that was started alone is a job of one rank.
func Init() (*Comm, error) {
	c := &Comm{
		most:    most,
		work:    make(chan func() error),
		done:    make(chan error, 1),
		aborted: make(chan struct{}),
	}
	go c.serve()
	if err := <-c.done; err != nil {
		return nil, err
	}
	return c, nil
}

// serve makes all calls of MPI.
func (c *Comm) serve() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.init()
	c.done <- err
	if err != nil {
		return
	}
	for {
		select {
		case f, ok := <-c.work:
			if !ok {
				return
			}
			c.done <- f()
		case <-c.aborted:
			c.die()
		}
	}
}

func (c *Comm) init() error {
	if C.fdr_initialized() != 0 {
		return errors.New("mpi: Init was called before")
	}
	c.link = (*C.fdr_link)(C.malloc(C.sizeof_fdr_link))
	var rank, size, enough C.int
	if err := check("starting MPI", C.fdr_init(c.link, &rank, &size, &enough)); err != nil {
		return err
	}
	if enough == 0 {
		return errors.New("mpi: the library does not allow threads, not even beside the one that calls it (MPI_THREAD_FUNNELED)")
	}
	c.rank, c.size = int(rank), int(size)
	return nil
}

// Finalize ends MPI when all ranks have called it; c is of no more use. A process that
// ends without it ends the job. A rank that is out of step returns a
// *[dist.BrokenError] and should Abort.
func (c *Comm) Finalize() error {
	err := c.do(context.Background(), func() error {
		if err := c.meet(context.Background(), terms{what: callFinalize}); err != nil {
			return err
		}
		return check("MPI_Finalize", C.fdr_finalize(c.link))
	})
	if err != nil {
		return err
	}
	close(c.work)
	c.broken = errors.New("mpi: Finalize was called")
	C.free(unsafe.Pointer(c.link))
	return nil
}

// Rank is the number of this process.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of processes.
func (c *Comm) Size() int { return c.size }

// Traffic is what this rank has moved so far.
func (c *Comm) Traffic() dist.Traffic { return c.meter.Traffic() }

// Abort writes the rank and err to the standard error, ends all processes of the job
// by MPI_Abort and does not return. Where this rank is stuck in a call it ends the
// process alone, and mpirun or srun the others.
func (c *Comm) Abort(err error) {
	c.abort.Do(func() {
		fmt.Fprintln(os.Stderr, &dist.AbortError{Rank: c.rank, Err: err})
		close(c.aborted)
	})
	time.Sleep(grace)
	os.Exit(1)
}

// die ends the job.
func (c *Comm) die() {
	C.fdr_abort(c.link)
	os.Exit(1)
}

// do has the serving goroutine make a call.
func (c *Comm) do(ctx context.Context, f func() error) error {
	if c.broken != nil {
		return &dist.BrokenError{Err: c.broken}
	}
	err := ctx.Err()
	if err == nil {
		c.work <- f
		select {
		case err = <-c.done:
		case <-ctx.Done():
			err = c.givenUp(ctx)
		}
	}
	if err != nil && !errors.Is(err, dist.ErrMismatch) {
		c.broken = err
	}
	return err
}

// givenUp returns what a call returns whose ctx was cancelled. It waits for no more
// than the next look at ctx, unless all ranks have arrived and bytes are moving; if
// then another rank gave up too, this may take for ever.
func (c *Comm) givenUp(ctx context.Context) error {
	select {
	case err := <-c.done:
		return err
	case <-time.After(grace):
		return ctx.Err()
	}
}

// wait returns when the non-blocking call under way is done.
func (c *Comm) wait(ctx context.Context) error {
	for start := time.Now(); ; {
		var done C.int
		if err := check("MPI_Test", C.fdr_test(c.link, &done)); err != nil || done != 0 {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-c.aborted:
			c.die()
		default:
		}
		time.Sleep(pause(time.Since(start)))
	}
}

// pause is how long to sleep after having waited in vain: not at all at first, then an
// eighth of it, so that sleep delays a call by no more than that, up to a millisecond.
func pause(waited time.Duration) time.Duration {
	if waited < 100*time.Microsecond {
		return 0
	}
	return min(waited/8, time.Millisecond)
}

// terms are what the ranks have to agree on before a collective call, and the length
// that the root announces.
type terms struct {
	what   int
	arg    int // the root, or the length of x
	length int // on the root
}

// What a rank may call.
const (
	callBarrier = iota
	callBroadcast
	callAllreduce
	callFinalize
)

// meet returns when all ranks have called it, with the length that the root has
// announced in c.link.all. Each gives its terms v as v and -v: the largest of either
// over the ranks are a number and its negative where all gave the same.
func (c *Comm) meet(ctx context.Context, t terms) error {
	what, arg := C.int64_t(t.what), C.int64_t(t.arg)
	c.link.mine = [C.TERMS]C.int64_t{what, -what, arg, -arg, C.int64_t(t.length)}
	if err := check("MPI_Iallreduce", C.fdr_imax(c.link)); err != nil {
		return err
	}
	if err := c.wait(ctx); err != nil {
		return err
	}
	if all := c.link.all; all[0] != -all[1] || all[2] != -all[3] {
		return dist.ErrMismatch
	}
	return nil
}

// Barrier returns when every rank has called it.
func (c *Comm) Barrier(ctx context.Context) error {
	start := time.Now()
	err := c.do(ctx, func() error { return c.meet(ctx, terms{what: callBarrier}) })
	c.meter.Barrier(start, err)
	return err
}

// Allreduce overwrites x with its sum over the ranks. See [dist.Transport]; after an
// error x is not to be used again, since the library may still do so.
func (c *Comm) Allreduce(ctx context.Context, x []float64) error {
	start := time.Now()
	err := c.do(ctx, func() error {
		if err := c.meet(ctx, terms{what: callAllreduce, arg: len(x)}); err != nil {
			return err
		}
		for part := range pieces(x, c.most/8) {
			if err := check("MPI_Allreduce", C.fdr_sum(c.link, unsafe.Pointer(&part[0]), C.int(len(part)))); err != nil {
				return err
			}
		}
		return nil
	})
	c.meter.Allreduce(c, start, len(x), err)
	return err
}

// Broadcast returns root's b on every rank. See [dist.Transport].
func (c *Comm) Broadcast(ctx context.Context, root int, b []byte) ([]byte, error) {
	start := time.Now()
	err := dist.CheckRoot(c, root)
	if err == nil {
		err = c.do(ctx, func() error { return c.broadcast(ctx, root, &b) })
	}
	if err != nil {
		c.meter.Broadcast(c, root, start, 0, err)
		return nil, err
	}
	c.meter.Broadcast(c, root, start, len(b), nil)
	return b, nil
}

func (c *Comm) broadcast(ctx context.Context, root int, b *[]byte) error {
	t := terms{what: callBroadcast, arg: root}
	if c.rank == root {
		t.length = len(*b)
	}
	if err := c.meet(ctx, t); err != nil {
		return err
	}
	if c.rank != root {
		*b = make([]byte, c.link.all[4])
	}
	for part := range pieces(*b, c.most) {
		if err := check("MPI_Bcast", C.fdr_bcast(c.link, unsafe.Pointer(&part[0]), C.int(len(part)), C.int(root))); err != nil {
			return err
		}
	}
	return nil
}

// Send sends b to another rank, once that has called Recv. See [dist.Transport].
func (c *Comm) Send(ctx context.Context, to int, b []byte) error {
	start := time.Now()
	err := dist.CheckPeer(c, to)
	if err == nil {
		err = c.do(ctx, func() error { return c.send(ctx, to, b) })
	}
	c.meter.Send(start, len(b), err)
	return err
}

// send announces the length by a synchronous call, which is done when the receiver
// waits for it.
func (c *Comm) send(ctx context.Context, to int, b []byte) error {
	c.link.mine[0] = C.int64_t(len(b))
	if err := check("MPI_Issend", C.fdr_issend_length(c.link, C.int(to))); err != nil {
		return err
	}
	if err := c.wait(ctx); err != nil {
		return err
	}
	for part := range pieces(b, c.most) {
		if err := check("MPI_Send", C.fdr_send(c.link, unsafe.Pointer(&part[0]), C.int(len(part)), C.int(to))); err != nil {
			return err
		}
	}
	return nil
}

// Recv returns the next bytes that another rank has sent. See [dist.Transport].
func (c *Comm) Recv(ctx context.Context, from int) ([]byte, error) {
	start := time.Now()
	var b []byte
	err := dist.CheckPeer(c, from)
	if err == nil {
		err = c.do(ctx, func() error { return c.recv(ctx, from, &b) })
	}
	if err != nil {
		c.meter.Recv(start, 0, err)
		return nil, err
	}
	c.meter.Recv(start, len(b), nil)
	return b, nil
}

func (c *Comm) recv(ctx context.Context, from int, b *[]byte) error {
	if err := check("MPI_Irecv", C.fdr_irecv_length(c.link, C.int(from))); err != nil {
		return err
	}
	if err := c.wait(ctx); err != nil {
		return err
	}
	*b = make([]byte, c.link.all[0])
	for part := range pieces(*b, c.most) {
		if err := check("MPI_Recv", C.fdr_recv(c.link, unsafe.Pointer(&part[0]), C.int(len(part)), C.int(from))); err != nil {
			return err
		}
	}
	return nil
}

// pieces yields x in pieces of at most n, none of them empty: their memory goes to cgo as
// &part[0], written out in the call, so that cgo looks for pointers in the slice alone and
// not in the object in which it lies.
func pieces[T any](x []T, n int) func(yield func([]T) bool) {
	return func(yield func([]T) bool) {
		for len(x) > 0 {
			k := min(n, len(x))
			if !yield(x[:k]) {
				return
			}
			x = x[k:]
		}
	}
}

// An Error is one that a call of MPI has returned.
type Error struct {
	Call string // the function's name
	Code int
	Text string // the library's words for it
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (error %d)", e.Call, e.Text, e.Code) }

func check(call string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	var text [C.ERROR_STRING]C.char
	var n C.int
	C.MPI_Error_string(code, &text[0], &n)
	return &Error{Call: call, Code: int(code), Text: C.GoStringN(&text[0], n)}
}

// Version is what the MPI library says of itself, on one line. It may be asked at any
// time.
func Version() string {
	var text [C.VERSION_STRING]C.char
	var n C.int // counts the closing zero too, with Open MPI
	C.MPI_Get_library_version(&text[0], &n)
	return strings.Join(strings.Fields(C.GoString(&text[0])), " ")
}
