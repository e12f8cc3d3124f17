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
	broken     error // of the call in which this rank fell out of step, nil for none
}

var _ dist.Transport = (*Comm)(nil)

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

// givenUp returns the error of a call whose ctx was cancelled. Normally the call ends by
// itself when it next looks at ctx. Where bytes are moving it does not look, and where
// another rank has given up as well it may never end: so it is waited for no longer than
// grace.
func (c *Comm) givenUp(ctx context.Context) error {
	select {
	case err := <-c.done:
		return err
	case <-time.After(grace):
		return ctx.Err()
	}
}
