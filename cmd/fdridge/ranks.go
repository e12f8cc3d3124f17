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

// A link connects this process to the other processes of the command fit --mpi. These processes are called ranks.
type link interface {
	dist.Transport
	// Finalize leaves the MPI job. It returns after all processes of the job have called it.
	Finalize() error
}

// A joiner joins an MPI job.
type joiner struct {
	join func() (link, error)
	// grace is how long an interrupted process waits before it ends. The MPI launcher kills all processes as soon
	// as one has ended. In this time the others can finish writing checkpoints.
	grace time.Duration
	// about returns a description of the MPI library. It is nil if the program was built without MPI.
	about func() string
}

// A rank is the connection of this process to an MPI job. Its method Abort passes on the error as one line of
// text.
type rank struct{ link }

func (r rank) Abort(err error) {
	r.link.Abort(errors.New(message(err)))
}

// A remoteError is an error that this process must not print, because it is printed already or another process of
// the MPI job prints it.
type remoteError struct{ error }

func (e remoteError) Unwrap() error { return e.error }

// leaveJob ends the part of this process (rank) in the MPI job. The argument err is the result of the fit. leaveJob
// returns the error to print, or a remoteError if this process must not print it.
//   - If the fit succeeded or missed its tolerance, leaveJob waits for all ranks. Only rank 0 prints a missed
//     tolerance.
//   - If the fit was interrupted, leaveJob waits at least for the duration grace, so that the other ranks can
//     write checkpoints.
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
