package ridge_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestPredictIntervals: the exact solution's prediction is within the interval, from
// the sketch alone and narrowed by refined and direct fits, for rows that were fitted
// and others, dense and sparse.
func TestPredictIntervals(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		cases, worst := 0, 0.0
		rapid.Check(t, func(t *rapid.T) {
			p, gammas := testkit.DrawWide(t, be)
			r := rand.New(rand.NewPCG(uint64(cases), 3))
			rows := testkit.Table{X: p.Table.X}
			rows.X = append([][]float64{}, rows.X...) // a copy
			for range 5 {
				x := testkit.Normals(r, p.Ref.D)
				for k := range x {
					x[k] = x[k]*math.Exp2(10*r.NormFloat64()) + rows.X[0][k]*float64(r.IntN(2))
				}
				rows.X = append(rows.X, x)
			}
			gamma := gammas[0]
			want, err := p.Ref.Solve(gamma)
			if err != nil {
				t.Skip("singular")
			}
			// Where nothing was shrunk the sketch's intervals are round-off alone.
			bound, oneShot := testkit.Must(p.Sum.Sketch().Spectrum())(t).Bound, testkit.Must(p.Sum.Fit(gamma))(t)
			lossless := 8*bound.Shrinkage < bound.RoundOff && 8*oneShot.Shrinkage < gamma
			hold := func(name string, predictor *ridge.Predictor) (widths []float64) {
				b := dataset.Block{N: len(rows.X), X: testkit.Flat(rows.X)}
				if p.Table.Sparse {
					b.X, b.Sparse = nil, testkit.Compress(rows.X)
				}
				dst := make([]ridge.Interval, b.N*p.Ref.T)
				if err := predictor.Predict(dst, b); err != nil {
					t.Fatal(err)
				}
				for i, row := range rows.X {
					for j := range p.Ref.T {
						v, y := dst[i*p.Ref.T+j], testkit.Predict(want, j, row)
						testkit.Inside(t, name, v, y, y)
						at, _ := y.Float64()
						if half := (v.Hi - v.Lo) / 2; lossless && half > 0 && name == "from the sketch" {
							worst = math.Max(worst, math.Abs(at-v.Mid())/half)
						}
						widths = append(widths, v.Hi-v.Lo)
						cases++
					}
				}
				return widths
			}
			predictor := testkit.Must(p.Sum.Predictor(gamma))(t)
			alone := hold("from the sketch", predictor)
			one := testkit.Must(p.Sum.PredictInterval(gamma, rows.X[0]))(t)
			for j, v := range one {
				testkit.Inside(t, "one row", v, testkit.Predict(want, j, rows.X[0]), testkit.Predict(want, j, rows.X[0]))
			}
			narrow := func(name string, f *ridge.Solution) {
				if err := predictor.Narrow(f); err != nil {
					t.Fatal(err)
				}
				for i, w := range hold(name, predictor) {
					if !(w <= alone[i]*(1+1e-9)) {
						t.Errorf("%s: narrowed from %g to %g", name, alone[i], w)
					}
				}
				if p.Ref.Intercept {
					return
				}
				hold(name+", alone", testkit.Must(f.Predictor())(t))
			}
			narrow("one-shot", oneShot)
			f, err := ridge.Solve(
				context.Background(),
				p.Table,
				p.Sum,
				gamma,
				ridge.SolveOptions{Tol: rapid.SampledFrom([]float64{1e-1, 1e-6, 1e-12}).Draw(t, "tol"), MaxPasses: 50},
			)
			var short *ridge.NotConvergedError
			if errors.As(err, &short) {
				f = short.Solutions[0]
			} else if err != nil {
				t.Fatal(err)
			}
			narrow("refined", f)
			if fits, err := ridge.SolveExact(
				context.Background(), p.Table, []float64{gamma},
				ridge.ExactOptions{Method: ridge.QR, Intercept: p.Ref.Intercept, Backend: be},
			); err == nil {
				narrow("exact", fits[0])
			}
		})
		t.Logf(
			"%d cases; of intervals that are round-off alone the worst error is %.3g of the half-width",
			cases,
			worst,
		)
		if !(worst <= 0.5) {
			t.Errorf("round-off reached %.3g of what is allowed for", worst)
		}
	})
}

// TestPredictIntervalRealData: how wide the intervals are on California housing.
func TestPredictIntervalRealData(t *testing.T) {
	src := testkit.Fourier(t, 4000, 256)
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 64, Intercept: true})
	for _, gamma := range []float64{1, 10, 100, 1000} {
		exact := testkit.Must(ridge.SolveExact(
			context.Background(), src, []float64{gamma}, ridge.ExactOptions{Intercept: true},
		))(t)[0]
		refined := testkit.Must(ridge.Solve(context.Background(), src, sum, gamma, ridge.SolveOptions{Tol: 1e-3}))(t)
		predictor := testkit.Must(sum.Predictor(gamma))(t)
		mean := func() (width float64) {
			n, yhat := 0, make([]float64, 1)
			for b, err := range src.Blocks(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				dst := make([]ridge.Interval, b.N)
				if err := predictor.Predict(dst, b); err != nil {
					t.Fatal(err)
				}
				for i, v := range dst {
					if err := exact.PredictRow(yhat, b.X[i*256:(i+1)*256]); err != nil {
						t.Fatal(err)
					}
					if !(v.Lo <= yhat[0]+1e-9) || !(v.Hi >= yhat[0]-1e-9) {
						t.Fatalf("γ = %g: %g outside of %v", gamma, yhat[0], v)
					}
					width += v.Hi - v.Lo
					n++
				}
			}
			return width / float64(n)
		}
		alone := mean()
		if err := predictor.Narrow(refined); err != nil {
			t.Fatal(err)
		}
		t.Logf(
			"γ %-5g mean width %.3g from the sketch, %.3g with a fit refined to 1e-3 in %d passes (targets have "+
				"standard deviation %.3g)",
			gamma,
			alone,
			mean(),
			refined.Passes,
			math.Sqrt(refined.Targets[0].ComputedTSS/4000),
		)
	}
}

// without returns a copy of f whose certificate lacks something.
func without(f *ridge.Solution, change func(*ridge.Solution)) *ridge.Solution {
	g := *f
	g.Targets = slices.Clone(f.Targets)
	for j := range g.Targets {
		g.Targets[j].Coef = slices.Clone(g.Targets[j].Coef)
	}
	change(&g)
	return &g
}

// longer multiplies the weights, and takes away the intercept that went with them.
func longer(o *ridge.Target, by float64) {
	floats.Scale(by, o.Coef)
	o.Intercept = math.NaN()
}

// TestNarrowByWhatIsFinite: if the bounds of one target in a certificate are not finite, they do not narrow the
// intervals of this target. They give no NaN, not even for a row of zeros. Finite bounds, and the bounds of the other
// target, narrow the intervals.
func TestNarrowByWhatIsFinite(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	bound := func(v float64) func(*ridge.Solution) {
		return func(f *ridge.Solution) { f.Targets[0].ErrorBound = v }
	}
	energy := func(v float64) func(*ridge.Solution) {
		return func(f *ridge.Solution) {
			f.Targets[0].Objective, f.Targets[0].EnergyBound = ridge.Interval{Lo: -v, Hi: v}, v
		}
	}
	for _, intercept := range []bool{false, true} {
		s := testkit.Problem(rand.New(rand.NewPCG(3, 1)), "gaussian", 60, 9, 2, 1)
		sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 3, Intercept: intercept})
		fit := testkit.Must(ridge.Solve(context.Background(), s, sum, 1, ridge.SolveOptions{Tol: 1e-10}))(t)
		rows := append([][]float64{make([]float64, 9)}, s.X[:20]...)
		predict := func(p *ridge.Predictor) []ridge.Interval {
			dst := make([]ridge.Interval, 2*len(rows))
			if err := p.Predict(dst, dataset.Block{N: len(rows), X: testkit.Flat(rows)}); err != nil {
				t.Fatal(err)
			}
			return dst
		}
		sketch := predict(testkit.Must(sum.Predictor(1))(t))
		for name, c := range map[string]struct {
			narrows bool
			change  func(*ridge.Solution)
		}{
			"all":                  {true, func(*ridge.Solution) {}},
			"no bound":             {true, bound(nan)},
			"an infinite bound":    {true, bound(inf)},
			"a negative bound":     {true, bound(-1)},
			"no energy":            {true, energy(nan)},
			"an infinite energy":   {true, energy(inf)},
			"nothing":              {false, func(f *ridge.Solution) { bound(nan)(f); energy(nan)(f) }},
			"nothing but infinity": {false, func(f *ridge.Solution) { bound(inf)(f); energy(inf)(f) }},
			"a weight is NaN":      {false, func(f *ridge.Solution) { f.Targets[0].Coef[3], f.Targets[0].Intercept = nan, nan }},
		} {
			p := testkit.Must(sum.Predictor(1))(t)
			if err := p.Narrow(without(fit, c.change)); err != nil {
				t.Fatalf("intercept %v, %s: %v", intercept, name, err)
			}
			for i, v := range predict(p) {
				before, after := sketch[i].Hi-sketch[i].Lo, v.Hi-v.Lo
				switch {
				case i < 2 && !intercept: // aᵀx* = 0 at the row of zeros, for all that is known
					if v != (ridge.Interval{}) {
						t.Errorf("%s: %v for a row of zeros", name, v)
					}
				case c.narrows || i%2 == 1:
					if !(after <= 1e-4*before) {
						t.Errorf("intercept %v, %s: %d is narrowed from %g to %g", intercept, name, i, before, after)
					}
				case v != sketch[i]:
					t.Errorf("intercept %v, %s: %d is %v, by the sketch %v", intercept, name, i, v, sketch[i])
				}
			}
		}
		if intercept {
			continue
		}
		p := testkit.Must(without(fit, bound(nan)).Predictor())(t)
		for i, v := range predict(p) {
			if i%2 == 0 && v != (ridge.Interval{Lo: math.Inf(-1), Hi: inf}) || i%2 == 1 && !(v.Hi-v.Lo < 1e-6) {
				t.Errorf("alone: %d is %v", i, v)
			}
		}
	}
}

// TestNarrowRefusesOtherRows: a fit of slightly different rows is not combined with the summary. Narrow refuses the
// fit, or Predict does if the intervals of fit and summary contradict each other.
func TestNarrowRefusesOtherRows(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(5, 1)), "gaussian", 60, 9, 1, 1)
	ctx := context.Background()
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 9, Intercept: true})
	exact := func(change func(x [][]float64, y []float64)) *ridge.Solution {
		x, y := make([][]float64, 60), make([]float64, 60)
		for i := range x {
			x[i], y[i] = slices.Clone(s.X[i]), s.Y[i][0]
		}
		change(x, y)
		src := testkit.Must(dataset.FromDense(len(x), 9, 1, testkit.Flat(x), y))(t)
		return testkit.Must(
			ridge.SolveExact(ctx, src, []float64{1}, ridge.ExactOptions{Method: ridge.QR, Intercept: true}),
		)(t)[0]
	}
	same := exact(func([][]float64, []float64) {})
	reversed := exact(func(x [][]float64, y []float64) { slices.Reverse(x); slices.Reverse(y) })
	for _, f := range []*ridge.Solution{same, reversed} {
		if err := testkit.Must(sum.Predictor(1))(t).Narrow(f); err != nil {
			t.Errorf("of the same rows: %v", err)
		}
	}
	for name, f := range map[string]*ridge.Solution{
		"number of rows": without(same, func(f *ridge.Solution) { f.Rows-- }),
		"a target":       exact(func(_ [][]float64, y []float64) { y[7] += 1e-6 }),
		"targets moved":  exact(func(_ [][]float64, y []float64) { floats.AddConst(1e-6, y) }),
		"a feature": exact(func(x [][]float64, _ []float64) {
			for i := range x {
				x[i][3] *= 1 + 1e-6
			}
		}),
		"‖b‖²":           without(same, func(f *ridge.Solution) { f.Targets[0].ComputedTSS *= 1 + 1e-6 }),
		"an intercept":   without(same, func(f *ridge.Solution) { f.Targets[0].Intercept += 1e-6 }),
		"longer weights": without(same, func(f *ridge.Solution) { longer(&f.Targets[0], 1+1e-6) }),
		"less weights":   without(same, func(f *ridge.Solution) { longer(&f.Targets[0], 1-1e-6) }),
	} {
		if err := testkit.Must(sum.Predictor(1))(t).Narrow(f); !errors.Is(err, ridge.ErrOtherRows) {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 9})
	if err := testkit.Must(plain.Predictor(1))(t).Narrow(without(
		same, func(f *ridge.Solution) { f.Targets[0].ComputedTSS = math.NaN() },
	)); !errors.Is(err, ridge.ErrOtherRows) {
		t.Errorf("with an intercept, the summary without: %v", err)
	}
	// Weights that differ in a direction along which cᵀx̂ and the intercept say nothing.
	free := testkit.Must(plain.Predictor(1))(t)
	fit := testkit.Must(plain.Fit(1))(t)
	wrong := without(fit, func(f *ridge.Solution) {
		c, v := make([]float64, 9), make([]float64, 9)
		for i, x := range s.X {
			floats.AddScaled(c, s.Y[i][0], x)
		}
		v[0], v[1] = c[1], -c[0]
		floats.AddScaled(f.Targets[0].Coef, 1e-3/floats.Norm(v, 2), v)
	})
	if err := free.Narrow(wrong); err != nil {
		t.Fatal(err)
	}
	if err := free.Predict(
		make([]ridge.Interval, 60), dataset.Block{N: 60, X: testkit.Flat(s.X)},
	); !errors.Is(err, ridge.ErrOtherRows) {
		t.Errorf("intervals apart: %v", err)
	}
}

// TestPredictorOfFitAlone: at γ = 0 too there are intervals, which hold; what they cannot
// be made of is refused.
func TestPredictorOfFitAlone(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(4, 1)), "gaussian", 60, 9, 2, 1)
	ctx := context.Background()
	for _, gamma := range []float64{0, 1} {
		truth := testkit.Must(ridge.SolveExact(ctx, s, []float64{gamma}, ridge.ExactOptions{Method: ridge.QR}))(t)[0]
		fit := without(truth, func(f *ridge.Solution) {
			for j := range 2 {
				f.Targets[j].Coef[j] += 1e-3
				f.Targets[j].ErrorBound += 1e-3
			}
		})
		dst, want := make([]ridge.Interval, 2*60), make([]float64, 2)
		if err := testkit.Must(fit.Predictor())(t).Predict(
			dst, dataset.Block{N: 60, Sparse: testkit.Compress(s.X)},
		); err != nil {
			t.Fatal(err)
		}
		for i, x := range s.X {
			if err := truth.PredictRow(want, x); err != nil {
				t.Fatal(err)
			}
			for j, y := range want {
				v, half := dst[2*i+j], floats.Norm(x, 2)*fit.Targets[j].ErrorBound
				if !(v.Lo <= y && y <= v.Hi) || !(v.Hi-v.Lo <= 2*half*(1+1e-6)) {
					t.Errorf("γ = %g, row %d, target %d: %g in %v, ‖a‖·bound is %g", gamma, i, j, y, v, half)
				}
			}
		}
		if err := testkit.Must(fit.Predictor())(t).Narrow(fit); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("narrowed: %v", err)
		}
	}
	fit := testkit.Must(ridge.SolveExact(ctx, s, []float64{1}, ridge.ExactOptions{Intercept: true}))(t)[0]
	for name, f := range map[string]*ridge.Solution{
		"no bound": without(fit, func(f *ridge.Solution) {
			for j := range f.Targets {
				f.Targets[j].Intercept, f.Targets[j].Certificate = 0, ridge.Certificate{}
			}
		}),
	} {
		if _, err := f.Predictor(); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPredictorRefuses(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 3, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 2, Intercept: true})
	var e *ridge.GammaError
	if _, err := sum.Predictor(0); !errors.As(err, &e) {
		t.Errorf("γ = 0: %v", err)
	}
	none := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2}))(t)
	if _, err := none.PredictInterval(1, s.X[0]); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := sum.PredictInterval(1, s.X[0][1:]); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("short row: %v", err)
	}
	p := testkit.Must(sum.Predictor(1))(t)
	if err := p.Predict(
		make([]ridge.Interval, 1), dataset.Block{N: 2, X: testkit.Flat(s.X[:2])},
	); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("short dst: %v", err)
	}
	if err := p.Predict(
		make([]ridge.Interval, 1), dataset.Block{N: 1, Sparse: testkit.Compress([][]float64{{1, 2}})},
	); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("narrow sparse row: %v", err)
	}
	var bad *fd.NonFiniteError
	x := testkit.Flat(s.X[:2])
	x[4] = math.NaN()
	if err := p.Predict(make([]ridge.Interval, 2), dataset.Block{N: 2, X: x}); !errors.As(err, &bad) || bad.Row != 1 ||
		bad.Col != 1 {
		t.Errorf("NaN: %v", err)
	}
	var big *fd.RangeError
	if err := p.Predict(make([]ridge.Interval, 1), dataset.Block{N: 1, X: []float64{1e153, 0, 0}}); !errors.As(err, &big) {
		t.Errorf("1e153: %v", err)
	}
	x1 := testkit.Must(sum.Fit(1))(t).Targets[0].Coef
	for name, f := range map[string]*ridge.Solution{
		"other γ": testkit.Must(sum.Fit(2))(t),
		"other shape": testkit.Must(testkit.Summarize(
			t, testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 4, 1, 1), ridge.SummaryConfig{Size: 2},
		).Fit(1))(t),
		"no bound": {Outcome: ridge.Outcome{Gamma: 1}, Targets: []ridge.Target{{Coef: x1}}},
		"no objective": {
			Outcome: ridge.Outcome{Gamma: 1},
			Targets: []ridge.Target{{Coef: x1, Certificate: ridge.Certificate{ErrorBound: 1}}},
		},
		"no target": {Outcome: ridge.Outcome{Gamma: 1}},
	} {
		if err := p.Narrow(f); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
