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
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

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
				shares, sum := testkit.Divide(
					t,
					rng,
					src,
					n,
					workers,
					ridge.SummaryConfig{Size: 3, Intercept: intercept, Store: fd.StoreRows},
				)
				for k, method := range testkit.Methods {
					if !isTried(i+j+k, intercept) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%v/%v/%d", name, intercept, method, workers), func(t *testing.T) {
						eta := sum.Sketch().Bound().FD()
						gammas := []float64{eta, 3 * eta}
						opts := ridge.SolveOptions{Method: method, Tol: 1e-9}
						fits, err := ridge.SolvePath(t.Context(), src, sum, gammas, opts)
						want := testkit.Solved(t, fits, err)
						answers, g := testkit.Together(t.Context(), shares, sum, gammas, opts, nil)
						for rank, a := range answers {
							if !reflect.DeepEqual(testkit.Solved(t, a.Fits, a.Err), testkit.Solved(t, answers[0].Fits, answers[0].Err)) {
								t.Fatalf("worker %d found something else than worker 0", rank)
							}
						}
						found := testkit.Solved(t, answers[0].Fits, answers[0].Err)
						if workers == 1 && !reflect.DeepEqual(found, want) {
							t.Errorf("one worker finds %+v, without a reducer %+v", found[0], want[0])
						}
						for i, f := range found {
							near(t, f, want[i])
						}
						passes := max(want[0].Iterations, want[1].Iterations)
						if method != ridge.Galerkin && len(g.Lengths) != passes && workers == 1 {
							t.Errorf("%d sums for %d passes", len(g.Lengths), passes)
						}
						first := len(gammas)*targets + targets
						if method != ridge.Galerkin && g.Lengths[0] != first*(d+2)+11 {
							t.Errorf("the first sum is of %d numbers, must be %d·(%d+2)+11", g.Lengths[0], first, d)
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
				shares, sum := testkit.Divide(
					t,
					rand.New(rand.NewPCG(4, uint64(n))),
					src,
					n,
					5,
					ridge.SummaryConfig{Size: 4, Intercept: intercept, Store: fd.StoreRows},
				)
				answers, _ := testkit.Together(t.Context(), shares, sum, gammas, ridge.SolveOptions{Tol: 1e-9}, nil)
				return answers[3].Fits, answers[3].Err
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
		all := testkit.Must(dataset.FromDense(workers, 1, 1, testkit.Flat(x), testkit.Flat(y)))(t)
		sum := testkit.Must(ridge.Summarize(t.Context(), all, ridge.SummaryConfig{Size: 1, Store: fd.StoreRows}, nil))(t)
		shares := make([]dataset.Source, workers)
		for i := range shares {
			shares[i] = testkit.Must(dataset.FromDense(1, 1, 1, x[i], y[i]))(t)
		}
		// From zero, to a loose tolerance, it is plain gradients that were added up which lead to the
		// weights; the last tolerance asks for gradients of twice the digits.
		for _, tol := range []float64{1e-9, 1e-11, 1e-15} {
			answers, _ := testkit.Together(
				t.Context(),
				shares,
				sum,
				[]float64{1},
				ridge.SolveOptions{Tol: tol, Start: mat.NewDense(1, 1, nil)},
				nil,
			)
			last := answers[workers-1]
			testkit.Certificate(t, refbig.New(x, y, nil, false), testkit.Solved(t, last.Fits, last.Err)[0])
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
		for _, method := range testkit.Methods {
			t.Run(fmt.Sprintf("%s/%v", name, method), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(5, 5))
				shares, sum := testkit.Divide(
					t,
					rng,
					src,
					n,
					workers,
					ridge.SummaryConfig{Size: 3, Intercept: true, Store: fd.StoreRows},
				)
				eta := sum.Sketch().Bound().FD()
				gammas, opts := []float64{eta, 3 * eta}, ridge.SolveOptions{Method: method, Tol: 1e-9, MaxPasses: 12}
				answers, _ := testkit.Together(t.Context(), shares, sum, gammas, opts, nil)
				want := testkit.Solved(t, answers[0].Fits, answers[0].Err)
				states := [workers]map[int][]byte{{}, {}, {}}
				for round := 0; ; round++ {
					if round == 1000 {
						t.Fatal("no end after a thousand interruptions")
					}
					ctx, cancel := context.WithCancel(t.Context())
					answers, _ := testkit.Together(ctx, shares, sum, gammas, opts, func(rank int, o *ridge.SolveOptions) {
						own := rand.New(rand.NewPCG(uint64(round), uint64(rank)))
						o.Journal = &testkit.Memory{
							Rng:    own,
							States: states[rank],
							Left:   own.IntN(5),
							Kill:   own.IntN(2) == 0,
							End:    cancel,
						}
					})
					cancel()
					if errors.Is(errors.Join(answers[0].Err, answers[1].Err, answers[2].Err), context.Canceled) {
						continue
					}
					for rank, a := range answers {
						if got := testkit.Solved(t, a.Fits, a.Err); !reflect.DeepEqual(got, want) {
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
	shares, sum := testkit.Divide(
		t,
		rand.New(rand.NewPCG(1, 1)),
		src,
		9000,
		2,
		ridge.SummaryConfig{Size: 3, Store: fd.StoreRows},
	)
	opts := ridge.SolveOptions{Tol: 1e-9}
	journals := []*testkit.Memory{}
	for range 2 {
		journals = append(
			journals,
			&testkit.Memory{States: map[int][]byte{}, Left: 1000, Never: true, Rng: rand.New(rand.NewPCG(1, 1))},
		)
	}
	gammas := []float64{sum.Sketch().Bound().FD()}
	with := func(rank int, o *ridge.SolveOptions) {
		o.Journal = journals[rank]
		o.Reducer = &broken{Reducer: o.Reducer, after: 1000}
	}
	answers, _ := testkit.Together(t.Context(), shares, sum, gammas, opts, with)
	want := testkit.Solved(t, answers[0].Fits, answers[0].Err)
	for pass := range journals[0].States {
		if pass >= 3 {
			delete(journals[0].States, pass)
		}
	}
	read := [2]map[int]int64{{}, {}}
	follow := func(rank int, o *ridge.SolveOptions) {
		with(rank, o)
		o.Progress = func(p ridge.Progress) { read[rank][p.Pass] = p.Rows }
	}
	answers, g := testkit.Together(t.Context(), shares, sum, gammas, opts, follow)
	if got := testkit.Solved(t, answers[1].Fits, answers[1].Err); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got[0], want[0])
	}
	if read[1][2] != 0 || read[1][3] == 0 {
		t.Errorf("rows read again by pass: %v; must be those from pass 3 on", read[1])
	}
	if g.Lengths[0] != 1 || g.Lengths[1] != 1 || g.Lengths[2] != 1 || g.Lengths[3] == 1 || g.Lengths[4] == 1 {
		t.Errorf("sums of %v numbers; two passes are in all journals", g.Lengths)
	}
	// The sum of pass 2 fails: its rows have all been read.
	for _, j := range journals {
		clear(j.States)
	}
	testkit.Together(t.Context(), shares, sum, gammas, opts, func(rank int, o *ridge.SolveOptions) {
		with(rank, o)
		o.Reducer.(*broken).after = 2 // a vote and a pass
	})
	read = [2]map[int]int64{{}, {}}
	answers, _ = testkit.Together(t.Context(), shares, sum, gammas, opts, follow)
	if got := testkit.Solved(t, answers[0].Fits, answers[0].Err); !reflect.DeepEqual(got, want) {
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
	shares, sum := testkit.Divide(
		t,
		rand.New(rand.NewPCG(1, 1)),
		src,
		9000,
		3,
		ridge.SummaryConfig{Size: 3, Store: fd.StoreRows},
	)
	other := testkit.Must(dataset.Rows(src, 0, 8999))(t)
	empty := testkit.Must(dataset.FromDense(0, 5, 2, nil, nil))(t)
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
			[]dataset.Source{other, testkit.Must(dataset.Rows(src, 0, 1))(t)}, nil, ridge.ErrShape,
			"other rows than the summary",
		},
		"another weight": {[]dataset.Source{all["weighted"], empty}, nil, ridge.ErrShape, "weigh"},
		"too many rows": {
			[]dataset.Source{testkit.Must(dataset.Concat(src, src))(t), empty}, nil, ridge.ErrShape, "the source has 18000 rows",
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
		answers, _ := testkit.Together(t.Context(), c.shares, sum, []float64{1e5}, ridge.SolveOptions{Tol: 1e-6}, c.change)
		for rank, a := range answers {
			switch {
			case c.says == "" && a.Err != nil,
				c.says != "" && (a.Err == nil || !strings.Contains(a.Err.Error(), c.says)):
				t.Errorf("%s: worker %d: %v, must say %q", name, rank, a.Err, c.says)
			case c.is != nil && !errors.Is(a.Err, c.is):
				t.Errorf("%s: worker %d: %v is not %v", name, rank, a.Err, c.is)
			}
		}
	}
}

type renewed struct{ ridge.Identity }

func (renewed) Refresh(context.Context) error { return nil }

// TestReducerAllocatesNothing beyond what a pass without a reducer does.
func TestReducerAllocatesNothing(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(2, 8)), "gaussian", 200, 40, 1, 1)
	src := still{dataset.Block{N: 200, X: testkit.Flat(s.X), Y: testkit.Flat(s.Y)}, 40}
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 4, Intercept: true, Store: fd.StoreRows})
	for _, m := range testkit.Methods {
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
		with, without := count(15, testkit.Alone{})-count(5, testkit.Alone{}), count(15, nil)-count(5, nil)
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
		_, sum := testkit.Divide(t, rand.New(rand.NewPCG(1, 1)), src, 9000, 4, cfg)
		b := testkit.Must(sum.MarshalBinary())(t)
		if first != nil && !bytes.Equal(first, b) {
			t.Error("other bits")
		}
		first = b
	}
}
