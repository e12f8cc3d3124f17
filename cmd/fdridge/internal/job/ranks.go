package job

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

// A Link connects this process to the other ranks.
type Link interface {
	dist.Transport
	// Finalize ends the job when all ranks have called it.
	Finalize() error
}

// A Joiner makes the link.
type Joiner struct {
	Join func() (Link, error)
	// Grace is how long a rank that was interrupted stays after it is ready. When one ends
	// the launcher ends the others, and these may still write their checkpoints.
	Grace time.Duration
	// About is what the library says of itself, nil where there is none.
	About func() string
}

// Ranks are the processes that make a fit together, of which this is one; nil is a process
// alone.
type Ranks struct {
	Link
	grace time.Duration
	start time.Time
}

// Join makes this process one of several.
func Join(j Joiner) (*Ranks, error) {
	l, err := j.Join()
	if err != nil {
		return nil, err
	}
	return &Ranks{Link: l, grace: j.Grace, start: time.Now()}, nil
}

// Leads tells that this rank reports.
func (r *Ranks) Leads() bool { return r == nil || r.Rank() == 0 }

// Share is this rank's part of the rows.
func (r *Ranks) Share() dataset.Share {
	if r == nil {
		return dataset.Share{}
	}
	return dataset.Share{Rank: r.Rank(), Size: r.Size()}
}

// count is the number of ranks, 0 of a process alone.
func (r *Ranks) count() int {
	if r == nil {
		return 0
	}
	return r.Size()
}

// A ToldError is one that another rank tells.
type ToldError struct{ error }

// Unwrap is the error that is told.
func (e ToldError) Unwrap() error { return e.error }

// End leaves the job with the error that this rank ended in, and returns the one that it is
// to tell. An error that all ranks have is rank 0's to tell; any other ends the job on all of
// them. message makes the line of an error that is written to stderr, and sent to the others.
func (r *Ranks) End(err error, message func(error) string, stderr io.Writer) error {
	var aborted *dist.AbortError
	var short *ridge.NotConvergedError
	switch {
	case err == nil:
		return r.Finalize()
	case errors.As(err, &aborted):
		return ToldError{err}
	case errors.As(err, &short):
		if e := r.Finalize(); e != nil {
			return e
		}
		if r.Leads() {
			return err
		}
		return ToldError{err}
	case isInterruption(err):
		return r.interrupted(message(err), stderr)
	}
	r.Abort(errors.New(message(err)))
	return err
}

// interrupted tells of an interruption. Rank 0 does so at once, before the launcher loses
// patience. Any other rank waits: where nobody has ended the job by then it was interrupted
// alone, and says so.
func (r *Ranks) interrupted(message string, stderr io.Writer) error {
	if r.Leads() {
		fmt.Fprintln(stderr, "fdridge: "+message)
		time.Sleep(r.grace)
		return ToldError{errors.New(message)}
	}
	time.Sleep(r.grace + r.grace/4)
	return &InterruptedError{fmt.Sprintf("rank %d: %s", r.Rank(), message)}
}
