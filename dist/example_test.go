package dist_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
)

// worker solves, together with the other ranks, for the rows of all of them.
func worker(ctx context.Context, t dist.Transport, share dataset.Source) (*ridge.Solution, error) {
	if err := dist.Agree(ctx, t, "size", "4"); err != nil {
		return nil, err
	}
	sum, err := ridge.Summarize(ctx, share, ridge.SummaryConfig{Size: 4}, nil)
	if err != nil {
		return nil, err
	}
	if sum, err = dist.Merge(ctx, t, sum); err != nil {
		return nil, err
	}
	return ridge.Solve(ctx, share, sum, 1, ridge.SolveOptions{Reducer: t})
}

// Three workers with a third of the rows each. Under mpirun each would be a process
// with a transport of package dist/mpi.
func Example() {
	const n, d, workers = 300, 10, 3
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		for j := range d {
			x[i*d+j] = rng.NormFloat64()
			y[i] += float64(j) * x[i*d+j]
		}
	}
	all, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		log.Fatal(err)
	}
	var fits [workers]*ridge.Solution
	var wg sync.WaitGroup
	for _, t := range dist.Loopback(workers) {
		wg.Go(func() {
			rank := int64(t.Rank())
			share, err := dataset.Rows(all, rank*n/workers, (rank+1)*n/workers)
			if err == nil {
				fits[rank], err = worker(context.Background(), t, share)
			}
			if err != nil {
				t.Abort(err) // or the others would wait for ever
				log.Print(err)
			}
		})
	}
	wg.Wait()
	f := fits[0]
	fmt.Printf("%d rows, x₉ = %.2f, error certified: %v\n", f.Rows, f.Targets[0].Coef[9], f.Targets[0].RelativeErrorBound <= 1e-8)
	fmt.Println("the same on every rank:", f.Targets[0].Coef[3] == fits[1].Targets[0].Coef[3] && f.Targets[0].Coef[3] == fits[2].Targets[0].Coef[3])
	// Output:
	// 300 rows, x₉ = 8.97, error certified: true
	// the same on every rank: true
}
