package testkit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// A gang is a group of workers that add up vectors together, in the order of their ranks. If one worker leaves, the
// sums of the other workers return an error.
type gang struct {
	mu      sync.Mutex
	all     sync.Cond
	parts   [][]float64
	total   []float64
	came    int
	round   int
	left    error
	Lengths []int // of the sums
}

func NewGang(workers int) *gang {
	g := &gang{parts: make([][]float64, workers)}
	g.all.L = &g.mu
	return g
}

type Worker struct {
	*gang
	rank int
}

// Worker returns the reducer of a worker.
func (g *gang) Worker(rank int) Worker { return Worker{g, rank} }

func (w Worker) Size() int { return len(w.parts) }

func (w Worker) Allreduce(ctx context.Context, x []float64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts[w.rank] = x
	round := w.round
	w.came++
	if w.came == len(w.parts) {
		w.add()
	}
	for w.round == round {
		if w.left != nil {
			return errors.Join(ctx.Err(), w.left)
		}
		w.all.Wait()
	}
	copy(x, w.total)
	return nil
}

func (w Worker) add() {
	w.total = append(w.total[:0], w.parts[0]...)
	for _, p := range w.parts[1:] {
		for i, v := range p {
			w.total[i] += v
		}
	}
	w.Lengths = append(w.Lengths, len(w.total))
	w.came = 0
	w.round++
	w.all.Broadcast()
}

func (w Worker) Leave(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = err
	w.all.Broadcast()
}

// An answer has the results of one worker.
type answer struct {
	Fits []*ridge.Solution
	Err  error
}

// Together solves a problem with one worker for each share of the rows. change, if not nil, can change the options
// of each worker.
func Together(
	ctx context.Context,
	shares []dataset.Source,
	sum *ridge.Summary,
	gammas []float64,
	opts ridge.SolveOptions,
	change func(rank int, o *ridge.SolveOptions),
) ([]answer, *gang) {
	g, out := NewGang(len(shares)), make([]answer, len(shares))
	var all sync.WaitGroup
	for rank, src := range shares {
		all.Go(func() {
			o, a := opts, &out[rank]
			o.Reducer = Worker{g, rank}
			if change != nil {
				change(rank, &o)
			}
			a.Fits, a.Err = ridge.SolvePath(ctx, src, sum, gammas, o)
			if _, short := errors.AsType[*ridge.NotConvergedError](a.Err); a.Err != nil && !short {
				Worker{g, rank}.Leave(fmt.Errorf("worker %d left: %w", rank, a.Err))
			}
		})
	}
	all.Wait()
	return out, g
}

// Divide divides a source of n rows into shares of different sizes. It returns the shares and the merged summary of
// their rows. If there are more than two shares, some are empty.
func Divide(
	t *testing.T,
	rng *rand.Rand,
	src dataset.Source,
	n int64,
	parts int,
	cfg ridge.SummaryConfig,
) ([]dataset.Source, *ridge.Summary) {
	t.Helper()
	_, cfg.Dim, cfg.Targets = src.Dims()
	sum := Must(ridge.NewSummary(cfg))(t)
	var shares []dataset.Source
	at := int64(0)
	for i := range parts {
		to := at + rng.Int64N(2*n/int64(parts)+1)
		switch {
		case i == parts-1:
			to = n
		case i%3 == 1 || to >= n:
			to = at
		}
		share := Must(dataset.FromDense(0, cfg.Dim, cfg.Targets, nil, nil))(t)
		if to > at {
			share = Must(dataset.Rows(src, at, to))(t)
		}
		shares, at = append(shares, share), to
		if err := sum.Merge(Must(ridge.Summarize(t.Context(), share, cfg, nil))(t)); err != nil {
			t.Fatal(err)
		}
	}
	return shares, sum
}

// one worker alone.
type Alone struct{}

func (Alone) Size() int { return 1 }

func (Alone) Allreduce(context.Context, []float64) error { return nil }
