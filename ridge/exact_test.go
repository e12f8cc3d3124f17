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
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

const eps = 0x1p-52

// table is rows in memory, yielded block rows at a time.
type table struct {
	x, y   [][]float64
	w      []float64 // nil: unweighted
	block  int
	sparse bool
}

func (s table) Dims() (int64, int, int) { return int64(len(s.x)), len(s.x[0]), len(s.y[0]) }

func (s table) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		size := s.block
		if size == 0 {
			size = 100
		}
		for lo := 0; lo < len(s.x); lo += size {
			if err := ctx.Err(); err != nil {
				yield(dataset.Block{}, err)
				return
			}
			hi := min(lo+size, len(s.x))
			b := dataset.Block{First: int64(lo), N: hi - lo, Y: flat(s.y[lo:hi])}
			if s.w != nil {
				b.W = s.w[lo:hi]
			}
			if s.sparse {
				b.Sparse = compress(s.x[lo:hi])
			} else {
				b.X = flat(s.x[lo:hi])
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

func flat(x [][]float64) []float64 {
	var out []float64
	for _, row := range x {
		out = append(out, row...)
	}
	return out
}

func compress(x [][]float64) *engine.CSR {
	s := &engine.CSR{Rows: len(x), Cols: len(x[0]), RowPtr: []int{0}}
	for _, row := range x {
		for j, v := range row {
			if v != 0 {
				s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, v)
			}
		}
		s.RowPtr = append(s.RowPtr, len(s.Val))
	}
	return s
}

func mustExact(t rapid.TB, s dataset.Source, opts ridge.ExactOptions, gammas ...float64) []*ridge.Solution {
	t.Helper()
	fits, err := ridge.SolveExact(context.Background(), s, gammas, opts)
	if err != nil {
		t.Fatal(err)
	}
	return fits
}

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

// kinds are the sorts of data that problem makes.
var kinds = []string{
	"gaussian",
	"decaying",
	"graded",
	"dependent",
	"constant",
	"offset",
	"integers",
	"tiny",
	"zero",
	"same",
}

// problem makes n rows of d features of one kind, and t targets y = Xw + noise.
func problem(r *rand.Rand, kind string, n, d, t int, noise float64) table {
	w := make([][]float64, t)
	for q := range w {
		w[q] = normals(r, d)
	}
	row0 := normals(r, d)
	var s table
	for range n {
		x := normals(r, d)
		for j := range x {
			switch kind {
			case "decaying":
				x[j] = x[j]*math.Exp2(-2*float64(j)) + x[0]
			case "graded":
				x[j] *= math.Exp2(float64(4*j) - 20)
			case "dependent":
				x[j] = x[j/2]
			case "constant":
				if j%2 == 0 {
					x[j] = 0.1
				}
			case "offset":
				x[j] += 1000
			case "integers":
				x[j] = math.Round(2 * x[j])
			case "tiny":
				x[j] *= 0x1p-530
			case "zero":
				x[j] = 0
			case "same":
				x[j] = row0[j]
			}
		}
		y := make([]float64, t)
		for q := range y {
			y[q] = noise * r.NormFloat64()
			for j := range x {
				y[q] += w[q][j] * x[j]
			}
		}
		s.x, s.y = append(s.x, x), append(s.y, y)
	}
	return s
}

func normals(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

// TestExactCertificate looks for a certificate that does not hold, with a quarter of the problems unless
// FDRIDGE_THOROUGH is set. The true error stays below half the bound.
func TestExactCertificate(t *testing.T) {
	t.Parallel()
	eachFactor(t, func(t *testing.T, opts ridge.ExactOptions) {
		r := rand.New(rand.NewPCG(5, 6))
		var worst float64
		for _, kind := range kinds {
			for _, shape := range [][3]int{{30, 6, 1}, {600, 5, 1}, {5, 9, 2}, {3, 1, 1}, {1, 3, 1}, {9, 8, 1}} {
				for _, noise := range []float64{0, 1e-6, 10} {
					s := problem(r, kind, shape[0], shape[1], shape[2], noise)
					if r.IntN(2) == 0 {
						s.w = drawWeights(r, shape[0])
					}
					if r.IntN(4) > 0 && os.Getenv("FDRIDGE_THOROUGH") == "" {
						continue
					}
					p := refbig.New(s.x, s.y, s.w, opts.Intercept)
					for _, gamma := range []float64{1e-9, 1e-5, 0.1, 1, 1e6, 0} {
						fits, err := ridge.SolveExact(context.Background(), s, []float64{gamma}, opts)
						var singular *ridge.SingularError
						if errors.As(err, &singular) {
							continue
						}
						if err != nil {
							t.Fatal(err)
						}
						ratio := ridgetest.Certificate(t, p, fits[0])
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
					s := problem(r, kind, n, d, 1, 1e-3)
					for i := range s.y {
						s.y[i][0] = 0.3
					}
					p := refbig.New(s.x, s.y, nil, opts.Intercept)
					for _, f := range mustExact(t, s, opts, 1e-6*float64(n), 1, float64(n)) {
						ridgetest.Certificate(t, p, f)
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
		s := problem(rand.New(rand.NewPCG(7, 8)), "gaussian", 500, 10, 1, 1)
		for _, f := range mustExact(t, s, opts, 0, 1e-6, 1, 100) {
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
	s := problem(rand.New(rand.NewPCG(8, 8)), "gaussian", n, d, 2, 1)
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(n, d, flat(s.x)), mat.SVDNone) {
		t.Fatal("SVD")
	}
	gammas := []float64{1e-4, 10, 1e4}
	chol := mustExact(t, s, ridge.ExactOptions{Backend: be}, gammas...)
	qr := mustExact(t, s, ridge.ExactOptions{Method: ridge.QR, Backend: be}, gammas...)
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

func norm(x []float64) float64 { return mat.Norm(mat.NewVecDense(len(x), x), 2) }

// TestExactProgress: one pass, progress told, and the fit says what ran.
func TestExactProgress(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(9, 9)), "gaussian", 250, 3, 1, 1)
	var seen []int64
	f := mustExact(t, s, ridge.ExactOptions{Progress: func(n int64) { seen = append(seen, n) }}, 1, 2)
	if fmt.Sprint(seen) != "[100 200 250]" {
		t.Errorf("progress %v", seen)
	}
	if f[1].Rows != 250 || f[1].Passes != 1 || f[1].Method != ridge.Cholesky || f[1].Backend != engine.Names()[0] ||
		f[1].Gamma != 2 ||
		f[1].Status != ridge.Factorized {
		t.Errorf("fit says %+v", f[1])
	}
	yhat := make([]float64, 1)
	if err := f[0].PredictRow(yhat, s.x[0]); err != nil || !(math.Abs(yhat[0]-s.y[0][0]) < 10) {
		t.Errorf("prediction %v of %v, %v", yhat, s.y[0], err)
	}
}

func TestExactErrors(t *testing.T) {
	ctx := context.Background()
	s := problem(rand.New(rand.NewPCG(10, 1)), "gaussian", 20, 3, 1, 1)
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
		wide := problem(rand.New(rand.NewPCG(10, 2)), "gaussian", 3, 5, 1, 1)
		for _, intercept := range []bool{false, true} {
			var e *ridge.SingularError
			opts := ridge.ExactOptions{Method: factor, Intercept: intercept}
			refuses := factor != ridge.QR // QR returns the minimum-norm solution, see TestMinimumNorm
			if err := call(wide, opts, 0); errors.As(err, &e) != refuses || refuses && e.Method != factor {
				t.Errorf("n < d, γ = 0: %v", err)
			}
			// As many rows as features: centred, one of them is the negative sum of the others.
			for seed := range uint64(20) {
				square := problem(rand.New(rand.NewPCG(10, 40+seed)), "gaussian", 5, 5, 1, 1)
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
		dep := problem(rand.New(rand.NewPCG(10, 3+seed)), "gaussian", 30, 4, 1, 1)
		for _, x := range dep.x {
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
	table
	spoil func(*dataset.Block)
}

func (w wrong) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for b, err := range w.table.Blocks(ctx) {
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
		var once, s table
		for range 2 {
			x, y := normals(r, d), normals(r, targets)
			once.x, once.y, once.w = append(once.x, x), append(once.y, y), append(once.w, times)
			for range times {
				s.x, s.y = append(s.x, x), append(s.y, y)
			}
		}
		p := refbig.New(once.x, once.y, once.w, opts.Intercept)
		p.N = len(s.x)
		s.block = 8192
		for _, f := range mustExact(t, s, opts, 1e9) {
			ridgetest.Certificate(t, p, f)
		}
	})
}
