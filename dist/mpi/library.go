//go:build mpi && cgo

package mpi

// #include "layer.h"
import "C"

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// most is the most bytes of one call of MPI, 1 MiB; more are divided into several calls.
// Counts of MPI have 32 bits. And for a sum in place the library takes memory of the same
// size in each call: between two processes of one machine 100 MB in one call took at least
// ten times as long as in calls of 1 MiB. 1 MiB is still far more than a network moves in
// the time of its latency.
const most = 1 << 20

// pieces yields x in pieces of at most n, none of them empty. A caller passes the memory of
// a piece to C as &part[0], written in the call itself: then cgo looks for pointers only in
// the slice, and not in the whole object that the slice is part of.
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
