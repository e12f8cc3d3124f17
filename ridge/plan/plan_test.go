package plan_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestPlanBound: η of a sketch of any size is no more than the worst case by a summary of any
// other size of the same rows, but for round-off.
func TestPlanBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, gammas := testkit.DrawWide(t, nil)
		sizes := []int{1, 2, 3, 5, 8, 13}
		list := testkit.Must(plan.New(p.Sum, plan.Config{Gammas: gammas, Sizes: sizes}))(t)
		for _, o := range list.Options[1:] {
			cfg := p.Sum.Config()
			cfg.Size = o.Size
			b := testkit.Must(testkit.Summarize(t, p.Table, cfg).Sketch().Spectrum())(t).Bound
			if !(b.Shrinkage <= o.WorstShrinkage+2*b.RoundOff) || !(o.Shrinkage <= o.WorstShrinkage) {
				t.Errorf("m = %d: η = %g, at worst %g, expected %g", o.Size, b.Shrinkage, o.WorstShrinkage, o.Shrinkage)
			}
		}
		worst, expected, err := plan.SizeFor(p.Sum, 0.1, gammas[0])
		if err != nil {
			return // below round-off
		}
		if expected > worst || worst > p.Ref.D || expected < 1 {
			t.Errorf("sizes %d and %d for %d features", worst, expected, p.Ref.D)
		}
		cfg := p.Sum.Config()
		cfg.Size = worst
		sum := testkit.Summarize(t, p.Table, cfg)
		own := testkit.Must(sum.Sketch().Spectrum())(t).Bound.RoundOff // SizeFor assumes the round-off of p.sum
		if q := testkit.Must(
			sum.Fit(gammas[0]),
		)(t).Contraction; !(q <= 0.1+(own+100*testkit.Eps*testkit.ScaleOf(p.Ref))/gammas[0]) {
			t.Errorf("size %d at worst for 0.1, is %g", worst, q)
		}
	})
}

// TestPlanMemory: the memory planned for a sketch is about what one takes.
func TestPlanMemory(t *testing.T) {
	const d = 1000
	s := testkit.Problem(rand.New(rand.NewPCG(1, 2)), "gaussian", 300, d, 1, 1)
	rows := dataset.Block{N: 300, X: testkit.Flat(s.X), Y: testkit.Flat(s.Y)}
	small := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 4})
	for _, lanes := range []int{1, 5} {
		for _, o := range testkit.Must(plan.New(small, plan.Config{Sizes: []int{32, 128}, Lanes: lanes}))(t).Options {
			if o.Method == ridge.OneShot {
				planned(
					t,
					o,
					rows,
					ridge.SummaryConfig{Dim: d, Size: o.Size, Intercept: true, Lanes: lanes, LaneRows: 1},
				)
			}
		}
	}
	const wide = 3000
	all := testkit.Levelled(rand.New(rand.NewPCG(1, 3)), 600, wide, 3)
	few := testkit.Summarize(
		t, testkit.Must(dataset.FromCSR(all.Sparse, 1, all.Y))(t), ridge.SummaryConfig{Size: 4, Intercept: true},
	)
	for _, o := range testkit.Must(plan.New(few, plan.Config{Sizes: []int{32, 128}}))(t).Options {
		if o.Method == ridge.OneShot {
			planned(t, o, all, ridge.SummaryConfig{Dim: wide, Size: o.Size, Intercept: true})
		}
	}
	if _, err := plan.New(small, plan.Config{Lanes: -1}); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("-1 lanes: %v", err)
	}
}

// planned compares the memory of an option with what a summary takes.
func planned(t *testing.T, o plan.Option, rows dataset.Block, cfg ridge.SummaryConfig) {
	t.Helper()
	fit := func() {
		sum := testkit.Must(ridge.NewSummary(cfg))(t)
		testkit.Check(t, sum.AppendBlock(rows))
		testkit.Must(sum.Fit(1))(t)
	}
	// The backend keeps the memory of packed panels. A fit that runs beside the collector, or on another processor than
	// the fit before, may allocate this memory again. So the smallest of several fits counts.
	fit()
	taken := math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fit()
		runtime.ReadMemStats(&after)
		taken = min(taken, float64(after.TotalAlloc-before.TotalAlloc))
	}
	if r := float64(o.Bytes) / taken; !(r > 0.5 && r < 2) {
		t.Errorf("m = %d, %d lanes: %d bytes planned, a summary takes %g", o.Size, cfg.Lanes, o.Bytes, taken)
	}
}

func TestPlanRefuses(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(1, 1)), "gaussian", 20, 3, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 2})
	none := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2}))(t)
	if _, err := plan.New(none, plan.Config{}); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("plan from nothing: %v", err)
	}
	for _, cfg := range []plan.Config{{Rows: -1}, {Sizes: []int{0}}} {
		if _, err := plan.New(sum, cfg); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	for _, cfg := range []plan.Config{
		{Tol: -1}, {Tol: math.NaN()}, {FlopRate: -1}, {ReadRate: math.NaN()}, {FreshRate: -1},
	} {
		if _, err := plan.New(sum, cfg); err == nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
	var e *ridge.GammaError
	if _, err := plan.New(sum, plan.Config{Gammas: []float64{0}}); !errors.As(err, &e) {
		t.Errorf("γ = 0: %v", err)
	}
	if _, _, err := plan.SizeFor(sum, 0.1, -1); !errors.As(err, &e) {
		t.Errorf("γ = -1: %v", err)
	}
	for _, r := range []float64{0, -1, math.NaN(), 1e-30} {
		if _, _, err := plan.SizeFor(sum, r, 1); err == nil {
			t.Errorf("relative error %v accepted", r)
		}
	}
}
