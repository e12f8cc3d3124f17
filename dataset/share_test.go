package dataset_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
)

// sums returns an allreduce for the given number of shares: each share waits until all have called it, and gets the
// sums.
func sums(shares int) func(context.Context, []float64) error {
	var mu sync.Mutex
	var total []float64
	came, next := 0, make(chan struct{})
	return func(_ context.Context, x []float64) error {
		mu.Lock()
		if came == 0 {
			total = make([]float64, len(x))
		}
		for i, v := range x {
			total[i] += v
		}
		sum, full := total, next
		came++
		if came == shares {
			came, next = 0, make(chan struct{})
			close(full)
		}
		mu.Unlock()
		<-full
		copy(x, sum)
		return nil
	}
}

// TestStandardizeShare: shares scale by what standardises all rows, the same bits on
// each, however their means differ, and constant columns have their constant.
func TestStandardizeShare(t *testing.T) {
	const n, d = 1000, 4
	rng := rand.New(rand.NewPCG(1, 2))
	x, w := make([]float64, n*d), make([]float64, n)
	for i := range n {
		w[i] = rng.ExpFloat64() * float64(i%3) // some have none
		x[i*d] = 1e6 + rng.NormFloat64()
		x[i*d+1] = float64(100*i) + rng.NormFloat64() // sorted
		x[i*d+2] = 0.1
		x[i*d+3] = 1e-9 * rng.NormFloat64()
	}
	dense := func(lo, hi int, weighted bool) dataset.Source {
		src, err := dataset.FromDense(hi-lo, d, 0, x[lo*d:hi*d], nil)
		if err != nil {
			t.Fatal(err)
		}
		if !weighted {
			return src
		}
		ws, err := dataset.FromDense(hi-lo, 1, 0, w[lo:hi], nil)
		if err != nil {
			t.Fatal(err)
		}
		src, err = dataset.Weigh(src, ws)
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	for _, weighted := range []bool{false, true} {
		_, want, err := dataset.Standardize(t.Context(), dense(0, n, weighted))
		if err != nil {
			t.Fatal(err)
		}
		for _, cuts := range [][]int{{0, n}, {0, 0, n}, {0, 1, 1, 400, 403, n, n}} {
			shares := len(cuts) - 1
			sum, got := sums(shares), make([]*dataset.Scaling, shares)
			var all sync.WaitGroup
			for i := range shares {
				all.Go(func() {
					var err error
					_, got[i], err = dataset.StandardizeShare(
						t.Context(),
						dense(cuts[i], cuts[i+1], weighted),
						dataset.Share{Rank: i, Size: shares},
						sum,
					)
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			for i, s := range got {
				if !reflect.DeepEqual(s, got[0]) {
					t.Errorf("share %d of %d scales by %v, the first by %v", i, shares, s, got[0])
				}
			}
			for j := range d {
				mean, sd := math.Abs(got[0].Mean[j]-want.Mean[j]), math.Abs(got[0].Scale[j]-want.Scale[j])
				if !(mean <= 1e-14*math.Abs(want.Mean[j])+1e-13*want.Scale[j]) || !(sd <= 1e-12*want.Scale[j]) {
					t.Errorf(
						"%d shares, column %d: %v ± %v, want %v ± %v",
						shares,
						j,
						got[0].Mean[j],
						got[0].Scale[j],
						want.Mean[j],
						want.Scale[j],
					)
				}
			}
			if got[0].Mean[2] != 0.1 || got[0].Scale[2] != 1 {
				t.Errorf("%d shares: the constant column has %v and %v", shares, got[0].Mean[2], got[0].Scale[2])
			}
		}
	}
}
