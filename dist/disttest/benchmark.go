package disttest

import (
	"context"
	"time"

	"github.com/fdridge/fdridge/dist"
)

// Lengths are the lengths of vectors for timing Allreduce. The vectors take from 1 KB to 100 MB of memory.
var Lengths = []int{128, 1280, 12800, 128000, 1280000, 12800000}

// TimeAllreduce returns the mean time of n calls of Allreduce with vectors of the given length. It first makes one
// call that is not timed.
func TimeAllreduce(ctx context.Context, r dist.Transport, length, n int) (time.Duration, error) {
	x := make([]float64, length)
	if err := r.Allreduce(ctx, x); err != nil {
		return 0, err
	}
	start := time.Now()
	for range n {
		if err := r.Allreduce(ctx, x); err != nil {
			return 0, err
		}
	}
	return time.Since(start) / time.Duration(n), nil
}
