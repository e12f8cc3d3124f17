package ridge_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// eachFactor runs f for both factorizations, with and without intercept, on every
// backend.
func eachFactor(t *testing.T, f func(t *testing.T, opts ridge.ExactOptions)) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
			for _, intercept := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/intercept=%v", factor, intercept), func(t *testing.T) {
					f(t, ridge.ExactOptions{Method: factor, Intercept: intercept, Backend: be})
				})
			}
		}
	})
}

// TestExactCertificate looks for a certificate that does not hold, with a quarter of the problems unless
// FDRIDGE_THOROUGH is set. The true error stays below half the bound.
func TestExactCertificate(t *testing.T) {
	t.Parallel()
	eachFactor(t, func(t *testing.T, opts ridge.ExactOptions) {
		r := rand.New(rand.NewPCG(5, 6))
		var worst float64
		for _, kind := range testkit.Kinds {
			for _, shape := range [][3]int{{30, 6, 1}, {600, 5, 1}, {5, 9, 2}, {3, 1, 1}, {1, 3, 1}, {9, 8, 1}} {
				for _, noise := range []float64{0, 1e-6, 10} {
					s := testkit.Problem(r, kind, shape[0], shape[1], shape[2], noise)
					if r.IntN(2) == 0 {
						s.W = testkit.DrawWeights(r, shape[0])
					}
					if r.IntN(4) > 0 && os.Getenv("FDRIDGE_THOROUGH") == "" {
						continue
					}
					p := refbig.New(s.X, s.Y, s.W, opts.Intercept)
					for _, gamma := range []float64{1e-9, 1e-5, 0.1, 1, 1e6, 0} {
						fits, err := ridge.SolveExact(context.Background(), s, []float64{gamma}, opts)
						var singular *ridge.SingularError
						if errors.As(err, &singular) {
							continue
						}
						if err != nil {
							t.Fatal(err)
						}
						ratio := testkit.Certificate(t, p, fits[0])
						worst = math.Max(worst, ratio)
						if t.Failed() {
							t.Fatalf("%s %v noise %g γ=%g", kind, shape, noise, gamma)
						}
					}
				}
			}
		}
		t.Logf("worst error/bound %.3g", worst)
		if !(worst <= 0.5) {
			t.Errorf("true error is %.3g of its bound: the constants leave no margin", worst)
		}
	})
}

// TestExactBias: equal rows make every rounding error go the same way, the worst
// that adding up rows can do. Certificates hold all the same.
func TestExactBias(t *testing.T) {
	eachFactor(t, func(t *testing.T, opts ridge.ExactOptions) {
		r := rand.New(rand.NewPCG(17, 18))
		for _, kind := range []string{"constant", "same"} {
			for _, n := range []int{200, 500, 1000, 4000} {
				for _, d := range []int{1, 3} {
					s := testkit.Problem(r, kind, n, d, 1, 1e-3)
					for i := range s.Y {
						s.Y[i][0] = 0.3
					}
					p := refbig.New(s.X, s.Y, nil, opts.Intercept)
					for _, f := range testkit.MustExact(t, s, opts, 1e-6*float64(n), 1, float64(n)) {
						testkit.Certificate(t, p, f)
					}
					if t.Failed() {
						t.Fatalf("%s n=%d d=%d", kind, n, d)
					}
				}
			}
		}
	})
}

// TestExactBoundIsUseful: on ordinary data the certificate is not only true.
func TestExactBoundIsUseful(t *testing.T) {
	eachFactor(t, func(t *testing.T, opts ridge.ExactOptions) {
		s := testkit.Problem(rand.New(rand.NewPCG(7, 8)), "gaussian", 500, 10, 1, 1)
		for _, f := range testkit.MustExact(t, s, opts, 0, 1e-6, 1, 100) {
			c := f.Targets[0]
			if !(c.RelativeErrorBound <= 1e-11) {
				t.Errorf("γ=%g: relative error bound %g", f.Gamma, c.RelativeErrorBound)
			}
			for name, v := range map[string]ridge.Interval{
				"df": f.EffectiveDimension, "objective": c.Objective, "RSS": c.RSS, "GCV": c.GCV,
			} {
				if !(v.Hi-v.Lo <= 1e-10*v.Hi) {
					t.Errorf("γ=%g: %s %v is wide", f.Gamma, name, v)
				}
			}
		}
	})
}

// TestExactWide: beyond one panel of the inverse, the effective dimension agrees
// with the singular values', and QR with Cholesky.
func TestExactWide(t *testing.T) { enginetest.Each(t, exactWide) }

func exactWide(t *testing.T, be engine.Backend) {
	const n, d = 200, 150
	s := testkit.Problem(rand.New(rand.NewPCG(8, 8)), "gaussian", n, d, 2, 1)
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(n, d, testkit.Flat(s.X)), mat.SVDNone) {
		t.Fatal("SVD")
	}
	gammas := []float64{1e-4, 10, 1e4}
	chol := testkit.MustExact(t, s, ridge.ExactOptions{Backend: be}, gammas...)
	qr := testkit.MustExact(t, s, ridge.ExactOptions{Method: ridge.QR, Backend: be}, gammas...)
	for i, gamma := range gammas {
		var df float64
		for _, v := range svd.Values(nil) {
			df += v * v / (v*v + gamma)
		}
		ridgetest.Near(t, fmt.Sprintf("γ=%g", gamma), chol[i], qr[i], 1e-9)
		for _, f := range []*ridge.Solution{chol[i], qr[i]} {
			v := f.EffectiveDimension
			if !(v.Lo <= df*(1+1e-13)) || !(v.Hi >= df*(1-1e-13)) || !(v.Hi-v.Lo <= 1e-8*df) {
				t.Errorf("%s γ=%g: effective dimension %v, want %.16g", f.Method, gamma, v, df)
			}
		}
	}
}

// TestExactProgress: one pass, progress told, and the fit says what ran.
func TestExactProgress(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(9, 9)), "gaussian", 250, 3, 1, 1)
	var seen []int64
	f := testkit.MustExact(t, s, ridge.ExactOptions{Progress: func(n int64) { seen = append(seen, n) }}, 1, 2)
	if fmt.Sprint(seen) != "[100 200 250]" {
		t.Errorf("progress %v", seen)
	}
	if f[1].Rows != 250 || f[1].Passes != 1 || f[1].Method != ridge.Cholesky || f[1].Backend != engine.Names()[0] ||
		f[1].Gamma != 2 ||
		f[1].Status != ridge.Factorized {
		t.Errorf("fit says %+v", f[1])
	}
	yhat := make([]float64, 1)
	if err := f[0].PredictRow(yhat, s.X[0]); err != nil || !(math.Abs(yhat[0]-s.Y[0][0]) < 10) {
		t.Errorf("prediction %v of %v, %v", yhat, s.Y[0], err)
	}
}

func TestExactErrors(t *testing.T) {
	ctx := context.Background()
	s := testkit.Problem(rand.New(rand.NewPCG(10, 1)), "gaussian", 20, 3, 1, 1)
	call := func(s dataset.Source, opts ridge.ExactOptions, gammas ...float64) error {
		fits, err := ridge.SolveExact(ctx, s, gammas, opts)
		if (err == nil) != (fits != nil) {
			t.Errorf("fits %v with error %v", fits, err)
		}
		return err
	}
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal} {
		opts := ridge.ExactOptions{Method: factor}
		for _, g := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1), -5e-324} {
			var e *ridge.GammaError
			if err := call(s, opts, 1, g); !errors.As(err, &e) || math.Float64bits(e.Gamma) != math.Float64bits(g) {
				t.Errorf("γ=%g: %v", g, err)
			}
		}
		if err := call(empty{2, 1}, opts, 1); !errors.Is(err, ridge.ErrEmpty) {
			t.Errorf("no rows: %v", err)
		}
		for _, src := range []empty{{0, 1}, {2, 0}, {-1, 1}} {
			if err := call(src, opts, 1); !errors.Is(err, ridge.ErrShape) {
				t.Errorf("%v: %v", src, err)
			}
		}
		for _, src := range []empty{{1 << 20, 1}, {math.MaxInt / 4, 1}, {math.MaxInt, math.MaxInt}, {1, math.MaxInt / 4}} {
			var e *ridge.SizeError
			if err := call(src, opts, 1); !errors.As(err, &e) || e.Limit != 8<<30 || e.Bytes <= e.Limit {
				t.Errorf("%v: %v", src, err)
			}
		}
		var size *ridge.SizeError
		if err := call(s, ridge.ExactOptions{Method: factor, MaxBytes: 100}, 1); !errors.As(err, &size) ||
			size.Dim != 3 {
			t.Errorf("MaxBytes: %v", err)
		}
		wide := testkit.Problem(rand.New(rand.NewPCG(10, 2)), "gaussian", 3, 5, 1, 1)
		for _, intercept := range []bool{false, true} {
			var e *ridge.SingularError
			opts := ridge.ExactOptions{Method: factor, Intercept: intercept}
			refuses := factor != ridge.QR // QR returns the minimum-norm solution, see TestMinimumNorm
			if err := call(wide, opts, 0); errors.As(err, &e) != refuses || refuses && e.Method != factor {
				t.Errorf("n < d, γ = 0: %v", err)
			}
			// As many rows as features: centred, one of them is the negative sum of the others.
			for seed := range uint64(20) {
				square := testkit.Problem(rand.New(rand.NewPCG(10, 40+seed)), "gaussian", 5, 5, 1, 1)
				if err := call(square, opts, 0); errors.As(err, &e) != (intercept && refuses) {
					t.Errorf("n = d, γ = 0, intercept %v: %v", intercept, err)
				}
			}
			if err := call(wide, opts, 1e-3); err != nil {
				t.Errorf("n < d: %v", err)
			}
			if err := call(s, opts, 0); err != nil {
				t.Errorf("γ = 0: %v", err)
			}
		}
		short := wrong{s, func(b *dataset.Block) { b.X = b.X[1:] }}
		if err := call(short, opts, 1); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("short block: %v", err)
		}
		var bad *fd.NonFiniteError
		nan := wrong{s, func(b *dataset.Block) { b.X[4] = math.NaN() }}
		if err := call(nan, opts, 1); !errors.As(err, &bad) || bad.Row != 1 || bad.Col != 1 {
			t.Errorf("NaN: %v", err)
		}
		var big *fd.RangeError
		huge := wrong{s, func(b *dataset.Block) { b.Y[2] = 1e300 }}
		if err := call(huge, opts, 1); !errors.As(err, &big) || big.Row != 2 {
			t.Errorf("1e300: %v", err)
		}
	}
	if err := call(s, ridge.ExactOptions{Method: ridge.CG}, 1); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("cg as a direct method: %v", err)
	}
	// The dependent feature has a name, whether its pivot is round-off above zero, which
	// is seen afterwards, or below, where the backend's factorisation ends.
	for seed := range uint64(20) {
		dep := testkit.Problem(rand.New(rand.NewPCG(10, 3+seed)), "gaussian", 30, 4, 1, 1)
		for _, x := range dep.X {
			x[2] = x[0] - 2*x[1]
		}
		for _, factor := range []ridge.Method{ridge.Cholesky, ridge.Tridiagonal} {
			var e *ridge.SingularError
			err := call(dep, ridge.ExactOptions{Method: factor}, 0)
			if !errors.As(err, &e) || e.Column != 2 ||
				!strings.Contains(err.Error(), "feature 3 depends on those before it") {
				t.Errorf("%v, seed %d, dependent feature: %v", factor, seed, err)
			}
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ridge.SolveExact(done, s, []float64{1}, ridge.ExactOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type empty struct{ d, t int }

func (e empty) Dims() (int64, int, int) { return -1, e.d, e.t }

func (e empty) Blocks(context.Context) iter.Seq2[dataset.Block, error] {
	return func(func(dataset.Block, error) bool) {}
}

// wrong spoils the first block of a table.
type wrong struct {
	testkit.Table
	spoil func(*dataset.Block)
}

func (w wrong) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for b, err := range w.Table.Blocks(ctx) {
			if b.First == 0 && err == nil {
				w.spoil(&b)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// TestExactRepeated: many targets of few rows, repeated thousands of times, so that a
// fold rounds as the one before it did. The reference has the rows once, weighted.
func TestExactRepeated(t *testing.T) {
	eachFactor(t, func(t *testing.T, opts ridge.ExactOptions) {
		r := rand.New(rand.NewPCG(4, 0)) // of 60, the first that exceeded what 16 ulp a fold allow
		const d, targets, times = 6, 40, 7500
		var once, s testkit.Table
		for range 2 {
			x, y := testkit.Normals(r, d), testkit.Normals(r, targets)
			once.X, once.Y, once.W = append(once.X, x), append(once.Y, y), append(once.W, times)
			for range times {
				s.X, s.Y = append(s.X, x), append(s.Y, y)
			}
		}
		p := refbig.New(once.X, once.Y, once.W, opts.Intercept)
		p.N = len(s.X)
		s.Block = 8192
		for _, f := range testkit.MustExact(t, s, opts, 1e9) {
			testkit.Certificate(t, p, f)
		}
	})
}
