package dist_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/dist/disttest"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

func atSizes(t *testing.T, sizes []int, f func(t *testing.T, open func() []dist.Transport)) {
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			leaktest.Check(t)
			f(t, func() []dist.Transport { return dist.Loopback(size) })
		})
	}
}

func TestLoopback(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 7}
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		sizes = append(sizes, 16)
	}
	atSizes(t, sizes, disttest.Run)
}

func TestCancel(t *testing.T) {
	atSizes(t, []int{2, 3, 7}, func(t *testing.T, open func() []dist.Transport) {
		for _, kind := range disttest.Kinds {
			disttest.Cancel(t, open, kind)
		}
	})
}

func TestAbort(t *testing.T) {
	atSizes(t, []int{2, 3, 7}, func(t *testing.T, open func() []dist.Transport) {
		for _, kind := range disttest.Kinds {
			disttest.Abort(t, open, kind)
		}
	})
}

// TestCancelRace cancels one rank at any moment of a series of sums. A rank whose Allreduce succeeds must have the sum,
// and after a failure Abort gives all ranks the error.
func TestCancelRace(t *testing.T) {
	leaktest.Check(t)
	for trial := range 200 {
		ranks := dist.Loopback(3)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(trial)*2*time.Microsecond, cancel)
		var wg sync.WaitGroup
		for _, r := range ranks {
			wg.Go(func() {
				mine := t.Context()
				if r.Rank() == 1 {
					mine = ctx
				}
				for {
					x := []float64{1, 2, 3, 4}
					err := r.Allreduce(mine, x)
					if err != nil {
						r.Abort(err)
						if !errors.Is(err, context.Canceled) {
							t.Errorf("rank %d: %v", r.Rank(), err)
						}
						return
					}
					for i, v := range x {
						if v != float64(3*(i+1)) {
							t.Errorf("rank %d: sum %v", r.Rank(), x)
						}
					}
				}
			})
		}
		wg.Wait()
		cancel()
	}
}

// TestAllreduceAllocations: a sum in step allocates nothing.
func TestAllreduceAllocations(t *testing.T) {
	ranks := dist.Loopback(2)
	const runs = 100
	done := make(chan error, 1)
	go func() {
		x := make([]float64, 1000)
		for range runs + 1 {
			if err := ranks[1].Allreduce(t.Context(), x); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	x := make([]float64, 1000)
	allocs := testing.AllocsPerRun(runs, func() {
		if err := ranks[0].Allreduce(t.Context(), x); err != nil {
			t.Error(err)
		}
	})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if allocs >= 1 {
		t.Errorf("%v allocations", allocs)
	}
}

// BenchmarkAllreduce measures sums of 1 KB to 100 MB; MB/s are bytes of one rank's x.
func BenchmarkAllreduce(b *testing.B) {
	for _, size := range []int{1, 2, 4} {
		for _, length := range disttest.Lengths {
			b.Run(fmt.Sprintf("ranks=%d/bytes=%d", size, 8*length), func(b *testing.B) {
				b.SetBytes(8 * int64(length))
				var wg sync.WaitGroup
				for _, r := range dist.Loopback(size) {
					wg.Go(func() {
						if _, err := disttest.TimeAllreduce(b.Context(), r, length, b.N); err != nil {
							b.Error(err)
							r.Abort(err)
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
