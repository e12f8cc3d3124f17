package ridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// stored is rows in memory with weights and two targets, read ahead in blocks;
// reached, if set, is told the row that a pass is about to read.
type stored struct {
	n, d    int
	block   int // rows of a block, storedBlock if not set otherwise
	x, y, w []float64
	reached func(row int)
}

const (
	storedTargets = 2
	storedBlock   = 64
)

func newStored(seed uint64, n, d int) *stored {
	r := rand.New(rand.NewPCG(seed, 11))
	s := &stored{n: n, d: d, block: storedBlock}
	for range n {
		var sum float64
		for j := range d {
			v := 3 + r.NormFloat64()/float64(1+j)
			sum += v
			s.x = append(s.x, v)
		}
		s.y = append(s.y, sum+r.NormFloat64(), 1-sum/3+r.NormFloat64())
		s.w = append(s.w, float64(r.IntN(4))/2)
	}
	return s
}

func (s *stored) source() dataset.Source {
	src := dataset.NewStream(
		int64(s.n),
		s.d,
		storedTargets,
		false,
		func() (dataset.Reader, error) { return &storedReader{s, 0}, nil },
	)
	src.BlockRows = s.block
	return src
}

type storedReader struct {
	*stored
	at int
}

func (r *storedReader) Read(b *dataset.Buffer, rows int) error {
	if r.reached != nil {
		r.reached(r.at)
	}
	if r.at == r.n {
		return io.EOF
	}
	hi := min(r.at+rows, r.n)
	b.X = append(b.X, r.x[r.at*r.d:hi*r.d]...)
	b.Y = append(b.Y, r.y[r.at*storedTargets:hi*storedTargets]...)
	b.W = append(b.W, r.w[r.at:hi]...)
	b.N, r.at = b.N+hi-r.at, hi
	return nil
}

func (r *storedReader) Close() error { return nil }

// said is all that fits say, in decimals that tell every two numbers apart.
func said(fits ...*ridge.Solution) string {
	var b strings.Builder
	for _, f := range fits {
		fmt.Fprintln(&b, *f)
	}
	return b.String()
}

// pipeline makes every kind of fit of the same rows and returns all that comes out.
func pipeline(t testing.TB, be engine.Backend, s *stored) string {
	ctx := context.Background()
	var b strings.Builder
	src, scaling, err := dataset.Standardize(ctx, s.source())
	must(scaling, err)(t)
	cfg := ridge.SummaryConfig{Size: s.d / 4, Intercept: true, Backend: be}
	sum := must(ridge.Summarize(ctx, src, cfg, nil))(t)
	b.Write(must(sum.MarshalBinary())(t))
	gammas := choose.Grid(sum, 2)
	fmt.Fprintln(&b, scaling, said(must(sum.Path(gammas))(t)...))
	nystrom := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: s.d / 4, Dim: s.d, Backend: be}))(t)
	if err := nystrom.AppendSource(ctx, src); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []ridge.SolveOptions{
		{Method: ridge.CG}, {Method: ridge.Newton},
		{Method: ridge.CG, Hessian: must(nystrom.Spectrum())(t)},
	} {
		opts.MaxPasses = 8
		fits, err := ridge.SolvePath(ctx, src, sum, gammas, opts)
		if short := (*ridge.NotConvergedError)(nil); errors.As(err, &short) {
			fits, err = short.Solutions, nil
		}
		fmt.Fprintln(&b, said(must(fits, err)(t)...))
	}
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
		fits := must(
			ridge.SolveExact(ctx, src, gammas, ridge.ExactOptions{Method: factor, Intercept: true, Backend: be}),
		)(
			t,
		)
		fmt.Fprintln(&b, said(fits...))
	}
	cv := must(choose.CrossValidate(ctx, src, cfg, choose.CrossValidation{Folds: 3, Gammas: gammas, Exact: true}))(t)
	fmt.Fprintln(&b, cv.Fitted, cv.Ridge)
	b.Write(must(cv.Summary.MarshalBinary())(t))
	p := must(sum.Predictor(gammas[0]))(t)
	dst := make([]ridge.Interval, 20*storedTargets)
	if err := p.Predict(dst, dataset.Block{N: 20, X: s.x[:20*s.d]}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, dst)
	return b.String()
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("at byte %d: %q, %q", i, a[i:min(len(a), i+60)], b[i:min(len(b), i+60)])
}

// TestCrowd: pipelines in many goroutines have the bits of one alone.
func TestCrowd(t *testing.T) {
	s := newStored(1, 2*storedBlock+7, 16)
	enginetest.EachInCrowd(t, func(t *testing.T, be engine.Backend) {
		leaktest.Check(t)
		want := pipeline(t, be, s)
		var wg sync.WaitGroup
		for g := range enginetest.Crowd {
			wg.Go(func() {
				// A failure ends its own goroutine only in a sub-test.
				t.Run("", func(t *testing.T) {
					if got := pipeline(t, be, s); got != want {
						t.Errorf("goroutine %d: other bits than alone, %s", g, firstDifference(got, want))
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
	s := newStored(2, 900, 96)
	s.block = 400
	be := must(engine.New("purego", must(engine.DefaultTuning())(t)))(t)
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
			t.Errorf("GOMAXPROCS set to %d: %s", procs, firstDifference(got, want))
		}
	}
	for _, procs := range []int{1, 2, 3, 7, 96} {
		name := t.TempDir() + "/pipeline"
		c := exec.Command(os.Args[0], "-test.run=^TestProcessors$")
		c.Env = append(os.Environ(), processors+"="+name, "GOMAXPROCS="+strconv.Itoa(procs))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := string(must(os.ReadFile(name))(t)); got != want {
			t.Errorf("GOMAXPROCS=%d: %s", procs, firstDifference(got, want))
		}
	}
}

// TestReaders reads one summary from many goroutines, in every way there is.
func TestReaders(t *testing.T) {
	s := newStored(3, 500, 30)
	ctx := context.Background()
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		cfg := ridge.SummaryConfig{Size: 8, Intercept: true, Backend: be}
		sum := must(ridge.Summarize(ctx, s.source(), cfg, nil))(t)
		message := must(sum.MarshalBinary())(t)
		const gamma = 3
		read := func(t *testing.T, sum *ridge.Summary, from int) string {
			parts := make([]string, 9)
			for i := range parts { // each reader begins with something else
				i = (i + from) % len(parts)
				var out any
				switch i {
				case 0:
					out = said(must(sum.Fit(gamma))(t), must(sum.FitFD(gamma))(t))
				case 1:
					out = said(must(sum.Path(choose.Grid(sum, 4)))(t)...)
				case 2:
					out = must(sum.PredictInterval(gamma, s.x[:s.d]))(t)
				case 3:
					p := must(sum.Predictor(gamma))(t)
					dst := make([]ridge.Interval, 10*storedTargets)
					if err := p.Predict(dst, dataset.Block{N: 10, X: s.x[:10*s.d]}); err != nil {
						t.Error(err)
					}
					out = dst
				case 4:
					out = must(sum.MarshalBinary())(t)
				case 5:
					other := must(ridge.NewSummary(sum.Config()))(t)
					if err := other.Merge(sum); err != nil {
						t.Error(err)
					}
					out = must(other.MarshalBinary())(t)
				case 6:
					out = fmt.Sprint(
						*must(plan.New(sum, plan.Config{}))(t),
						must(plan.PredictedPasses(sum, gamma, 1e-8, ridge.CG))(t),
					)
				case 7:
					out = fmt.Sprint(
						sum.Rows(),
						sum.BinarySize(),
						sum.Sketch().Bound(),
						*must(sum.Sketch().Spectrum())(t),
					)
				case 8:
					out = said(must(ridge.Solve(ctx, s.source(), sum, gamma, ridge.SolveOptions{}))(t))
				}
				parts[i] = fmt.Sprint(out)
			}
			return strings.Join(parts, "\n")
		}
		want := read(t, sum, 0)
		fresh := must(ridge.ReadSummary(bytes.NewReader(message), be))(t) // nothing is worked out yet
		var wg sync.WaitGroup
		for g := range 18 {
			wg.Go(func() {
				t.Run("", func(t *testing.T) {
					if got := read(t, fresh, g); got != want {
						t.Errorf("a reader among others reads something else, %s", firstDifference(got, want))
					}
				})
			})
		}
		wg.Wait()
	})
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
	s := newStored(4, 5*storedBlock+9, 20)
	sum := must(ridge.Summarize(context.Background(), s.source(), ridge.SummaryConfig{Size: 6}, nil))(t)
	before := must(sum.MarshalBinary())(t)
	for name, call := range cancellable {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t)
			reads := 0
			s.reached = func(int) { reads++ }
			if ok, err := call(context.Background(), s.source(), sum); !ok || err != nil {
				t.Fatal(ok, err)
			}
			total := reads
			for stop := range total - readAhead { // or these are the last ones
				ctx, cancel := context.WithCancel(context.Background())
				reads = 0
				s.reached = func(int) {
					if reads == stop {
						cancel()
					}
					reads++
				}
				if ok, err := call(ctx, s.source(), sum); ok || err != context.Canceled {
					t.Errorf("cancelled at read %d of %d: %v, %v", stop, total, ok, err)
				}
				if reads > stop+1+readAhead {
					t.Errorf("cancelled at read %d of %d: %d more were made", stop, total, reads-stop-1)
				}
				cancel()
			}
			if !bytes.Equal(must(sum.MarshalBinary())(t), before) {
				t.Error("the summary has changed")
			}
		})
	}
}

// TestCancelAfterPass: what follows a pass, and may take longer, listens too.
func TestCancelAfterPass(t *testing.T) {
	s := newStored(4, 5*storedBlock+9, 20)
	for name, call := range map[string]func(ctx context.Context, progress func(rows int64)) (result bool, err error){
		"CrossValidate": func(ctx context.Context, progress func(rows int64)) (bool, error) {
			cv := choose.CrossValidation{Progress: func(_ int, rows int64) { progress(rows) }}
			r, err := choose.CrossValidate(ctx, s.source(), ridge.SummaryConfig{Size: 6}, cv)
			return r != nil, err
		},
		"Exact": func(ctx context.Context, progress func(rows int64)) (bool, error) {
			f, err := ridge.SolveExact(ctx, s.source(), []float64{1}, ridge.ExactOptions{Progress: progress})
			return f != nil, err
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		ok, err := call(ctx, func(rows int64) {
			if rows == int64(s.n) {
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
	s := newStored(5, 1500, 40)
	sum := must(ridge.Summarize(context.Background(), s.source(), ridge.SummaryConfig{Size: 6}, nil))(t)
	for name, call := range cancellable {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t)
			start := time.Now()
			if ok, err := call(context.Background(), s.source(), sum); !ok || err != nil {
				t.Fatal(ok, err)
			}
			took, cut := time.Since(start), 0
			const calls = 10
			for range calls {
				ctx, cancel := context.WithCancel(context.Background())
				timer := time.AfterFunc(rand.N(took), cancel)
				ok, err := call(ctx, s.source(), sum)
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
	s := newStored(6, 40*storedBlock, 16)
	cfg := ridge.SummaryConfig{Dim: s.d, Targets: storedTargets, Size: 5}
	whole := must(ridge.Summarize(context.Background(), s.source(), cfg, nil))(t)
	for range 12 {
		ctx, cancel := context.WithCancel(context.Background())
		last := rand.N(30 * storedBlock)
		s.reached = func(row int) {
			if row >= last {
				cancel()
			}
		}
		sum := must(ridge.NewSummary(cfg))(t)
		if err := sum.Continue(ctx, s.source(), nil); err != context.Canceled {
			t.Fatal(err)
		}
		cancel()
		s.reached = nil
		n := int(sum.Rows())
		if n >= s.n || n > last+storedBlock {
			t.Fatalf("%d rows seen, cancelled at %d", n, last)
		}
		k := mat.NewSymDense(s.d, nil)
		for i := range n {
			k.SymRankOne(k, s.w[i], mat.NewVecDense(s.d, s.x[i*s.d:(i+1)*s.d]))
		}
		p := must(sum.Sketch().Spectrum())(t)
		for l, s2 := range p.Sigma2 {
			k.SymRankOne(k, -s2, mat.NewVecDense(s.d, p.V[l*s.d:(l+1)*s.d]))
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
		if err := sum.Continue(context.Background(), s.source(), nil); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(must(sum.MarshalBinary())(t), must(whole.MarshalBinary())(t)) {
			t.Errorf("going on after %d rows gives something else", n)
		}
	}
}
