package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
)

// BenchmarkExact fits rows in memory by a direct method, with an intercept: for one γ, and for 50 γ with their
// leave-one-out errors. Run it with -cpu 1,2 to compare numbers of threads.
func BenchmarkExact(b *testing.B) {
	for _, c := range [][2]int{{20000, 1000}, {200000, 50}} {
		n, d := c[0], c[1]
		for _, count := range []int{1, 50} {
			b.Run(fmt.Sprintf("n=%d,d=%d/γ=%d", n, d, count), func(b *testing.B) {
				manyRows(b, n, d)
				a := Rows(n, d)
				src, err := dataset.FromDense(n, d, 1, a, Targets(n, d, a))
				if err != nil {
					b.Fatal(err)
				}
				opts, gammas := ridge.ExactOptions{Intercept: true, LeaveOneOut: count > 1}, make([]float64, count)
				if count > 1 {
					opts.Method = ridge.Tridiagonal
				}
				for i := range gammas {
					gammas[i] = float64(i + 1)
				}
				onEachBackend(b, func(b *testing.B, be engine.Backend) {
					opts.Backend = be
					for b.Loop() {
						if err := fitExact(src, gammas, opts); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}

func fitExact(src dataset.Source, gammas []float64, opts ridge.ExactOptions) error {
	ctx := context.Background()
	f, err := ridge.Factorize(ctx, src, gammas, opts)
	if err != nil {
		return err
	}
	if opts.LeaveOneOut {
		_, _, err = f.LeaveOneOut(ctx, src, gammas, ridge.LeaveOneOutOptions{})
	} else {
		_, err = f.Solve(ctx, gammas)
	}
	return err
}
