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
	// Send sends b to the rank with the number to. It may return before this rank has received b. After Send has
	// returned, the caller may change b.
	Send(ctx context.Context, to int, b []byte) error
	// Recv returns the next bytes that the rank with the number from sends to this rank. The caller may keep and
	// change the bytes.
	Recv(ctx context.Context, from int) ([]byte, error)
	// Broadcast sends the bytes b of the rank with the number root to every rank. The root returns b itself. The
	// other ranks ignore their argument b and return a copy, which the caller may keep and change.
	Broadcast(ctx context.Context, root int, b []byte) ([]byte, error)
	// Allreduce overwrites x with the sum of x over all ranks. Every rank gets the same bits. The transport chooses
	// the order of summation. If Allreduce returns an error, x is undefined.
	Allreduce(ctx context.Context, x []float64) error
	// Barrier returns when every rank has called it.
	Barrier(ctx context.Context) error
	// Abort ends the job on every rank. Running and later calls return an *[AbortError], which holds the number and
	// the error of the first rank that called Abort. If ranks are processes, Abort does not return. It writes the
	// error to the standard error and ends all processes. The exit code of this process is then not zero.
	Abort(err error)
	// Traffic returns the traffic of this rank so far.
	Traffic() Traffic
}

// ErrMismatch reports that the ranks made different collective calls, or the same call with different roots or
// lengths.
var ErrMismatch = errors.New("dist: the ranks did not make the same call")

// ErrRank reports a call with the number of a rank that does not exist, or a message from a rank to itself. Other
// ranks are not affected.
var ErrRank = errors.New("dist: no such rank")

// An AbortError reports that a rank has called Abort, which ended the job.
type AbortError struct {
	Rank int   // the first rank that aborted
	Err  error // its reason
}

func (e *AbortError) Error() string {
	return fmt.Sprintf("rank %d: %v", e.Rank, e.Err)
}

func (e *AbortError) Unwrap() error { return e.Err }

// A BrokenError reports that a call was refused because an earlier call of the same rank has failed. The rank can
// make no further call.
type BrokenError struct {
	Err error // error of the earlier call
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("dist: this rank lost step with the others: %v", e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// CheckPeer returns [ErrRank] unless peer is the number of a rank other than t. Implementations of [Transport] call
// it for messages.
func CheckPeer(t Transport, peer int) error {
	if peer < 0 || peer >= t.Size() || peer == t.Rank() {
		return fmt.Errorf("%w: %d, seen from rank %d of %d", ErrRank, peer, t.Rank(), t.Size())
	}
	return nil
}

// CheckRoot returns [ErrRank] unless root is the number of a rank. Implementations of [Transport] call it for
// broadcasts.
func CheckRoot(t Transport, root int) error {
	if root < 0 || root >= t.Size() {
		return fmt.Errorf("%w: root %d of %d", ErrRank, root, t.Size())
	}
	return nil
}
