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

// maxCallBytes limits the number of bytes in one MPI call. A limit is necessary, because MPI counts elements in 32
// bits, and because an in-place sum allocates memory. Between processes of one machine, 100 MB took ten times as
// long in one call as in pieces of 1 MiB.
const maxCallBytes = 1 << 20

// pieces divides x into pieces of at most n elements and yields them in order. Callers must write &piece[0] in the
// argument list of the C function. Otherwise cgo looks for pointers in all memory around the piece.
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

// wait returns when the current non-blocking call is done.
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
			c.abortJob()
		default:
		}
		time.Sleep(pause(time.Since(start)))
	}
}

// pause returns the time to sleep before the next poll. It is 0 in the first 100 microseconds, and then an eighth
// of the time waited so far, at most a millisecond.
func pause(waited time.Duration) time.Duration {
	if waited < 100*time.Microsecond {
		return 0
	}
	return min(waited/8, time.Millisecond)
}

// An Error is an error that a function of MPI returned.
type Error struct {
	Call string // name of the function
	Code int
	Text string // text from the library
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (error %d)", e.Call, e.Text, e.Code)
}

func check(call string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	var text [C.ERROR_STRING]C.char
	var n C.int
	C.MPI_Error_string(code, &text[0], &n)
	return &Error{Call: call, Code: int(code), Text: C.GoStringN(&text[0], n)}
}

// Version returns the name and version of the MPI library on one line. It may be called at any time, also before
// Init.
func Version() string {
	var text [C.VERSION_STRING]C.char
	var n C.int // with Open MPI it counts the final zero too
	C.MPI_Get_library_version(&text[0], &n)
	return strings.Join(strings.Fields(C.GoString(&text[0])), " ")
}
