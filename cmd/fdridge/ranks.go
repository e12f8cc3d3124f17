package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

// A link connects this process to the other processes of fit --mpi, which are called ranks.
type link interface {
	dist.Transport
	// Finalize leaves the MPI job. It returns after all ranks have called it.
	Finalize() error
}

// A joiner joins an MPI job.
type joiner struct {
	join func() (link, error)
	// grace is the time that an interrupted rank waits before it ends. The MPI launcher kills all ranks as soon as
	// one has ended, and other ranks may still be writing checkpoints.
	grace time.Duration
	// about returns a description of the MPI library. It is nil in a build without MPI.
	about func() string
}

// A rank is the connection of this process to an MPI job. Its method Abort prints the error as one line.
type rank struct{ link }

func (r rank) Abort(err error) {
	r.link.Abort(errors.New(message(err)))
}

// A remoteError is an error that this rank must not print: another rank prints it, or it was printed before.
type remoteError struct{ error }

func (e remoteError) Unwrap() error { return e.error }

// leaveJob ends this rank's part in the MPI job and returns the error to print. err is the result of the fit.
//   - After success or a missed tolerance, leaveJob waits for all ranks. Only rank 0 prints the missed tolerance.
//   - An interrupted rank sleeps for the duration grace.
//   - Any other error aborts all ranks.
func leaveJob(r rank, err error, grace time.Duration, stderr io.Writer) error {
	_, aborted := errors.AsType[*dist.AbortError](err)
	_, short := errors.AsType[*ridge.NotConvergedError](err)
	switch {
	case aborted:
		return remoteError{err}
	case err == nil || short:
		if e := r.Finalize(); e != nil || err == nil || r.Rank() == 0 {
			return cli.FirstError(e, err)
		}
		return remoteError{err}
	case errors.Is(err, context.Canceled) && r.Rank() == 0: // print now, because the launcher kills the job soon
		fmt.Fprintln(stderr, "fdridge: "+message(err))
		time.Sleep(grace)
		return remoteError{err}
	case errors.Is(err, context.Canceled): // a rank that is alive after the wait was interrupted alone
		time.Sleep(grace + grace/4)
		return fmt.Errorf("rank %d: %s", r.Rank(), message(err))
	}
	r.Abort(err)
	return err
}
