package ridge_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"slices"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// Two machines summarise a half of the rows each. What one writes the other reads and
// merges: it is then a summary of all rows.
func ExampleSummary_Merge() {
	halves := make([]*ridge.Summary, 2)
	for i := range halves {
		half, err := dataset.Rows(lineSource(1000), int64(500*i), int64(500*(i+1)))
		if err != nil {
			log.Fatal(err)
		}
		halves[i], err = ridge.Summarize(context.Background(), half, ridge.SummaryConfig{Size: 2, Intercept: true}, nil)
		if err != nil {
			log.Fatal(err)
		}
	}
	var wire bytes.Buffer
	if _, err := halves[1].WriteTo(&wire); err != nil {
		log.Fatal(err)
	}

	received, err := ridge.ReadSummary(&wire, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := halves[0].Merge(received); err != nil {
		log.Fatal(err)
	}
	fit, err := halves[0].Fit(0.1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows: x = %.2f, intercept %.2f\n", fit.Rows, fit.Targets[0].Coef, fit.Targets[0].Intercept)
	// Output:
	// 1000 rows: x = [2.00 -1.00], intercept 5.00
}

// A pair adds up what two workers find, by channels. Package dist has reducers for any
// number of them, over processes and machines.
type pair struct{ mine, other chan []float64 }

func (p pair) Size() int { return 2 }

func (p pair) Allreduce(_ context.Context, x []float64) error {
	p.mine <- slices.Clone(x)
	for i, v := range <-p.other {
		x[i] += v
	}
	return nil
}

// Two workers refine one fit, each by passes over its own half of the rows. Both have the
// summary of all of them.
func ExampleReducer() {
	ctx, src := context.Background(), wide(400, 30)
	sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 8}, nil)
	if err != nil {
		log.Fatal(err)
	}
	message, err := sum.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	a, b := make(chan []float64, 1), make(chan []float64, 1)
	fits := make([]*ridge.Solution, 2)
	var workers sync.WaitGroup
	for i, reducer := range []ridge.Reducer{pair{a, b}, pair{b, a}} {
		workers.Go(func() {
			own := new(ridge.Summary)
			if err := own.UnmarshalBinary(message); err != nil {
				log.Fatal(err)
			}
			half, err := dataset.Rows(src, int64(200*i), int64(200*(i+1)))
			if err != nil {
				log.Fatal(err)
			}
			fits[i], err = ridge.Solve(ctx, half, own, 100, ridge.SolveOptions{Reducer: reducer})
			if err != nil {
				log.Fatal(err)
			}
		})
	}
	workers.Wait()
	fmt.Println("the same weights:", slices.Equal(fits[0].Targets[0].Coef, fits[1].Targets[0].Coef))
	fmt.Printf("of %d rows: %v\n", fits[0].Rows, fits[0].Status)
	// Output:
	// the same weights: true
	// of 400 rows: certified to the tolerance
}
