package dist

import (
	"context"
	"errors"
	"fmt"
)

// A Transport connects the ranks of one computation, numbered from 0 to Size-1.
//
// Broadcast, Allreduce and Barrier are collective: every rank makes the same
// calls in the same order, with the same root and the same length of x. Where
// they do not, and the transport can see it, all ranks get [ErrMismatch] and may
// go on. Messages from one rank to another arrive in the order they were sent.
//
// One goroutine of a rank at a time makes calls; any may call Rank, Size, Abort
// and Traffic at any time.
//
// A ctx that is cancelled ends the wait for other ranks at once, and the call
// returns its error. This rank then no longer keeps step with the others, so that
// all its later calls return a *[BrokenError]; the others wait on, each for its
// own ctx. The same holds for any other failure but ErrMismatch and ErrRank. So a
// rank that gets an error, here or in its own work, calls Abort: nobody else will
// tell the other ranks.
type Transport interface {
	// Rank is the number of this rank, from 0.
	Rank() int
	// Size is the number of ranks.
	Size() int
	// Send sends b to another rank. It may return before or only after that rank has
	// received it; b may be changed afterwards.
	Send(ctx context.Context, to int, b []byte) error
	// Recv returns the next bytes that another rank has sent to this one. They are
	// the caller's own.
	Recv(ctx context.Context, from int) ([]byte, error)
	// Broadcast returns root's b on every rank: b itself on the root, bytes of the
	// caller's own on the others, whose b is not looked at.
	Broadcast(ctx context.Context, root int, b []byte) ([]byte, error)
	// Allreduce overwrites x with its sum over the ranks, the same bits on every
	// rank. The order of summation is the transport's. After an error x holds nothing
	// of use.
	Allreduce(ctx context.Context, x []float64) error
	// Barrier returns when every rank has called it.
	Barrier(ctx context.Context) error
	// Abort ends the job on every rank because of err. Calls under way and later ones
	// return an *[AbortError] with the rank that was first to abort and its error. Where
	// ranks are processes Abort does not return: it writes that error to the standard
	// error and ends the processes of all ranks, this one with a non-zero exit.
	Abort(err error)
	// Traffic is what this rank has moved so far.
	Traffic() Traffic
}

// ErrMismatch reports that the ranks did not all make the same collective call:
// another one, another root or another length.
var ErrMismatch = errors.New("dist: the ranks do not make the same call")

// ErrRank reports a rank that is not there, or that is the caller's own where
// it must be another. No other rank was involved.
var ErrRank = errors.New("dist: no such rank")

// An AbortError reports that a rank has ended the job.
type AbortError struct {
	Rank int   // the first rank to abort
	Err  error // why
}

func (e *AbortError) Error() string { return fmt.Sprintf("rank %d: %v", e.Rank, e.Err) }

func (e *AbortError) Unwrap() error { return e.Err }

// A BrokenError reports a call on a rank that fell out of step in a call before.
type BrokenError struct {
	Err error // what that call returned
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("dist: this rank is out of step with the others since: %v", e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// CheckPeer returns [ErrRank] unless peer is a rank of t other than t's own. It is
// for those who implement a Transport.
func CheckPeer(t Transport, peer int) error {
	if peer < 0 || peer >= t.Size() || peer == t.Rank() {
		return fmt.Errorf("%w: %d, seen from rank %d of %d", ErrRank, peer, t.Rank(), t.Size())
	}
	return nil
}

// CheckRoot returns [ErrRank] unless root is a rank of t. It is for those who
// implement a Transport.
func CheckRoot(t Transport, root int) error {
	if root < 0 || root >= t.Size() {
		return fmt.Errorf("%w: root %d of %d", ErrRank, root, t.Size())
	}
	return nil
}
