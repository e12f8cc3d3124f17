package ridge_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// duals are the factors of G = AAᵀ.
var duals = []ridge.Method{ridge.Dual, ridge.DualCG}

// eachDual runs f for both, with and without intercept, on every backend.
func eachDual(t *testing.T, f func(t *testing.T, opts ridge.ExactOptions)) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, factor := range duals {
			for _, intercept := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/intercept=%v", factor, intercept), func(t *testing.T) {
					f(t, ridge.ExactOptions{Method: factor, Intercept: intercept, Backend: be})
				})
			}
		}
	})
}

// wideKinds change rows of problems with few rows into rows of special kinds.
var wideKinds = map[string]func(r *rand.Rand, s *testkit.Table){
	"rows repeated": func(_ *rand.Rand, s *testkit.Table) {
		for i := range s.X {
			copy(s.X[i], s.X[i/3*3])
		}
	},
	"columns repeated": func(_ *rand.Rand, s *testkit.Table) {
		for i := range s.X {
			for j := range s.X[i] {
				s.X[i][j] = s.X[i][j/2*2]
			}
		}
	},
	"empty rows": func(_ *rand.Rand, s *testkit.Table) {
		for i := range s.X {
			if i%2 == 0 {
				clear(s.X[i])
			}
		}
	},
	"empty columns": func(_ *rand.Rand, s *testkit.Table) {
		for i := range s.X {
			for j := range s.X[i] {
				if j%3 > 0 {
					s.X[i][j] = 0
				}
			}
		}
	},
	"one entry a row": func(r *rand.Rand, s *testkit.Table) {
		for i := range s.X {
			at, v := r.IntN(len(s.X[i])), r.NormFloat64()
			clear(s.X[i])
			s.X[i][at] = v
		}
	},
	"few entries": func(r *rand.Rand, s *testkit.Table) {
		for i := range s.X {
			for j := range s.X[i] {
				if r.IntN(5) > 0 && j > 1 {
					s.X[i][j] = 0
				}
			}
		}
	},
	"rows of all sizes": func(r *rand.Rand, s *testkit.Table) {
		for i := range s.X {
			f := math.Exp2(float64(r.IntN(40) - 20))
			for j := range s.X[i] {
				s.X[i][j] *= f
			}
		}
	},
}

// TestDualCertificate looks for a certificate that does not hold, of dense rows and of sparse ones.
func TestDualCertificate(t *testing.T) {
	all := map[string]func(r *rand.Rand, s *testkit.Table){}
	for _, kind := range testkit.Kinds {
		all[kind] = nil
	}
	for kind, change := range wideKinds {
		all[kind] = change
	}
	eachDual(t, func(t *testing.T, opts ridge.ExactOptions) {
		r := rand.New(rand.NewPCG(15, 6))
		for kind, change := range all {
			for _, shape := range [][3]int{{5, 9, 2}, {8, 8, 1}, {12, 5, 1}, {1, 3, 1}, {2, 1, 1}} {
				base := kind
				if change != nil {
					base = "gaussian"
				}
				s := testkit.Problem(r, base, shape[0], shape[1], shape[2], 0.1)
				if change != nil {
					change(r, &s)
				}
				s.Block, s.Sparse = 3, r.IntN(2) == 0
				if r.IntN(2) == 0 {
					s.W = testkit.DrawWeights(r, shape[0])
				}
				p := refbig.New(s.X, s.Y, s.W, opts.Intercept)
				for _, gamma := range []float64{1e-9, 1e-3, 1, 1e6} {
					opts.Tol = []float64{0, 1e-15}[r.IntN(2)]
					fits, err := ridge.SolveExact(context.Background(), s, []float64{gamma}, opts)
					if _, singular := errors.AsType[*ridge.SingularError](err); singular {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					testkit.Certificate(t, p, fits[0])
					if t.Failed() {
						t.Fatalf("%s %v γ=%g sparse=%v weights=%v tol=%g", kind, shape, gamma, s.Sparse, s.W, opts.Tol)
					}
				}
			}
		}
	})
}

// TestDualIsCertified: rows of ordinary data are certified to the last digits, and what is said
// of degrees of freedom and GCV is known to many.
func TestDualIsCertified(t *testing.T) {
	eachDual(t, func(t *testing.T, opts ridge.ExactOptions) {
		r := rand.New(rand.NewPCG(25, 6))
		opts.Tol = 1e-14
		for _, sparse := range []bool{false, true} {
			for kind, change := range wideKinds {
				if kind == "rows of all sizes" {
					continue
				}
				s := testkit.Problem(r, "gaussian", 40, 90, 2, 0.1)
				change(r, &s)
				s.Sparse = sparse
				for _, gamma := range []float64{1e-6, 1e-2, 10} {
					f := testkit.MustExact(t, s, opts, gamma)[0]
					for j, target := range f.Targets {
						if !(target.RelativeErrorBound <= 1e-14) {
							t.Errorf(
								"%s, γ = %g, target %d: certified to %.3g",
								kind,
								gamma,
								j,
								target.RelativeErrorBound,
							)
						}
					}
					if f.Method == ridge.DualCG {
						continue
					}
					if v := f.EffectiveDimension; !((v.Hi-v.Lo)*gamma <= 1e-8) {
						t.Errorf("%s, γ = %g: effective dimension %v", kind, gamma, v)
					}
				}
			}
		}
	})
}

// TestDualMethod: what ran is named.
func TestDualMethod(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 6))
	s := testkit.Problem(r, "gaussian", 20, 40, 1, 0.1)
	for _, c := range []struct {
		factor ridge.Method
		sparse bool
		gamma  float64
		want   ridge.Method
	}{
		{ridge.Dual, false, 1, ridge.Dual},
		{ridge.Dual, true, 1, ridge.Dual},
		{ridge.DualCG, false, 1, ridge.Dual},
		{ridge.DualCG, true, 1, ridge.DualCG},
	} {
		s.Sparse = c.sparse
		if got := testkit.MustExact(t, s, ridge.ExactOptions{Method: c.factor}, c.gamma)[0].Method; got != c.want {
			t.Errorf("%v of sparse rows = %v: %s, want %s", c.factor, c.sparse, got, c.want)
		}
	}
	// Conjugate gradients that take too long leave it to a factor.
	s = testkit.Problem(r, "gaussian", 300, 320, 1, 0.1)
	for i := range s.X {
		for j := range s.X[i] {
			s.X[i][j] *= math.Exp2(-float64(j) / 10)
		}
	}
	s.Sparse = true
	f := testkit.MustExact(t, s, ridge.ExactOptions{Method: ridge.DualCG, Tol: 1e-12}, 1e-9)[0]
	if f.Method != ridge.Dual || !(f.Targets[0].RelativeErrorBound <= 1e-12) {
		t.Errorf("hard rows: %s, certified to %.3g", f.Method, f.Targets[0].RelativeErrorBound)
	}
}

// alternating has dense and sparse blocks in turn.
type alternating struct{ testkit.Table }

func (s alternating) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for lo := 0; lo < len(s.X); lo += 4 {
			part := testkit.Table{X: s.X[lo:min(lo+4, len(s.X))], Y: s.Y[lo:min(lo+4, len(s.X))], Sparse: lo%8 == 0}
			for b, err := range part.Blocks(ctx) {
				b.First += int64(lo)
				if !yield(b, err) {
					return
				}
			}
		}
	}
}

// TestDualSources: rows in memory, blocks of them, sparse ones and both in turn are the same rows.
func TestDualSources(t *testing.T) {
	eachDual(t, func(t *testing.T, opts ridge.ExactOptions) {
		r := rand.New(rand.NewPCG(27, 6))
		s := testkit.Problem(r, "gaussian", 41, 70, 2, 0.1)
		wideKinds["few entries"](r, &s)
		want := testkit.MustExact(
			t, s, ridge.ExactOptions{Method: ridge.QR, Intercept: opts.Intercept, Backend: opts.Backend, Tol: 1e-14}, 0.5,
		)[0]
		dense, err := dataset.FromDense(41, 70, 2, testkit.Flat(s.X), testkit.Flat(s.Y))
		if err != nil {
			t.Fatal(err)
		}
		sparse, err := dataset.FromCSR(testkit.Compress(s.X), 2, testkit.Flat(s.Y))
		if err != nil {
			t.Fatal(err)
		}
		few := s
		few.Block, few.Sparse = 7, true
		for name, src := range map[string]dataset.Source{
			"dense":         dense,
			"sparse":        sparse,
			"blocks":        s,
			"sparse blocks": few,
			"alternating":   alternating{s},
		} {
			got := testkit.MustExact(t, src, opts, 0.5)[0]
			ridgetest.Near(t, name, want, got, 1e-12)
		}
	})
}

// TestDualMemory: of sparse rows nothing of n·d or d² numbers is made.
func TestDualMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 6))
	const n, d = 200, 300_000
	x, y := testkit.SparseRows(r, n, d, 30)
	src, err := dataset.FromCSR(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, factor := range duals {
		for _, intercept := range []bool{false, true} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f := testkit.MustExact(
				t, src, ridge.ExactOptions{Method: factor, Intercept: intercept, MaxBytes: 8 * n * d / 4}, 1,
			)[0]
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 8*n*d/4 {
				t.Errorf("%v: %d MiB were taken in all, n·d numbers are %d", factor, taken>>20, 8*n*d>>20)
			}
			if !(f.Targets[0].RelativeErrorBound <= 1e-12) {
				t.Errorf("%v: certified to %.3g", factor, f.Targets[0].RelativeErrorBound)
			}
		}
	}
}

// unread has rows that are not to be read.
type unread struct{ n, d int }

func (s unread) Dims() (int64, int, int) { return int64(s.n), s.d, 1 }

func (s unread) Blocks(context.Context) iter.Seq2[dataset.Block, error] {
	panic("rows were asked for")
}

func TestDualErrors(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(29, 1)), "gaussian", 20, 30, 1, 1)
	for _, factor := range duals {
		opts := ridge.ExactOptions{Method: factor}
		for _, g := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			_, err := ridge.SolveExact(context.Background(), s, []float64{g}, opts)
			if !errors.Is(err, ridge.ErrInput) {
				t.Errorf("γ = %g: %v", g, err)
			}
		}
		if _, err := ridge.SolveExact(
			context.Background(), empty{2, 1}, []float64{1}, opts,
		); !errors.Is(err, ridge.ErrEmpty) {
			t.Errorf("no rows: %v", err)
		}
		opts.MaxBytes = 4000
		e, ok := errors.AsType[*ridge.SizeError](
			func() error { _, err := ridge.SolveExact(context.Background(), s, []float64{1}, opts); return err }(),
		)
		if !ok || e.Rows == 0 || e.Dim != 30 || e.Bytes <= e.Limit || e.Limit != 4000 {
			t.Errorf("in 4000 bytes: %v", e)
		}
	}
	// n² numbers are told before a row is read.
	_, err := ridge.SolveExact(
		context.Background(),
		unread{100_000, 1_000_000},
		[]float64{1},
		ridge.ExactOptions{Method: ridge.Dual},
	)
	if e, ok := errors.AsType[*ridge.SizeError](err); !ok || e.Rows != 100_000 {
		t.Errorf("n² numbers beyond memory: %v", err)
	}
	// A row of weight zero and a constant target are no trouble.
	s.W = make([]float64, 20)
	s.W[3], s.W[7] = 2, 1
	f := testkit.MustExact(t, s, ridge.ExactOptions{Method: ridge.Dual, Intercept: true}, 1)[0]
	if !(f.Targets[0].RelativeErrorBound <= 1e-12) {
		t.Errorf("rows of weight zero: certified to %.3g", f.Targets[0].RelativeErrorBound)
	}
}

// TestDualTargetBlocks: targets that are measured in several blocks have the solutions of fits to some of the targets.
func TestDualTargetBlocks(t *testing.T) {
	const n, d, targets = 3, 60000, 50 // blocks of 46 targets
	r := rand.New(rand.NewPCG(8, 4))
	x, y := make([]float64, n*d), make([]float64, n*targets)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range y {
		y[i] = r.NormFloat64() * float64(1+i%targets)
	}
	src, err := dataset.FromDense(n, d, targets, x, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, gammas := range [][]float64{{4000}, {1, 1e4}} { // by Cholesky, and by a reduction
		opts := ridge.ExactOptions{Method: ridge.Dual, Intercept: true}
		whole, err := ridge.SolveExact(t.Context(), src, gammas, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, lo := range []int{0, 44} {
			hi := min(lo+8, targets)
			some, err := dataset.Targets(src, lo, hi)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := ridge.SolveExact(t.Context(), some, gammas, opts)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range parts {
				if w := whole[i]; w.Gamma != gammas[i] || len(w.Targets) != targets || w.Status != f.Status {
					t.Fatalf("γ = %v: %d targets at %v, status %v", gammas[i], len(w.Targets), w.Gamma, w.Status)
				}
				for j, o := range f.Targets {
					all := whole[i].Targets[lo+j]
					if all.ComputedTSS != o.ComputedTSS || !(all.RelativeErrorBound <= 1e-12) {
						t.Errorf(
							"γ = %v, target %d: ‖b‖² = %v, alone %v; error %v",
							gammas[i],
							lo+j,
							all.ComputedTSS,
							o.ComputedTSS,
							all.RelativeErrorBound,
						)
					}
					if far := floats.Distance(all.Coef, o.Coef, 2); !(far <= (all.ErrorBound+o.ErrorBound)*(1+1e-9)) {
						t.Errorf(
							"γ = %v, target %d: coefficients differ by %v, the bounds are %v and %v",
							gammas[i],
							lo+j,
							far,
							all.ErrorBound,
							o.ErrorBound,
						)
					}
				}
			}
		}
	}
}
