package ridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// pipeline makes every kind of fit of the same rows and returns all that comes out.
func pipeline(t testing.TB, be engine.Backend, s *testkit.Stored) string {
	ctx := context.Background()
	var b strings.Builder
	src, scaling, err := dataset.Standardize(ctx, s.Source())
	testkit.Must(scaling, err)(t)
	cfg := ridge.SummaryConfig{Size: s.D / 4, Intercept: true, Backend: be}
	sum := testkit.Must(ridge.Summarize(ctx, src, cfg, nil))(t)
	b.Write(testkit.Must(sum.MarshalBinary())(t))
	gammas := choose.Grid(sum, 2)
	fmt.Fprintln(&b, scaling, testkit.Said(testkit.Must(sum.Path(gammas))(t)...))
	nystrom := testkit.Must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: s.D / 4, Dim: s.D, Backend: be}))(t)
	if err := nystrom.AppendSource(ctx, src); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []ridge.SolveOptions{
		{Method: ridge.CG}, {Method: ridge.Newton},
		{Method: ridge.CG, Hessian: testkit.Must(nystrom.Spectrum())(t)},
	} {
		opts.MaxPasses = 8
		fits, err := ridge.SolvePath(ctx, src, sum, gammas, opts)
		if short := (*ridge.NotConvergedError)(nil); errors.As(err, &short) {
			fits, err = short.Solutions, nil
		}
		fmt.Fprintln(&b, testkit.Said(testkit.Must(fits, err)(t)...))
	}
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
		fits := testkit.Must(
			ridge.SolveExact(ctx, src, gammas, ridge.ExactOptions{Method: factor, Intercept: true, Backend: be}),
		)(
			t,
		)
		fmt.Fprintln(&b, testkit.Said(fits...))
	}
	cv := testkit.Must(
		choose.CrossValidate(ctx, src, cfg, choose.CrossValidation{Folds: 3, Gammas: gammas, Exact: true}),
	)(t)
	fmt.Fprintln(&b, cv.Fitted, cv.Ridge)
	b.Write(testkit.Must(cv.Summary.MarshalBinary())(t))
	p := testkit.Must(sum.Predictor(gammas[0]))(t)
	dst := make([]ridge.Interval, 20*testkit.StoredTargets)
	if err := p.Predict(dst, dataset.Block{N: 20, X: s.X[:20*s.D]}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, dst)
	return b.String()
}

// TestCrowd: pipelines in many goroutines have the bits of one alone.
func TestCrowd(t *testing.T) {
	s := testkit.NewStored(1, 2*testkit.StoredBlock+7, 16)
	enginetest.EachInCrowd(t, func(t *testing.T, be engine.Backend) {
		leaktest.Check(t)
		want := pipeline(t, be, s)
		var wg sync.WaitGroup
		for g := range enginetest.Crowd {
			wg.Go(func() {
				// A failure ends its own goroutine only in a sub-test.
				t.Run("", func(t *testing.T) {
					if got := pipeline(t, be, s); got != want {
						t.Errorf("goroutine %d: other bits than alone, %s", g, testkit.FirstDifference(got, want))
					}
				})
			})
		}
		wg.Wait()
	})
}

// processors, set, makes TestProcessors write its pipeline to the file of this name.
const processors = "FDRIDGE_TEST_PIPELINE"

// TestProcessors: in pure Go, GOMAXPROCS changes no bit of anything, whether it is set
// in this process or was when a process began. The products are large enough to be
// divided.
func TestProcessors(t *testing.T) {
	s := testkit.NewStored(2, 900, 96)
	s.Block = 400
	be := testkit.Must(engine.New("purego", testkit.Must(engine.DefaultTuning())(t)))(t)
	if name := os.Getenv(processors); name != "" {
		if err := os.WriteFile(name, []byte(pipeline(t, be, s)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := pipeline(t, be, s)
	for _, procs := range []int{2, 3, 7, 96} {
		runtime.GOMAXPROCS(procs)
		if got := pipeline(t, be, s); got != want {
			t.Errorf("GOMAXPROCS set to %d: %s", procs, testkit.FirstDifference(got, want))
		}
	}
	for _, procs := range []int{1, 2, 3, 7, 96} {
		name := t.TempDir() + "/pipeline"
		c := exec.Command(os.Args[0], "-test.run=^TestProcessors$")
		c.Env = append(os.Environ(), processors+"="+name, "GOMAXPROCS="+strconv.Itoa(procs))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := string(testkit.Must(os.ReadFile(name))(t)); got != want {
			t.Errorf("GOMAXPROCS=%d: %s", procs, testkit.FirstDifference(got, want))
		}
	}
}

// readAhead is how many blocks may still be read, of one source, after a cancellation.
const readAhead = 4

// cancellable are the calls that take a context, with the sum of the rows' summary.
var cancellable = map[string]func(ctx context.Context, src dataset.Source, sum *ridge.Summary) (result bool, err error){
	"Summarize": func(ctx context.Context, src dataset.Source, _ *ridge.Summary) (bool, error) {
		s, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: 6}, nil)
		return s != nil, err
	},
	"Solve": func(ctx context.Context, src dataset.Source, sum *ridge.Summary) (bool, error) {
		f, err := ridge.Solve(ctx, src, sum, 10, ridge.SolveOptions{})
		return f != nil, err
	},
	"SolvePath Newton": func(ctx context.Context, src dataset.Source, sum *ridge.Summary) (bool, error) {
		f, err := ridge.SolvePath(ctx, src, sum, []float64{100, 1000}, ridge.SolveOptions{Method: ridge.Newton})
		return f != nil, err
	},
	"Solve with IHS": func(ctx context.Context, src dataset.Source, sum *ridge.Summary) (bool, error) {
		fresh, err := randsketch.NewFresh(src, randsketch.Config{Rows: 60, Dim: sum.Config().Dim})
		if err != nil {
			return false, err
		}
		f, err := ridge.Solve(ctx, src, sum, 1000, ridge.SolveOptions{Method: ridge.Newton, Hessian: fresh})
		return f != nil, err
	},
	"CrossValidate": func(ctx context.Context, src dataset.Source, _ *ridge.Summary) (bool, error) {
		r, err := choose.CrossValidate(ctx, src, ridge.SummaryConfig{Size: 6}, choose.CrossValidation{Exact: true})
		return r != nil, err
	},
	"Exact": func(ctx context.Context, src dataset.Source, _ *ridge.Summary) (bool, error) {
		f, err := ridge.SolveExact(ctx, src, []float64{1, 2}, ridge.ExactOptions{})
		return f != nil, err
	},
	"Exact QR": func(ctx context.Context, src dataset.Source, _ *ridge.Summary) (bool, error) {
		f, err := ridge.SolveExact(ctx, src, []float64{1}, ridge.ExactOptions{Method: ridge.QR, Intercept: true})
		return f != nil, err
	},
	"Standardize": func(ctx context.Context, src dataset.Source, _ *ridge.Summary) (bool, error) {
		s, _, err := dataset.Standardize(ctx, src)
		return s != nil, err
	},
}

// TestCancel cancels every call at the first row of each block in each of its passes. The call returns only the
// context's error, and leaves the summary unchanged and no goroutine.
func TestCancel(t *testing.T) {
	s := testkit.NewStored(4, 5*testkit.StoredBlock+9, 20)
	sum := testkit.Must(ridge.Summarize(context.Background(), s.Source(), ridge.SummaryConfig{Size: 6}, nil))(t)
	before := testkit.Must(sum.MarshalBinary())(t)
	for name, call := range cancellable {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t)
			reads := 0
			s.Reached = func(int) { reads++ }
			if ok, err := call(context.Background(), s.Source(), sum); !ok || err != nil {
				t.Fatal(ok, err)
			}
			total := reads
			for stop := range total - readAhead { // or these are the last ones
				ctx, cancel := context.WithCancel(context.Background())
				reads = 0
				s.Reached = func(int) {
					if reads == stop {
						cancel()
					}
					reads++
				}
				if ok, err := call(ctx, s.Source(), sum); ok || err != context.Canceled {
					t.Errorf("cancelled at read %d of %d: %v, %v", stop, total, ok, err)
				}
				if reads > stop+1+readAhead {
					t.Errorf("cancelled at read %d of %d: %d more were made", stop, total, reads-stop-1)
				}
				cancel()
			}
			if !bytes.Equal(testkit.Must(sum.MarshalBinary())(t), before) {
				t.Error("the summary has changed")
			}
		})
	}
}

// TestCancelAfterPass: what follows a pass, and may take longer, listens too.
func TestCancelAfterPass(t *testing.T) {
	s := testkit.NewStored(4, 5*testkit.StoredBlock+9, 20)
	for name, call := range map[string]func(ctx context.Context, progress func(rows int64)) (result bool, err error){
		"CrossValidate": func(ctx context.Context, progress func(rows int64)) (bool, error) {
			cv := choose.CrossValidation{Progress: func(_ int, rows int64) { progress(rows) }}
			r, err := choose.CrossValidate(ctx, s.Source(), ridge.SummaryConfig{Size: 6}, cv)
			return r != nil, err
		},
		"Exact": func(ctx context.Context, progress func(rows int64)) (bool, error) {
			f, err := ridge.SolveExact(ctx, s.Source(), []float64{1}, ridge.ExactOptions{Progress: progress})
			return f != nil, err
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		ok, err := call(ctx, func(rows int64) {
			if rows == int64(s.N) {
				cancel()
			}
		})
		if ok || err != context.Canceled {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		cancel()
	}
}

// TestCancelAnyTime cancels every call from another goroutine, whatever it is at. A
// call that had done its work may still return it.
func TestCancelAnyTime(t *testing.T) {
	s := testkit.NewStored(5, 1500, 40)
	sum := testkit.Must(ridge.Summarize(context.Background(), s.Source(), ridge.SummaryConfig{Size: 6}, nil))(t)
	for name, call := range cancellable {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t)
			start := time.Now()
			if ok, err := call(context.Background(), s.Source(), sum); !ok || err != nil {
				t.Fatal(ok, err)
			}
			took, cut := time.Since(start), 0
			const calls = 10
			for range calls {
				ctx, cancel := context.WithCancel(context.Background())
				timer := time.AfterFunc(rand.N(took), cancel)
				ok, err := call(ctx, s.Source(), sum)
				if ok != (err == nil) || err != nil && err != context.Canceled {
					t.Errorf("%v, %v", ok, err)
				}
				if err != nil {
					cut++
				}
				timer.Stop()
				cancel()
			}
			t.Logf("%d of %d calls were cut short", cut, calls)
		})
	}
}

// TestCancelStream: a cancelled stream leaves a summary of the rows that it counts. The bound holds for these rows, and
// the summary can be continued.
func TestCancelStream(t *testing.T) {
	leaktest.Check(t)
	s := testkit.NewStored(6, 40*testkit.StoredBlock, 16)
	cfg := ridge.SummaryConfig{Dim: s.D, Targets: testkit.StoredTargets, Size: 5}
	whole := testkit.Must(ridge.Summarize(context.Background(), s.Source(), cfg, nil))(t)
	for range 12 {
		ctx, cancel := context.WithCancel(context.Background())
		last := rand.N(30 * testkit.StoredBlock)
		s.Reached = func(row int) {
			if row >= last {
				cancel()
			}
		}
		sum := testkit.Must(ridge.NewSummary(cfg))(t)
		if err := sum.Continue(ctx, s.Source(), nil); err != context.Canceled {
			t.Fatal(err)
		}
		cancel()
		s.Reached = nil
		n := int(sum.Rows())
		if n >= s.N || n > last+testkit.StoredBlock {
			t.Fatalf("%d rows seen, cancelled at %d", n, last)
		}
		k := mat.NewSymDense(s.D, nil)
		for i := range n {
			k.SymRankOne(k, s.W[i], mat.NewVecDense(s.D, s.X[i*s.D:(i+1)*s.D]))
		}
		p := testkit.Must(sum.Sketch().Spectrum())(t)
		for l, s2 := range p.Sigma2 {
			k.SymRankOne(k, -s2, mat.NewVecDense(s.D, p.V[l*s.D:(l+1)*s.D]))
		}
		var es mat.EigenSym
		if !es.Factorize(k, false) {
			t.Fatal("no eigenvalues")
		}
		slack := 100 * 0x1p-52 * p.Bound.Frobenius2
		e := es.Values(nil)
		if !(-slack <= slices.Min(e) && slices.Max(e) <= p.Bound.FD()+slack) || p.Bound.Rows != int64(n) ||
			math.IsNaN(slack) {
			t.Errorf(
				"after %d rows: K − BᵀB has eigenvalues from %g to %g, the bound is %+v",
				n,
				slices.Min(e),
				slices.Max(e),
				p.Bound,
			)
		}
		if err := sum.Continue(context.Background(), s.Source(), nil); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(testkit.Must(sum.MarshalBinary())(t), testkit.Must(whole.MarshalBinary())(t)) {
			t.Errorf("going on after %d rows gives something else", n)
		}
	}
}
