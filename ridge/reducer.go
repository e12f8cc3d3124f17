package ridge

import (
	"context"
)

// A Reducer adds up what several workers find, each in its share of the rows: a
// dist.Transport is one.
//
// Each worker calls [SolvePath] with its own share, which may be empty, and with the
// same summary of all rows, bit for bit, the same γ and the same options. After a pass
// over its share it calls Allreduce once with
//
//	q·(d + 2) + 11
//
// numbers, for q vectors: the products, ‖Av − b‖² and 1ᵀ(Av − b) of each, rows, weight,
// whether there were sparse rows, and the SHA-256 of the question as eight integers, from
// whose sum a worker sees whether the others ask the same. The first pass asks for AᵀY too,
// which is one more vector for each target. The solver's next step is a function of these
// sums and of the summary, so that all workers take the same one and stop together; their
// fits, and the certificates, are those of all rows.
//
// With a [Journal], which all workers have or none, the passes that are answered from it
// call Allreduce once for one number: the answer is taken where each worker has it, and the
// pass is made anew where one hasn't, as when it was killed before the others.
//
// A worker that fails in its share, or is cancelled, calls Allreduce no more: to let the
// others know is the reducer's part.
type Reducer interface {
	// Allreduce overwrites x with its sum over all workers, the same bits on each. All call
	// it in the same order with equal lengths. After an error, by which a solve ends, x
	// is not looked at again.
	Allreduce(ctx context.Context, x []float64) error
	// Size is the number of workers.
	Size() int
}
