package ridge_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// TestOneShotCertificates: every bound and bracket of the one-pass fits holds
// against 512-bit arithmetic.
func TestOneShotCertificates(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		worst := 0.0
		rapid.Check(t, func(t *rapid.T) {
			p := testkit.DrawProblem(t, be)
			robust, plain := testkit.Must(p.Sum.Fit(p.Gamma))(t), testkit.Must(p.Sum.FitFD(p.Gamma))(t)
			worst = math.Max(worst, testkit.Certificate(t, p.Ref, robust))
			worst = math.Max(worst, testkit.Certificate(t, p.Ref, plain))
			if !(robust.Contraction < 1) && robust.Shrinkage > 1e-9*p.Gamma {
				t.Errorf("RFD does not contract: %g", robust.Contraction)
			}
		})
		t.Logf("worst error/bound %.3g", worst)
	})
}

// TestSolveCertificates: whatever a solver returns, converged or not, is within
// its certificate.
func TestSolveCertificates(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		drawn, converged := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			drawn++
			p := testkit.DrawProblem(t, be)
			opts := ridge.SolveOptions{
				Method: rapid.SampledFrom(testkit.Methods).Draw(t, "method"), PlainFD: rapid.Bool().Draw(t, "plain"),
				Tol:       rapid.SampledFrom([]float64{1e-3, 1e-8, 1e-10}).Draw(t, "tol"),
				MaxPasses: rapid.IntRange(1, 60).Draw(t, "passes"),
			}
			fits, err := ridge.SolvePath(context.Background(), p.Table, p.Sum, []float64{p.Gamma, 3 * p.Gamma}, opts)
			var short *ridge.NotConvergedError
			if errors.As(err, &short) {
				if fits != nil || len(short.Solutions) != 2 || short.Status.Err() == nil ||
					!errors.Is(err, short.Status.Err()) {
					t.Fatalf("%d fits and %d best fits: %v", len(fits), len(short.Solutions), err)
				}
				fits = short.Solutions
			} else if err != nil {
				t.Fatal(err)
			} else {
				converged++
			}
			for _, f := range fits {
				testkit.Certificate(t, p.Ref, f)
				checkGradient(t, p, f)
				if f.Passes > 1+opts.MaxPasses {
					t.Errorf("%d passes, at most %d were allowed", f.Passes-1, opts.MaxPasses)
				}
				for _, o := range f.Targets {
					e := o.RelativeErrorBound
					if err == nil && !(e <= opts.Tol) && !isZero(p, f) {
						t.Errorf("certified %g, asked for %g", e, opts.Tol)
					}
				}
			}
		})
		if 5*converged < drawn {
			t.Errorf("only %d of %d problems converged", converged, drawn)
		}
	})
}

// isZero tells that AᵀY is zero to round-off, of what A and Y were before they were
// centred, so that no relative error can be certified.
func isZero(p testkit.Drawn, f *ridge.Solution) bool {
	raw := testkit.Norm(testkit.Flat(p.Table.X)) * testkit.Norm(testkit.Flat(p.Table.Y))
	for j := range p.Ref.T {
		if refbig.Norm(p.Ref.C[j]) <= 1e-12*31*raw { // no weight is more than 31
			return f.Status == ridge.ZeroSolution
		}
	}
	return false
}

// checkGradient compares the reported gradient norm with 512-bit arithmetic, relative to ‖c‖ + (‖A‖² +
// γ)‖x‖, the size of the terms that cancel. It allows for the round-off of the raw rows, before centring.
func checkGradient(t rapid.TB, p testkit.Drawn, f *ridge.Solution) {
	t.Helper()
	raw := math.Pow(testkit.Norm(testkit.Flat(p.Table.X)), 2) + math.Pow(testkit.Norm(testkit.Flat(p.Table.Y)), 2)
	for j := range p.Ref.T {
		x := f.Targets[j].Coef
		if begun := testkit.Must(p.Sum.Path([]float64{f.Gamma}))(t)[0]; math.IsNaN(f.Targets[j].GradientNorm) {
			plain := testkit.Must(p.Sum.FitFD(f.Gamma))(t)
			if !slices.Equal(x, begun.Targets[j].Coef) && !slices.Equal(x, plain.Targets[j].Coef) {
				t.Errorf("no gradient of weights that are not those of one pass")
			}
			continue
		}
		want := refbig.Norm(p.Ref.Gradient(f.Gamma, j, x))
		scale := refbig.Norm(p.Ref.C[j]) + (testkit.ScaleOf(p.Ref)+f.Gamma)*testkit.Norm(x)
		if !(math.Abs(f.Targets[j].GradientNorm-want) <= 1e-10*scale+100*testkit.Eps*raw*(1+testkit.Norm(x))) {
			t.Errorf("‖g‖ reported %g, is %g", f.Targets[j].GradientNorm, want)
		}
	}
}

// TestContraction: the error of t Newton steps is at most qᵗ‖x*‖, and the paper's
// rate b/(2−b) is not needed: RFD contracts by ρ/(γ+ρ) for every γ.
func TestContraction(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(1, 2)), "gaussian", 200, 30, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 8})
	ref := refbig.New(s.X, s.Y, nil, false)
	for _, ratio := range []float64{10, 2, 1, 0.5, 0.1} {
		gamma := ratio * testkit.Must(sum.Fit(1))(t).Shrinkage
		want := testkit.Must(ref.Solve(gamma))(t).Coef[0]
		for _, plain := range []bool{false, true} {
			for passes := 1; passes <= 9; passes += 2 {
				_, err := ridge.Solve(
					context.Background(),
					s,
					sum,
					gamma,
					ridge.SolveOptions{Method: ridge.Newton, PlainFD: plain, Tol: 1e-15, MaxPasses: passes},
				)
				var short *ridge.NotConvergedError
				if !errors.As(err, &short) {
					t.Fatal(err)
				}
				f := short.Solutions[0]
				q := f.Contraction
				limit := math.Pow(q, float64(passes)) * refbig.Norm(want)
				if q < 1 && !(refbig.Distance(f.Targets[0].Coef, want) <= limit*(1+1e-10)+1e-12*refbig.Norm(want)) {
					t.Errorf(
						"γ/η = %g, plain %v: after %d steps the error is %g, qᵗ‖x*‖ = %g",
						ratio,
						plain,
						passes,
						refbig.Distance(f.Targets[0].Coef, want),
						limit,
					)
				}
				rate := f.Shrinkage / gamma
				if !plain {
					rate = rate / 2 / (1 + rate/2) // ρ/(γ+ρ) with ρ = η/2
				}
				if !(math.Abs(q-rate) <= 1e-9*rate) {
					t.Errorf("γ/η = %g, plain %v: q = %g, want %g", ratio, plain, q, rate)
				}
			}
		}
	}
}

// TestCGTerminates: in exact arithmetic, conjugate gradients end after as many steps as AᵀA has different
// eigenvalues, however far apart these are. Round-off adds a few steps. Steepest descent would take thousands.
func TestCGTerminates(t *testing.T) {
	const d, different = 24, 4
	var s testkit.Table
	r := rand.New(rand.NewPCG(12, 3))
	for i := range d {
		x := make([]float64, d)
		x[i] = math.Pow(10, float64(i%different))
		s.X, s.Y = append(s.X, x), append(s.Y, testkit.Normals(r, 1))
	}
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: d})
	f := testkit.Must(
		ridge.Solve(
			context.Background(),
			s,
			sum,
			1,
			ridge.SolveOptions{Hessian: ridge.Identity{Largest: 1e6}, Tol: 1e-9},
		),
	)(
		t,
	)
	if f.Passes-1 > 3*different {
		t.Errorf("%d passes for %d eigenvalues", f.Passes-1, different)
	}
}

// TestSummaryMerge: parts merged in any order are the whole: certificates hold
// on the union, with intercept and weights.
func TestSummaryMerge(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
			n, d := rapid.IntRange(1, 60).Draw(t, "n"), rapid.IntRange(1, 10).Draw(t, "d")
			s := testkit.Problem(
				r,
				rapid.SampledFrom([]string{"gaussian", "offset", "dependent", "constant"}).Draw(t, "kind"),
				n,
				d,
				2,
				1,
			)
			intercept := rapid.Bool().Draw(t, "intercept")
			cfg := ridge.SummaryConfig{
				Dim:       d,
				Targets:   2,
				Size:      rapid.IntRange(1, 11).Draw(t, "m"),
				Intercept: intercept,
				Store:     testkit.DrawStore(t),
				Backend:   be,
			}
			var w []float64
			if rapid.Bool().Draw(t, "weighted") {
				for range n {
					w = append(w, float64(r.IntN(4)))
				}
				testkit.SomeWeight(w)
			}
			sums := make([]*ridge.Summary, 4)
			for i := range sums {
				sums[i] = testkit.Must(ridge.NewSummary(cfg))(t)
			}
			for i := range n {
				var wi []float64
				if w != nil {
					wi = w[i : i+1]
				}
				k := r.IntN(4)
				if err := sums[k].Append(mat.NewDense(1, d, s.X[i]), mat.NewDense(1, 2, s.Y[i]), wi); err != nil {
					t.Fatal(err)
				}
			}
			for len(sums) > 1 {
				i := 1 + r.IntN(len(sums)-1)
				if err := sums[0].Merge(sums[i]); err != nil {
					t.Fatal(err)
				}
				sums = append(sums[:i], sums[i+1:]...)
			}
			ref := refbig.New(s.X, s.Y, w, intercept)
			testkit.Certificate(
				t,
				ref,
				testkit.Must(sums[0].Fit(testkit.ScaleOf(ref)*math.Pow(10, rapid.Float64Range(-6, 1).Draw(t, "log γ"))))(t),
			)
		})
	})
}

// TestDecay: rows seen before a decay count for less, in streams and in merges, with
// intercept and weights, and every certificate is about them.
func TestDecay(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 8))
			kind := rapid.SampledFrom([]string{"gaussian", "decaying", "offset", "dependent", "integers"}).Draw(t, "kind")
			n, d, k := rapid.IntRange(2, 50).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "d"), rapid.IntRange(1, 2).Draw(t, "t")
			intercept := rapid.Bool().Draw(t, "intercept")
			cfg := ridge.SummaryConfig{
				Dim:        d,
				Targets:    k,
				Size:       rapid.IntRange(1, 9).Draw(t, "m"),
				ShrinkRows: rapid.IntRange(1, 9).Draw(t, "p"),
				Intercept:  intercept,
				Store:      testkit.DrawStore(t),
				Backend:    be,
			}
			s := testkit.Problem(r, kind, n, d, k, 1)
			sums := []*ridge.Summary{testkit.Must(ridge.NewSummary(cfg))(t), testkit.Must(ridge.NewSummary(cfg))(t)}
			w, seen := make([]float64, n), make([][]int, 2)
			for i := range n {
				at := r.IntN(2)
				w[i] = 1
				weights := []float64(nil)
				if r.IntN(3) == 0 {
					w[i] = 4 * r.Float64()
					weights = w[i : i+1 : i+1]
					weights = append([]float64(nil), weights...)
				}
				if err := sums[at].Append(mat.NewDense(1, d, s.X[i]), mat.NewDense(1, k, s.Y[i]), weights); err != nil {
					t.Fatal(err)
				}
				seen[at] = append(seen[at], i)
				if r.IntN(4) == 0 {
					beta := []float64{1, 0.5, 0.9, 0.999, 0.01}[r.IntN(5)]
					if err := sums[at].Decay(beta); err != nil {
						t.Fatal(err)
					}
					for _, j := range seen[at] {
						w[j] *= beta
					}
				}
			}
			if err := sums[0].Merge(sums[1]); err != nil {
				t.Fatal(err)
			}
			ref := refbig.New(s.X, s.Y, w, intercept)
			gamma := testkit.ScaleOf(ref) * math.Pow(10, rapid.Float64Range(-6, 1).Draw(t, "log γ"))
			testkit.Certificate(t, ref, testkit.Must(sums[0].Fit(gamma))(t))
		})
	})
	s := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2}))(t)
	for _, beta := range []float64{0, -1, 1.5, math.NaN(), math.Inf(1)} {
		if err := s.Decay(beta); err == nil {
			t.Errorf("decayed by %v", beta)
		}
	}
}

// sparseRow is a block of n rows with two targets and the columns given, good or bad.
func sparseRow(d, n int, pointers []int, columns ...int32) dataset.Block {
	val := make([]float64, len(columns))
	return dataset.Block{
		N:      n,
		Y:      make([]float64, 2*n),
		Sparse: &engine.CSR{Rows: n, Cols: d, RowPtr: pointers, ColIdx: columns, Val: val},
	}
}

func TestSummaryRefuses(t *testing.T) {
	const d = 3
	cfg := ridge.SummaryConfig{Dim: d, Targets: 2, Size: 2, Intercept: true}
	s := testkit.Must(ridge.NewSummary(cfg))(t)
	ok := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, d, 2, 1)
	if err := s.Append(mat.NewDense(20, d, testkit.Flat(ok.X)), mat.NewDense(20, 2, testkit.Flat(ok.Y)), nil); err != nil {
		t.Fatal(err)
	}
	before := testkit.Must(s.Fit(1))(t)
	with := func(r, c, i, j int, v float64) *mat.Dense {
		x := mat.NewDense(r, c, nil)
		x.Set(i, j, v)
		return x
	}
	y := mat.NewDense(7, 2, nil)
	ones := []float64{1, 1, 1, 1, 1, 1, 1}
	at := func(row, col int) func(error) bool {
		return func(err error) bool {
			var e *fd.NonFiniteError
			return errors.As(err, &e) && e.Row == row && e.Col == col
		}
	}
	shape := func(err error) bool { return errors.Is(err, ridge.ErrShape) }
	overflow := func(err error) bool { var e *fd.RangeError; return errors.As(err, &e) }
	otherSize, otherIntercept := cfg, cfg
	otherSize.Size, otherIntercept.Intercept = 3, false
	for name, c := range map[string]struct {
		err error
		ok  func(error) bool
	}{
		"NaN in x":        {s.Append(with(7, d, 5, 1, math.NaN()), y, nil), at(5, 1)},
		"Inf in y":        {s.Append(mat.NewDense(7, d, nil), with(7, 2, 6, 1, math.Inf(1)), nil), at(6, d+1)},
		"NaN weight":      {s.Append(mat.NewDense(7, d, nil), y, []float64{1, 1, math.NaN(), 1, 1, 1, 1}), at(2, d+2)},
		"negative weight": {s.Append(mat.NewDense(7, d, nil), y, []float64{1, -1, 1, 1, 1, 1, 1}), at(1, d+2)},
		"huge weight":     {s.Append(mat.NewDense(7, d, nil), y, []float64{1, 1e300, 1, 1, 1, 1, 1}), overflow},
		"huge x":          {s.Append(with(7, d, 1, 1, 1e160), y, nil), overflow},
		"huge y":          {s.Append(mat.NewDense(7, d, nil), with(7, 2, 1, 1, -1e160), ones), overflow},
		"rows":            {s.Append(mat.NewDense(6, d, nil), y, nil), shape},
		"columns":         {s.Append(mat.NewDense(7, d+1, nil), y, nil), shape},
		"targets":         {s.Append(mat.NewDense(7, d, nil), mat.NewDense(7, 1, nil), nil), shape},
		"weights":         {s.Append(mat.NewDense(7, d, nil), y, ones[1:]), shape},
		"sparse column":   {s.AppendBlock(sparseRow(d, 1, []int{0, 1}, int32(d))), shape},
		"sparse order":    {s.AppendBlock(sparseRow(d, 1, []int{0, 2}, 1, 1)), shape},
		"sparse pointers": {s.AppendBlock(sparseRow(d, 1, []int{0, 7}, 1)), shape},
		"row pointers":    {s.AppendBlock(sparseRow(d, 2, []int{0, 1}, 1)), shape},
		"self":            {s.Merge(s), shape},
		"other size":      {s.Merge(testkit.Must(ridge.NewSummary(otherSize))(t)), shape},
		"other intercept": {s.Merge(testkit.Must(ridge.NewSummary(otherIntercept))(t)), shape},
	} {
		if c.err == nil || !c.ok(c.err) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	ridgetest.Bitwise(t, "after refused calls", before, testkit.Must(s.Fit(1))(t), 1, 1)
	if s.Rows() != 20 {
		t.Errorf("%d rows", s.Rows())
	}
}

func TestSolveRefuses(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 3, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 2})
	ctx := context.Background()
	for _, gamma := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		var e *ridge.GammaError
		if _, err := ridge.Solve(ctx, s, sum, gamma, ridge.SolveOptions{}); !errors.As(err, &e) {
			t.Errorf("Solve, γ = %v: %v", gamma, err)
		}
		if _, err := sum.Fit(gamma); !errors.As(err, &e) {
			t.Errorf("Fit, γ = %v: %v", gamma, err)
		}
	}
	for _, o := range []ridge.SolveOptions{{Tol: -1}, {Tol: math.NaN()}, {MaxPasses: -1}, {Method: 9}} {
		if _, err := ridge.Solve(ctx, s, sum, 1, o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
	shorter := testkit.Table{X: s.X[1:], Y: s.Y[1:]}
	if _, err := ridge.Solve(ctx, shorter, sum, 1, ridge.SolveOptions{}); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("other rows: %v", err)
	}
	if _, err := ridge.Solve(ctx, unknownLength{shorter}, sum, 1, ridge.SolveOptions{}); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("other rows, found while reading: %v", err)
	}
	weighted := s
	weighted.W = make([]float64, len(s.X))
	weighted.W[0], weighted.W[7] = 2, 3
	if _, err := ridge.Solve(
		ctx, s, testkit.Summarize(t, weighted, ridge.SummaryConfig{Size: 2}), 1, ridge.SolveOptions{},
	); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("a weighted summary, rows without weights: %v", err)
	}
	none := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2}))(t)
	if _, err := none.Fit(1); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("fit of nothing: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ridge.Solve(cancelled, s, sum, 1, ridge.SolveOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2, Targets: -1}); err == nil {
		t.Error("a negative number of targets was accepted")
	}
}

type unknownLength struct{ testkit.Table }

func (u unknownLength) Dims() (int64, int, int) { _, d, t := u.Table.Dims(); return -1, d, t }

// TestFDNewtonDiverges: with η > 2γ the paper's iFDRR diverges, but CG with the same sketch converges. The error
// reports the divergence and has the best fit.
func TestFDNewtonDiverges(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(3, 3)), "gaussian", 300, 30, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 4})
	gamma := 0.02 * testkit.Must(sum.Fit(1))(t).Shrinkage
	_, err := ridge.Solve(context.Background(), s, sum, gamma, ridge.SolveOptions{Method: ridge.Newton, PlainFD: true})
	var short *ridge.NotConvergedError
	if !errors.As(err, &short) || !errors.Is(err, ridge.ErrDiverged) || short.Status != ridge.Diverged {
		t.Fatal(err)
	}
	testkit.Certificate(t, refbig.New(s.X, s.Y, nil, false), short.Solutions[0])
	f := testkit.Must(ridge.Solve(context.Background(), s, sum, gamma, ridge.SolveOptions{PlainFD: true}))(t)
	testkit.Certificate(t, refbig.New(s.X, s.Y, nil, false), f)
}

// still is a source whose passes allocate the same every time.
type still struct {
	block dataset.Block
	d     int
}

func (s still) Dims() (int64, int, int) { return int64(s.block.N), s.d, 1 }

func (s still) Blocks(context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) { yield(s.block, nil) }
}

// TestIterationsAllocateNothing: more passes, not more memory, beyond the one
// closure the source itself makes for a pass.
func TestIterationsAllocateNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		s := testkit.Problem(rand.New(rand.NewPCG(2, 8)), "gaussian", 200, 40, 1, 1)
		for _, sparse := range []bool{false, true} {
			src := still{dataset.Block{N: 200, X: testkit.Flat(s.X), Y: testkit.Flat(s.Y)}, 40}
			if sparse {
				src.block.X, src.block.Sparse = nil, testkit.Compress(s.X)
			}
			sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 4, Intercept: true, Backend: be})
			for _, m := range testkit.Methods {
				count := func(passes int) float64 {
					return testing.AllocsPerRun(5, func() {
						_, err := ridge.SolvePath(
							context.Background(),
							src,
							sum,
							[]float64{1e-3, 1e-2},
							ridge.SolveOptions{Method: m, Tol: 1e-13, MaxPasses: passes},
						)
						var short *ridge.NotConvergedError
						if !errors.As(err, &short) {
							t.Fatal(err)
						}
					})
				}
				few, many := count(5), count(15)
				source := testing.AllocsPerRun(5, func() {
					for range src.Blocks(context.Background()) {
					}
				})
				if perPass := (many - few) / 10; !(perPass <= source+2) {
					t.Errorf("%v, sparse %v: %v allocations a pass, the source makes %v", m, sparse, perPass, source)
				}
			}
		}
	})
}

func TestSummaryAppendAllocatesNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		s := testkit.Problem(rand.New(rand.NewPCG(2, 8)), "gaussian", 200, 40, 2, 1)
		b := dataset.Block{N: 200, X: testkit.Flat(s.X), Y: testkit.Flat(s.Y)}
		for _, intercept := range []bool{false, true} {
			sum := testkit.Must(
				ridge.NewSummary(ridge.SummaryConfig{Dim: 40, Targets: 2, Size: 8, Intercept: intercept, Backend: be}),
			)(
				t,
			)
			if err := sum.AppendBlock(b); err != nil {
				t.Fatal(err)
			}
			if got := testing.AllocsPerRun(10, func() {
				if err := sum.AppendBlock(b); err != nil {
					t.Fatal(err)
				}
			}); !(got == 0) {
				t.Errorf("intercept %v: %v allocations a block", intercept, got)
			}
		}
	})
}

func TestFitAccessors(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(2, 1)), "offset", 50, 4, 2, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 4, Intercept: true})
	f := testkit.Must(sum.Fit(1e-3))(t)
	out := make([]float64, 2)
	rss := make([]float64, 2)
	for i, x := range s.X {
		if err := f.PredictRow(out, x); err != nil {
			t.Fatal(err)
		}
		for j := range out {
			rss[j] += (out[j] - s.Y[i][j]) * (out[j] - s.Y[i][j])
		}
	}
	for j := range rss {
		r2, want := f.Targets[j].R2(), 1-rss[j]/f.Targets[j].ComputedTSS
		if !(r2.Lo <= want+1e-9) || !(r2.Hi >= want-1e-9) {
			t.Errorf("R² %v, %g by prediction", r2, want)
		}
	}
	if err := f.PredictRow(out, s.X[0][1:]); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("short sample: %v", err)
	}
	if got := testing.AllocsPerRun(10, func() {
		if err := f.PredictRow(out, s.X[0]); err != nil {
			t.Fatal(err)
		}
	}); !(got == 0) {
		t.Errorf("%v allocations a sample", got)
	}
	all := mat.NewDense(50, 4, testkit.Flat(s.X))
	yhat := testkit.Must(f.Predict(all))(t)
	for i, x := range s.X {
		if err := f.PredictRow(out, x); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(yhat.RawRowView(i), out) {
			t.Errorf("row %d is predicted as %v, alone as %v", i, yhat.RawRowView(i), out)
		}
	}
	for name, x := range map[string]mat.Matrix{
		"too few features":       all.Slice(0, 50, 0, 3),
		"the samples as columns": all.T(),
		"none":                   nil,
	} {
		if _, err := f.Predict(x); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := new(ridge.Solution).Predict(all); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("a solution of nothing: %v", err)
	}
	coef := f.Coef()
	for j, o := range f.Targets {
		if !slices.Equal(coef.RawRowView(j), o.Coef) || !math.IsNaN(o.GradientNorm) {
			t.Errorf("target %d: %+v, and its row is %v", j, o, coef.RawRowView(j))
		}
		coef.Set(j, 0, math.NaN())
		if o.Coef[0] != o.Coef[0] {
			t.Error("Coef is no copy")
		}
	}
	if got := fmt.Sprint(ridge.CG, ridge.Newton, ridge.Method(99)); got != "cg newton Method(99)" {
		t.Error(got)
	}
}

func exactly(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }

// TestDotChain: in each product of a row, all terms after the first are just below half an ulp of the first. A sum from
// the left loses all of them. The errors are still within their certificates, for any number of vectors in a pass.
func TestDotChain(t *testing.T) {
	check := func(t *testing.T, be engine.Backend) {
		const n = 64
		for _, d := range []int{64, 128, 264, 300} {
			s, row := testkit.Table{}, make([]float64, d)
			for j := range row {
				row[j] = math.Sqrt(0.499 * 0x1p-52)
			}
			row[0] = 1
			for range n {
				s.X, s.Y = append(s.X, row), append(s.Y, []float64{1 + 0x1p-10})
			}
			sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 2, Backend: be})
			const gamma = n * 0x1p-10
			// Rows a of target b have x* = n·b/(n‖a‖² + γ)·a.
			squares := exactly(0)
			for _, v := range row {
				squares.Add(squares, exactly(0).Mul(exactly(v), exactly(v)))
			}
			scale := exactly(0).Quo(exactly(n*s.Y[0][0]), squares.Add(squares.Mul(squares, exactly(n)), exactly(gamma)))
			want := make([]*big.Float, d)
			for j, v := range row {
				want[j] = exactly(0).Mul(scale, exactly(v))
			}
			for _, q := range []int{1, 7, 16, 33} {
				gammas := slices.Repeat([]float64{gamma}, q)
				for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin} {
					fits, err := ridge.SolvePath(
						context.Background(),
						s,
						sum,
						gammas,
						ridge.SolveOptions{Method: m, MaxPasses: 1, Start: mat.NewDense(1, d, row)},
					)
					var missed *ridge.NotConvergedError
					if errors.As(err, &missed) {
						fits = missed.Solutions
					} else if err != nil {
						t.Fatal(err)
					}
					for _, f := range fits {
						if e := refbig.Distance(f.Targets[0].Coef, want); !(e <= f.Targets[0].ErrorBound) {
							t.Fatalf("d = %d, %d vectors, %v: error %g, bound %g", d, q, m, e, f.Targets[0].ErrorBound)
						}
					}
				}
			}
		}
	}
	enginetest.EachKernel(t, check)
	enginetest.Each(t, check)
}
