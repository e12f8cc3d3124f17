package disttest

import (
	"context"
	"time"

	"github.com/fdridge/fdridge/dist"
)

// Lengths are the numbers that an Allreduce is measured with: 1 KB to 100 MB.
var Lengths = []int{128, 1280, 12800, 128000, 1280000, 12800000}

// TimeAllreduce returns how long a call takes on average in a row of n, after one
// that is not counted.
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
