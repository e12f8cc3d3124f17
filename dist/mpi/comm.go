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

// A Comm is the rank of this process in the job that mpirun or srun started. It implements [dist.Transport].
//
// One goroutine on one thread makes all calls of MPI, so the thread level MPI_THREAD_FUNNELED suffices. A rank
// waits for other ranks by polling a non-blocking call of a few bytes. Between polls it sleeps up to a millisecond.
// Waiting therefore does not occupy a core, and ends if ctx is cancelled. When all ranks have arrived, blocking
// calls move the data.
//
// Allreduce uses MPI_Allreduce, which gives identical sums on all processes (MPI 3.1, section 5.9.6). The library
// chooses the order of summation. This order is the same in every run if the library follows the advice of section
// 5.9.1.
type Comm struct {
	rank, size   int
	link         *C.fdr_link
	maxCallBytes int // largest number of bytes in one call of MPI
	work         chan func() error
	done         chan error
	aborted      chan struct{}
	abort        sync.Once
	meter        dist.Meter
	broken       error // error after which this rank can make no further call; nil otherwise
}

var _ dist.Transport = (*Comm)(nil)

// cancelTimeout is the time that a call may take to end after its context was cancelled. The call needs time
// because it may be moving data.
const cancelTimeout = 500 * time.Millisecond

// Init starts MPI and waits until all processes of the job have called Init. A process may call Init only once. If
// a process was not started by mpirun or srun, it is a job of one rank.
func Init() (*Comm, error) {
	c := &Comm{
		maxCallBytes: maxCallBytes,
		work:         make(chan func() error),
		done:         make(chan error, 1),
		aborted:      make(chan struct{}),
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
			c.abortJob()
		}
	}
}

func (c *Comm) init() error {
	if C.fdr_initialized() != 0 {
		return errors.New("mpi: Init was called before")
	}
	c.link = (*C.fdr_link)(C.malloc(C.sizeof_fdr_link))
	var rank, size, enough C.int
	err := check("starting MPI", C.fdr_init(c.link, &rank, &size, &enough))
	if err != nil {
		return err
	}
	if enough == 0 {
		return errors.New("mpi: the library does not support a program with threads (MPI_THREAD_FUNNELED)")
	}
	c.rank, c.size = int(rank), int(size)
	return nil
}

// Finalize waits until all ranks have called Finalize, and ends MPI. The Comm must not be used afterwards. A
// process that exits without Finalize ends the job. If an earlier call has failed on this rank, Finalize returns a
// *[dist.BrokenError]. The caller must then call Abort.
func (c *Comm) Finalize() error {
	err := c.do(context.Background(), func() error {
		if err := c.meet(context.Background(), terms{kind: callFinalize}); err != nil {
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

// Rank returns the number of this process.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of processes.
func (c *Comm) Size() int { return c.size }

// Traffic returns the traffic of this rank so far.
func (c *Comm) Traffic() dist.Traffic { return c.meter.Traffic() }

// Abort writes the number of this rank and err to the standard error. It ends all processes of the job by MPI_Abort
// and does not return. If this rank is blocked in a call of MPI, Abort ends only this process, and mpirun or srun
// ends the others.
func (c *Comm) Abort(err error) {
	c.abort.Do(func() {
		fmt.Fprintln(os.Stderr, &dist.AbortError{Rank: c.rank, Err: err})
		close(c.aborted)
	})
	time.Sleep(cancelTimeout)
	os.Exit(1)
}

// abortJob ends the job.
func (c *Comm) abortJob() {
	C.fdr_abort(c.link)
	os.Exit(1)
}

// do runs f in the goroutine that calls MPI.
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
			err = c.awaitCancelled(ctx)
		}
	}
	if err != nil && !errors.Is(err, dist.ErrMismatch) {
		c.broken = err
	}
	return err
}

// awaitCancelled returns the error of a call whose ctx was cancelled. If the call does not end within
// cancelTimeout, it returns the error of ctx. A call that moves data does not look at ctx, and may never end if
// another rank was cancelled too.
func (c *Comm) awaitCancelled(ctx context.Context) error {
	select {
	case err := <-c.done:
		return err
	case <-time.After(cancelTimeout):
		return ctx.Err()
	}
}
