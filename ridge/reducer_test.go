package ridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// A gang is workers whose sums are added up in their order. One that leaves ends it.
type gang struct {
	mu      sync.Mutex
	all     sync.Cond
	parts   [][]float64
	total   []float64
	came    int
	round   int
	left    error
	lengths []int // of the sums
}

func newGang(workers int) *gang {
	g := &gang{parts: make([][]float64, workers)}
	g.all.L = &g.mu
	return g
}

type worker struct {
	*gang
	rank int
}

func (w worker) Size() int { return len(w.parts) }

func (w worker) Allreduce(ctx context.Context, x []float64) error {
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

func (w worker) add() {
	w.total = append(w.total[:0], w.parts[0]...)
	for _, p := range w.parts[1:] {
		for i, v := range p {
			w.total[i] += v
		}
	}
	w.lengths = append(w.lengths, len(w.total))
	w.came = 0
	w.round++
	w.all.Broadcast()
}

func (w worker) leave(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = err
	w.all.Broadcast()
}

// An answer has the results of one worker.
type answer struct {
	fits []*ridge.Solution
	err  error
}

// together solves with a worker for each share; change may differ from one to another.
func together(
	ctx context.Context,
	shares []dataset.Source,
	sum *ridge.Summary,
	gammas []float64,
	opts ridge.SolveOptions,
	change func(rank int, o *ridge.SolveOptions),
) ([]answer, *gang) {
	g, out := newGang(len(shares)), make([]answer, len(shares))
	var all sync.WaitGroup
	for rank, src := range shares {
		all.Go(func() {
			o, a := opts, &out[rank]
			o.Reducer = worker{g, rank}
			if change != nil {
				change(rank, &o)
			}
			a.fits, a.err = ridge.SolvePath(ctx, src, sum, gammas, o)
			if _, short := errors.AsType[*ridge.NotConvergedError](a.err); a.err != nil && !short {
				worker{g, rank}.leave(fmt.Errorf("worker %d left: %w", rank, a.err))
			}
		})
	}
	all.Wait()
	return out, g
}

// divide cuts a source of n rows into uneven shares and returns them with the merged summary. If there are more than
// two shares, some are empty.
func divide(
	t *testing.T,
	rng *rand.Rand,
	src dataset.Source,
	n int64,
	parts int,
	cfg ridge.SummaryConfig,
) ([]dataset.Source, *ridge.Summary) {
	t.Helper()
	_, cfg.Dim, cfg.Targets = src.Dims()
	sum := must(ridge.NewSummary(cfg))(t)
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
		share := must(dataset.FromDense(0, cfg.Dim, cfg.Targets, nil, nil))(t)
		if to > at {
			share = must(dataset.Rows(src, at, to))(t)
		}
		shares, at = append(shares, share), to
		if err := sum.Merge(must(ridge.Summarize(t.Context(), share, cfg, nil))(t)); err != nil {
			t.Fatal(err)
		}
	}
	return shares, sum
}

// TestReducer: workers with shares of the rows find the same bits as each other, for the problem of all rows. One
// worker finds the bits of a solve without a reducer. The sums have the documented number and length.
func TestReducer(t *testing.T) {
	t.Parallel()
	numbers := []int{1, 4}
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		numbers = []int{1, 4, 7}
	}
	all := sources(t)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if name == "unnumbered" { // cannot be divided by row numbers
			continue
		}
		src := all[name]
		n, d, targets := src.Dims()
		for _, intercept := range []bool{false, true} {
			for j, workers := range numbers {
				rng := rand.New(rand.NewPCG(3, uint64(workers)))
				shares, sum := divide(
					t,
					rng,
					src,
					n,
					workers,
					ridge.SummaryConfig{Size: 3, Intercept: intercept, Store: fd.StoreRows},
				)
				for k, method := range methods {
					if !isTried(i+j+k, intercept) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%v/%v/%d", name, intercept, method, workers), func(t *testing.T) {
						eta := sum.Sketch().Bound().FD()
						gammas := []float64{eta, 3 * eta}
						opts := ridge.SolveOptions{Method: method, Tol: 1e-9}
						fits, err := ridge.SolvePath(t.Context(), src, sum, gammas, opts)
						want := solved(t, fits, err)
						answers, g := together(t.Context(), shares, sum, gammas, opts, nil)
						for rank, a := range answers {
							if !reflect.DeepEqual(solved(t, a.fits, a.err), solved(t, answers[0].fits, answers[0].err)) {
								t.Fatalf("worker %d found something else than worker 0", rank)
							}
						}
						found := solved(t, answers[0].fits, answers[0].err)
						if workers == 1 && !reflect.DeepEqual(found, want) {
							t.Errorf("one worker finds %+v, without a reducer %+v", found[0], want[0])
						}
						for i, f := range found {
							near(t, f, want[i])
						}
						passes := max(want[0].Iterations, want[1].Iterations)
						if method != ridge.Galerkin && len(g.lengths) != passes && workers == 1 {
							t.Errorf("%d sums for %d passes", len(g.lengths), passes)
						}
						first := len(gammas)*targets + targets
						if method != ridge.Galerkin && g.lengths[0] != first*(d+2)+11 {
							t.Errorf("the first sum is of %d numbers, must be %d·(%d+2)+11", g.lengths[0], first, d)
						}
					})
				}
			}
		}
	}
}

// near holds two fits to what their certificates say of both.
func near(t *testing.T, got, want *ridge.Solution) {
	t.Helper()
	if got.Rows != want.Rows || len(got.Targets) != len(want.Targets) {
		t.Fatalf("%d rows and %d targets; want %d and %d", got.Rows, len(got.Targets), want.Rows, len(want.Targets))
	}
	for j, o := range got.Targets {
		w := want.Targets[j]
		if o.ComputedTSS != w.ComputedTSS {
			t.Errorf("target %d: TSS %v; want %v", j, o.ComputedTSS, w.ComputedTSS)
		}
		if e := floats.Distance(o.Coef, w.Coef, 2); !(e <= o.ErrorBound+w.ErrorBound) {
			t.Errorf("target %d: %g apart, certified %g and %g", j, e, o.ErrorBound, w.ErrorBound)
		}
		a, b := o.RSS, w.RSS
		if !(a.Lo <= b.Hi*(1+1e-6) && b.Lo <= a.Hi*(1+1e-6)) {
			t.Errorf("target %d: RSS in %v, alone in %v", j, a, b)
		}
	}
}

// TestReducerSolver holds five workers to what every solver promises.
func TestReducerSolver(t *testing.T) {
	ridgetest.Run(
		t,
		ridgetest.Solver{
			Tol: 1e-9,
			Solve: func(src dataset.Source, gammas []float64, intercept bool) ([]*ridge.Solution, error) {
				n := int64(0)
				for b, err := range src.Blocks(t.Context()) {
					if err != nil {
						return nil, err
					}
					n += int64(b.N)
				}
				shares, sum := divide(
					t,
					rand.New(rand.NewPCG(4, uint64(n))),
					src,
					n,
					5,
					ridge.SummaryConfig{Size: 4, Intercept: intercept, Store: fd.StoreRows},
				)
				answers, _ := together(t.Context(), shares, sum, gammas, ridge.SolveOptions{Tol: 1e-9}, nil)
				return answers[3].fits, answers[3].err
			},
		},
	)
}

// TestReducerCertificate: the bounds hold for all rows together even if the sum over the workers rounds in the worst
// way. The shares of all workers after the first are just below half a unit in the last place of the first, and are
// lost. This is so for the gradient and for ‖r‖². In the other case the shares cancel.
func TestReducerCertificate(t *testing.T) {
	t.Parallel()
	const workers, lost, eps = 2048, 0.45, 0x1p-52
	for _, far := range []float64{0, 1e6} {
		x, y := make([][]float64, workers), make([][]float64, workers)
		x[0], y[0] = []float64{1}, []float64{1.02} // x* = 0.51, r = −0.51
		for i := 1; i < workers; i++ {
			r := math.Sqrt(lost * eps / 4)
			a := lost * eps / 2 / r
			x[i], y[i] = []float64{a}, []float64{0.51*a + r + far*float64(1-i%2*2)}
		}
		all := must(dataset.FromDense(workers, 1, 1, flat(x), flat(y)))(t)
		sum := must(ridge.Summarize(t.Context(), all, ridge.SummaryConfig{Size: 1, Store: fd.StoreRows}, nil))(t)
		shares := make([]dataset.Source, workers)
		for i := range shares {
			shares[i] = must(dataset.FromDense(1, 1, 1, x[i], y[i]))(t)
		}
		// From zero, to a loose tolerance, it is plain gradients that were added up which lead to the
		// weights; the last tolerance asks for gradients of twice the digits.
		for _, tol := range []float64{1e-9, 1e-11, 1e-15} {
			answers, _ := together(
				t.Context(),
				shares,
				sum,
				[]float64{1},
				ridge.SolveOptions{Tol: tol, Start: mat.NewDense(1, 1, nil)},
				nil,
			)
			last := answers[workers-1]
			ridgetest.Certificate(t, refbig.New(x, y, nil, false), solved(t, last.fits, last.err)[0])
		}
	}
}

// TestReducerJournal: workers that are interrupted, and killed, time and again, each at
// its own place, find bit for bit what those do that aren't.
func TestReducerJournal(t *testing.T) {
	t.Parallel()
	const workers = 3
	for name, src := range sources(t) {
		if name == "unnumbered" {
			continue
		}
		n, _, _ := src.Dims()
		for _, method := range methods {
			t.Run(fmt.Sprintf("%s/%v", name, method), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(5, 5))
				shares, sum := divide(
					t,
					rng,
					src,
					n,
					workers,
					ridge.SummaryConfig{Size: 3, Intercept: true, Store: fd.StoreRows},
				)
				eta := sum.Sketch().Bound().FD()
				gammas, opts := []float64{eta, 3 * eta}, ridge.SolveOptions{Method: method, Tol: 1e-9, MaxPasses: 12}
				answers, _ := together(t.Context(), shares, sum, gammas, opts, nil)
				want := solved(t, answers[0].fits, answers[0].err)
				states := [workers]map[int][]byte{{}, {}, {}}
				for round := 0; ; round++ {
					if round == 1000 {
						t.Fatal("no end after a thousand interruptions")
					}
					ctx, cancel := context.WithCancel(t.Context())
					answers, _ := together(ctx, shares, sum, gammas, opts, func(rank int, o *ridge.SolveOptions) {
						own := rand.New(rand.NewPCG(uint64(round), uint64(rank)))
						o.Journal = &memory{
							rng:    own,
							states: states[rank],
							left:   own.IntN(5),
							kill:   own.IntN(2) == 0,
							end:    cancel,
						}
					})
					cancel()
					if errors.Is(errors.Join(answers[0].err, answers[1].err, answers[2].err), context.Canceled) {
						continue
					}
					for rank, a := range answers {
						if got := solved(t, a.fits, a.err); !reflect.DeepEqual(got, want) {
							t.Fatalf(
								"worker %d: after %d interruptions %+v, without any %+v",
								rank,
								round,
								got[0],
								want[0],
							)
						}
					}
					if round < 2 {
						t.Fatalf("interrupted but %d times", round)
					}
					return
				}
			})
		}
	}
}

// TestReducerBehind: if the journal of one worker lacks a pass that the others have, all workers repeat this pass. A
// finished pass whose sum failed is not read again.
func TestReducerBehind(t *testing.T) {
	src := sources(t)["dense"]
	shares, sum := divide(
		t,
		rand.New(rand.NewPCG(1, 1)),
		src,
		9000,
		2,
		ridge.SummaryConfig{Size: 3, Store: fd.StoreRows},
	)
	opts := ridge.SolveOptions{Tol: 1e-9}
	journals := []*memory{}
	for range 2 {
		journals = append(
			journals,
			&memory{states: map[int][]byte{}, left: 1000, never: true, rng: rand.New(rand.NewPCG(1, 1))},
		)
	}
	gammas := []float64{sum.Sketch().Bound().FD()}
	with := func(rank int, o *ridge.SolveOptions) {
		o.Journal = journals[rank]
		o.Reducer = &broken{Reducer: o.Reducer, after: 1000}
	}
	answers, _ := together(t.Context(), shares, sum, gammas, opts, with)
	want := solved(t, answers[0].fits, answers[0].err)
	for pass := range journals[0].states {
		if pass >= 3 {
			delete(journals[0].states, pass)
		}
	}
	read := [2]map[int]int64{{}, {}}
	follow := func(rank int, o *ridge.SolveOptions) {
		with(rank, o)
		o.Progress = func(p ridge.Progress) { read[rank][p.Pass] = p.Rows }
	}
	answers, g := together(t.Context(), shares, sum, gammas, opts, follow)
	if got := solved(t, answers[1].fits, answers[1].err); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got[0], want[0])
	}
	if read[1][2] != 0 || read[1][3] == 0 {
		t.Errorf("rows read again by pass: %v; must be those from pass 3 on", read[1])
	}
	if g.lengths[0] != 1 || g.lengths[1] != 1 || g.lengths[2] != 1 || g.lengths[3] == 1 || g.lengths[4] == 1 {
		t.Errorf("sums of %v numbers; two passes are in all journals", g.lengths)
	}
	// The sum of pass 2 fails: its rows have all been read.
	for _, j := range journals {
		clear(j.states)
	}
	together(t.Context(), shares, sum, gammas, opts, func(rank int, o *ridge.SolveOptions) {
		with(rank, o)
		o.Reducer.(*broken).after = 2 // a vote and a pass
	})
	read = [2]map[int]int64{{}, {}}
	answers, _ = together(t.Context(), shares, sum, gammas, opts, follow)
	if got := solved(t, answers[0].fits, answers[0].err); !reflect.DeepEqual(got, want) {
		t.Errorf("after a sum that failed %+v, want %+v", got[0], want[0])
	}
	if read[0][2] != 0 || read[0][3] == 0 {
		t.Errorf("rows read again by pass: %v; must be those from pass 3 on", read[0])
	}
}

// broken is a reducer whose sums fail after the given number of sums.
type broken struct {
	ridge.Reducer
	after int // sums
}

func (b *broken) Allreduce(ctx context.Context, x []float64) error {
	b.after--
	if b.after < 0 {
		for i := range x { // as it may later, too
			x[i] = math.NaN()
		}
		return errors.New("the line is dead")
	}
	return b.Reducer.Allreduce(ctx, x)
}

// TestReducerRefused: mistakes of workers are errors that name the mistake. Each worker gets the error, from its own
// check or through the reducer.
func TestReducerRefused(t *testing.T) {
	all := sources(t)
	src := all["dense"]
	shares, sum := divide(
		t,
		rand.New(rand.NewPCG(1, 1)),
		src,
		9000,
		3,
		ridge.SummaryConfig{Size: 3, Store: fd.StoreRows},
	)
	other := must(dataset.Rows(src, 0, 8999))(t)
	empty := must(dataset.FromDense(0, 5, 2, nil, nil))(t)
	reversed := []dataset.Source{shares[2], shares[1], shares[0]} // the same rows
	for name, c := range map[string]struct {
		shares []dataset.Source
		change func(rank int, o *ridge.SolveOptions)
		is     error
		says   string
	}{
		"rows are missing":   {shares[1:], nil, ridge.ErrShape, "rows, but the summary has 9000"},
		"rows are told more": {[]dataset.Source{src, shares[0]}, nil, ridge.ErrShape, "the summary has 9000"},
		"other rows": {
			[]dataset.Source{other, must(dataset.Rows(src, 0, 1))(t)}, nil, ridge.ErrShape, "other rows than the summary",
		},
		"another weight": {[]dataset.Source{all["weighted"], empty}, nil, ridge.ErrShape, "weigh"},
		"too many rows": {
			[]dataset.Source{must(dataset.Concat(src, src))(t), empty}, nil, ridge.ErrShape, "the source has 18000 rows",
		},
		"another start": {shares, func(rank int, o *ridge.SolveOptions) {
			o.Start = mat.NewDense(2, 5, nil)
			if rank == 1 {
				o.Start.Set(1, 1, 1)
			}
		}, nil, "differ in pass 1"},
		"a fresh Hessian": {shares, func(_ int, o *ridge.SolveOptions) {
			o.Method, o.Hessian = ridge.Newton, renewed{}
		}, nil, "its share of the rows"},
		"in another order": {reversed, nil, nil, ""},
	} {
		answers, _ := together(t.Context(), c.shares, sum, []float64{1e5}, ridge.SolveOptions{Tol: 1e-6}, c.change)
		for rank, a := range answers {
			switch {
			case c.says == "" && a.err != nil,
				c.says != "" && (a.err == nil || !strings.Contains(a.err.Error(), c.says)):
				t.Errorf("%s: worker %d: %v, must say %q", name, rank, a.err, c.says)
			case c.is != nil && !errors.Is(a.err, c.is):
				t.Errorf("%s: worker %d: %v is not %v", name, rank, a.err, c.is)
			}
		}
	}
}

type renewed struct{ ridge.Identity }

func (renewed) Refresh(context.Context) error { return nil }

// one worker alone.
type alone struct{}

func (alone) Size() int                                  { return 1 }
func (alone) Allreduce(context.Context, []float64) error { return nil }

// TestReducerAllocatesNothing beyond what a pass without a reducer does.
func TestReducerAllocatesNothing(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(2, 8)), "gaussian", 200, 40, 1, 1)
	src := still{dataset.Block{N: 200, X: flat(s.x), Y: flat(s.y)}, 40}
	sum := summarize(t, src, ridge.SummaryConfig{Size: 4, Intercept: true, Store: fd.StoreRows})
	for _, m := range methods {
		count := func(passes int, r ridge.Reducer) float64 {
			return testing.AllocsPerRun(5, func() {
				_, err := ridge.SolvePath(
					context.Background(),
					src,
					sum,
					[]float64{1e-3, 1e-2},
					ridge.SolveOptions{Method: m, Tol: 1e-13, MaxPasses: passes, Reducer: r},
				)
				if _, short := errors.AsType[*ridge.NotConvergedError](err); !short {
					t.Fatal(err)
				}
			})
		}
		with, without := count(15, alone{})-count(5, alone{}), count(15, nil)-count(5, nil)
		// SHA-256 of a question has a state of its own.
		if perPass := (with - without) / 10; !(perPass <= 1) {
			t.Errorf("%v: %v allocations a pass more than without a reducer", m, perPass)
		}
	}
}

// TestReducerSummaries: two workers that merge in the same order get the same bits. A reducer requires this.
func TestReducerSummaries(t *testing.T) {
	src := sources(t)["weighted sparse"]
	cfg := ridge.SummaryConfig{Size: 3, Intercept: true, Store: fd.StoreRows}
	var first []byte
	for range 2 {
		_, sum := divide(t, rand.New(rand.NewPCG(1, 1)), src, 9000, 4, cfg)
		b := must(sum.MarshalBinary())(t)
		if first != nil && !bytes.Equal(first, b) {
			t.Error("other bits")
		}
		first = b
	}
}
