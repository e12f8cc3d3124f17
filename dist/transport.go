package dist

import (
	"context"
	"errors"
	"fmt"
)

// A Transport connects the ranks of one computation, numbered from 0 to Size-1.
//
// Broadcast, Allreduce and Barrier are collective: every rank must make the same calls in the same order, with the
// same root and the same length of x. If the transport detects different calls, all ranks get [ErrMismatch] and may
// continue. Messages from one rank to another arrive in order.
//
// Only one goroutine of a rank may make calls at a time. Rank, Size, Abort and Traffic may be called at any time.
//
// If ctx is cancelled, a call does not wait for other ranks and returns the error of ctx. After an error other than
// ErrMismatch and ErrRank, all later calls of this rank return a *[BrokenError], while the other ranks still wait. A
// rank that gets such an error, or fails in its own work, must therefore call Abort to inform the other ranks.
type Transport interface {
	// Rank returns the number of this rank, from 0.
	Rank() int
	// Size returns the number of ranks.
	Size() int
	// Send sends b to another rank. It may return before b is received. After it has returned, the caller may change b.
	Send(ctx context.Context, to int, b []byte) error
	// Recv returns the next bytes sent by another rank. The caller may keep and change them.
	Recv(ctx context.Context, from int) ([]byte, error)
	// Broadcast sends the root's b to every rank. The root returns b itself. The other ranks ignore their argument b
	// and return a copy that belongs to the caller.
	Broadcast(ctx context.Context, root int, b []byte) ([]byte, error)
	// Allreduce overwrites x with its sum over the ranks, with the same bits on every rank. The transport chooses the
	// order of summation. After an error x is undefined.
	Allreduce(ctx context.Context, x []float64) error
	// Barrier returns when every rank has called it.
	Barrier(ctx context.Context) error
	// Abort ends the job on every rank. Current and later calls return an *[AbortError] with the number and the error
	// of the first rank that called Abort. If ranks are processes, Abort does not return: it writes the error to the
	// standard error and ends all processes, this process with a non-zero exit code.
	Abort(err error)
	// Traffic returns the traffic of this rank so far.
	Traffic() Traffic
}

// ErrMismatch reports that the ranks made different collective calls, or calls with different roots or lengths.
var ErrMismatch = errors.New("dist: the ranks did not make the same call")

// ErrRank reports a rank that does not exist, or a message to the own rank. Other ranks are not affected.
var ErrRank = errors.New("dist: no such rank")

// An AbortError reports that a rank has ended the job.
type AbortError struct {
	Rank int   // the first rank that aborted
	Err  error // its reason
}

func (e *AbortError) Error() string {
	return fmt.Sprintf("rank %d: %v", e.Rank, e.Err)
}

func (e *AbortError) Unwrap() error { return e.Err }

// A BrokenError reports a call on a rank that can make no further call, because an earlier call has failed.
type BrokenError struct {
	Err error // error of the earlier call
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("dist: this rank lost step with the others: %v", e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// CheckPeer returns [ErrRank] if peer is not another rank of t. Implementations of Transport use it.
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
