package ridge

import (
	"context"
)

// A Reducer adds up the results of several workers. Each worker has a part of the rows. A dist.Transport is a Reducer.
//
// Each worker calls [SolvePath] with its own part of the rows, which may be empty. The summary must be a summary of
// the rows of all workers. The summary, the γ and the options must be the same on all workers, bit for bit. All
// workers then take the same steps and stop together, and their solutions and certificates are for all rows.
//
// After a pass that multiplies q vectors v by AᵀA, a worker calls Allreduce once with q·(d + 2) + 11 numbers:
//
//   - for each vector, the product (d numbers), ‖Av − b‖² and 1ᵀ(Av − b)
//   - the number of rows and their weight
//   - 1 if there were sparse rows, else 0
//   - eight integers, the SHA-256 of the vectors and options of the pass; their sums show whether all workers agree
//
// The first pass also computes AᵀY, which adds one vector per target.
//
// Either all workers have a [Journal], or no worker has one. Before each pass, each worker calls Allreduce once with
// one number, which tells whether its journal has this pass. If the journals of all workers have the pass, the records
// are used. Otherwise, for example if one worker was stopped before the others, all workers repeat the pass.
//
// A worker that fails or is cancelled does not call Allreduce again. The Reducer must inform the others.
type Reducer interface {
	// Allreduce overwrites x with the elementwise sum of the slices x of all workers. Every worker gets the same
	// bits. All workers call Allreduce equally often, and in each call with equal lengths. If it returns an error,
	// the solve ends and x is not used.
	Allreduce(ctx context.Context, x []float64) error
	// Size returns the number of workers.
	Size() int
}
