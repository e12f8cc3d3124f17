package dist_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"time"

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
	sum, err = dist.Merge(ctx, t, sum)
	if err != nil {
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
	fmt.Printf(
		"%d rows, x₉ = %.2f, error certified: %v\n",
		f.Rows,
		f.Targets[0].Coef[9],
		f.Targets[0].RelativeErrorBound <= 1e-8,
	)
	fmt.Println(
		"the same on every rank:",
		f.Targets[0].Coef[3] == fits[1].Targets[0].Coef[3] && f.Targets[0].Coef[3] == fits[2].Targets[0].Coef[3],
	)
	// Output:
	// 300 rows, x₉ = 8.97, error certified: true
	// the same on every rank: true
}

// each runs f on every rank at once, and returns their errors.
func each(ranks []dist.Transport, f func(t dist.Transport) error) []error {
	errs := make([]error, len(ranks))
	var wg sync.WaitGroup
	for i, t := range ranks {
		wg.Go(func() { errs[i] = f(t) })
	}
	wg.Wait()
	return errs
}

// Two ranks add up, and count what they have moved.
func ExampleTransport() {
	ctx := context.Background()
	ranks := dist.Loopback(2)
	errs := each(ranks, func(t dist.Transport) error {
		x := []float64{1, float64(t.Rank())}
		err := t.Allreduce(ctx, x)
		if t.Rank() == 0 {
			fmt.Println(x)
		}
		return err
	})
	var traffic dist.Traffic = ranks[0].Traffic()
	var sums dist.Volume = traffic.Allreduce
	fmt.Println(sums.Calls, "call,", sums.Sent, "bytes sent,", traffic.Received(), "received;", errors.Join(errs...))
	// Output:
	// [2 1]
	// 1 call, 16 bytes sent, 16 received; <nil>
}

// Ranks that do not mean the same all get the same error.
func ExampleAgree() {
	errs := each(dist.Loopback(3), func(t dist.Transport) error {
		return dist.Agree(context.Background(), t, "gamma", fmt.Sprint(t.Rank()/2))
	})
	differ, ok := errors.AsType[*dist.DisagreeError](errs[1])
	fmt.Println(ok, differ.Ranks)
	fmt.Println(errs[1])
	// Output:
	// true [2]
	// gamma is not the same on all ranks: rank 0 has "0", rank 2 has "1"; 1 of the ranks differ from rank 0: [2]
}

// A rank that fails ends the calls of the others; one that gives up waiting is out of step.
func ExampleAbortError() {
	errs := each(dist.Loopback(2), func(t dist.Transport) error {
		if t.Rank() == 1 {
			t.Abort(errors.New("the disk is full"))
			return nil
		}
		return t.Barrier(context.Background())
	})
	aborted, _ := errors.AsType[*dist.AbortError](errs[0])
	fmt.Println("rank", aborted.Rank, "has failed:", aborted.Err)

	alone := dist.Loopback(2)[0]
	impatient, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(alone.Barrier(impatient))
	broken, _ := errors.AsType[*dist.BrokenError](alone.Barrier(context.Background()))
	fmt.Println(broken)
	// Output:
	// rank 1 has failed: the disk is full
	// context deadline exceeded
	// dist: this rank lost step with the others: context deadline exceeded
}

// Whoever implements a Transport counts its calls with a Meter.
func ExampleMeter() {
	var m dist.Meter
	m.Send(time.Now(), 100, nil)
	m.Send(time.Now(), 100, errors.New("the cable is cut"))
	fmt.Printf("%+v\n", m.Traffic().Send)
	// Output: {Calls:1 Sent:100 Received:0}
}
