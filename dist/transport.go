package dist

import (
	"context"
	"errors"
	"fmt"
)

// A Transport connects the ranks of one computation, numbered from 0 to Size-1.
//
// Broadcast, Allreduce and Barrier are collective: every rank must make the same calls in the same order, with the
// same root and the same length of x. If calls differ and the transport detects it, all ranks get [ErrMismatch] and
// may continue. Messages from one rank to another arrive in order.
//
// Only one goroutine of a rank may make calls at a time. Rank, Size, Abort and Traffic may be called at any time.
//
// If ctx is cancelled, a call returns the error of ctx at once instead of waiting for other ranks. All later calls
// of this rank then return a *[BrokenError], while the other ranks continue to wait until their own ctx ends. Every
// error except ErrMismatch and ErrRank has this effect. A rank with such an error, or with an error in its own
// work, must therefore call Abort. Nothing else informs the other ranks.
type Transport interface {
	// Rank returns the number of this rank, from 0.
	Rank() int
	// Size returns the number of ranks.
	Size() int
	// Send sends b to another rank. It may return before that rank has received b. The caller may then change b.
	Send(ctx context.Context, to int, b []byte) error
	// Recv returns the next bytes sent by another rank. The caller owns them.
	Recv(ctx context.Context, from int) ([]byte, error)
	// Broadcast returns the root's b on every rank. The root gets b itself. The other ranks get bytes that the
	// caller owns, and their b is ignored.
	Broadcast(ctx context.Context, root int, b []byte) ([]byte, error)
	// Allreduce overwrites x with its sum over the ranks, with the same bits on every rank. The transport chooses
	// the order of summation. After an error the content of x is undefined.
	Allreduce(ctx context.Context, x []float64) error
	// Barrier returns when every rank has called it.
	Barrier(ctx context.Context) error
	// Abort ends the job on every rank. Current and later calls return an *[AbortError] with the first rank that aborted and its
	// error. If ranks are processes, Abort does not return: it writes the error to the standard error and ends the processes of all
	// ranks, this one with a non-zero exit code.
	Abort(err error)
	// Traffic returns the traffic of this rank so far.
	Traffic() Traffic
}

// ErrMismatch reports that the ranks made different collective calls, or the same call with different roots or
// lengths.
var ErrMismatch = errors.New("dist: the ranks did not make the same call")

// ErrRank reports a rank that does not exist, or the caller's own rank where another rank is required. The other ranks
// are not affected.
var ErrRank = errors.New("dist: no such rank")

// An AbortError reports that a rank has ended the job.
type AbortError struct {
	Rank int   // the first rank that aborted
	Err  error // its reason
}

func (e *AbortError) Error() string { return fmt.Sprintf("rank %d: %v", e.Rank, e.Err) }

func (e *AbortError) Unwrap() error { return e.Err }

// A BrokenError reports a call on a rank whose earlier call has failed. Such a rank can take part in no
// further call.
type BrokenError struct {
	Err error // error of the earlier call
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("dist: this rank lost step with the others: %v", e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// CheckPeer returns [ErrRank] if peer is not a rank of t, or is the own rank of t. Implementations of Transport use
// it.
func CheckPeer(t Transport, peer int) error {
	if peer < 0 || peer >= t.Size() || peer == t.Rank() {
		return fmt.Errorf("%w: %d, seen from rank %d of %d", ErrRank, peer, t.Rank(), t.Size())
	}
	return nil
}

// CheckRoot returns [ErrRank] if root is not a rank of t. Implementations of Transport use it.
func CheckRoot(t Transport, root int) error {
	if root < 0 || root >= t.Size() {
		return fmt.Errorf("%w: root %d of %d", ErrRank, root, t.Size())
	}
	return nil
}
