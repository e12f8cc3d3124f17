package fdridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
)

// TestRulesOfMethods: each rule of [plan.Choose] has a case that is worse without it.
func TestRulesOfMethods(t *testing.T) {
	src := housingStandardised(t)
	large := plan.Problem{
		Rows:     1e6,
		Dim:      12000,
		Targets:  1,
		Gammas:   []float64{1},
		Size:     256,
		MaxBytes: ridge.DefaultMaxBytes,
	}
	fit := func(src dataset.Source, opts fdridge.Options) *fdridge.Result {
		t.Helper()
		return testkit.Must(fdridge.Fit(t.Context(), src, opts))(t)
	}
	t.Run("2: gamma = 0", func(t *testing.T) {
		iterates := plan.Choose(large).Method
		large := large
		large.Gammas = []float64{0}
		if got := plan.Choose(large).Method; got != ridge.Exact || !iterates.Iterates() || iterates.Takes(0) == nil {
			t.Errorf("%v, at gamma = 1 %v", got, iterates)
		}
	})
	t.Run("1: a sketch is needed", func(t *testing.T) {
		opts := fdridge.Options{Gammas: []float64{1}, Size: 2}
		without := fit(src, opts)
		opts.KeepSummary = true
		if with := fit(src, opts); with.Summary == nil || without.Summary != nil {
			t.Errorf("%v keeps %v, %v keeps %v", with.Method, with.Summary, without.Method, without.Summary)
		}
		opts.Gammas = []float64{0} // a direct method makes no sketch, so another pass does
		if r := fit(src, opts); r.Summary == nil || r.Method != ridge.Exact || r.Passes != without.Passes+1 {
			t.Errorf("gamma = 0: %v keeps %v, in %d passes", r.Method, r.Summary, r.Passes)
		}
	})
	t.Run("3: a direct method is cheap and fits", func(t *testing.T) {
		opts := fdridge.Options{Gammas: []float64{1}, Size: 2}
		exact := fit(src, opts)
		opts.Method = ridge.Galerkin
		if iterated := fit(src, opts); exact.Method != ridge.Exact || !(exact.Passes < iterated.Passes) {
			t.Errorf("%v makes %d passes, galerkin %d", exact.Method, exact.Passes, iterated.Passes)
		}
		opts.Method, opts.MaxBytes = ridge.Auto, 1
		if small := fit(src, opts); !small.Method.Iterates() {
			t.Errorf("%v in a byte", small.Method)
		}
		opts.Method = ridge.Exact
		if _, err := fdridge.Fit(t.Context(), src, opts); !errors.As(err, new(*ridge.SizeError)) {
			t.Errorf("exact in a byte: %v", err)
		}
	})
	t.Run("4: the cheaper iteration", func(t *testing.T) {
		waves := testkit.Fourier(t, 1000, 96)
		opts := fdridge.Options{Gammas: []float64{1e-3, 1e-2, 0.1}, Size: 8, KeepSummary: true}
		chosen := fit(waves, opts)
		opts.Method = ridge.CG
		if cg := fit(waves, opts); chosen.Method != ridge.Galerkin || !(chosen.Passes < cg.Passes) {
			t.Errorf("%v makes %d passes, cg %d", chosen.Method, chosen.Passes, cg.Passes)
		}
		// The vectors of galerkin for one system may take no more than 200 MiB.
		wide := large
		wide.Dim = 55000
		if plan.Choose(wide).Method != ridge.CG {
			t.Errorf("%v of 55,000 features", plan.Choose(wide).Method)
		}
	})
	t.Run("4: sparse rows, fewer than features", func(t *testing.T) {
		sparse := plan.Problem{
			Rows:     20_000,
			Dim:      100_000,
			Targets:  1,
			Gammas:   []float64{1},
			Size:     256,
			MaxBytes: ridge.DefaultMaxBytes,
			Sparse:   true,
		}
		dense := sparse
		dense.Sparse = false
		got, other := plan.Choose(sparse).Method, plan.Choose(dense).Method
		if got != ridge.DualCG || !other.Iterates() {
			t.Errorf("%v, of dense rows %v", got, other)
		}
		x, y := testkit.SparseRows(rand.New(rand.NewPCG(3, 4)), 12_000, 13_000, 10)
		src := testkit.Must(dataset.FromCSR(x, 1, y))(t)
		opts := fdridge.Options{Gammas: []float64{1}, Size: 2}
		chosen := fit(src, opts)
		opts.Method = ridge.CG
		if cg := fit(src, opts); chosen.Method != ridge.DualCG || !(chosen.Passes < cg.Passes) {
			t.Errorf("%v makes %d passes, cg %d", chosen.Method, chosen.Passes, cg.Passes)
		}
	})
	t.Run("5: rows that can be read once", func(t *testing.T) {
		once := func() dataset.Source { return &pipedRows{Source: src} }
		opts := fdridge.Options{Gammas: []float64{1}, Size: 2, Method: ridge.Galerkin}
		if _, err := fdridge.Fit(t.Context(), once(), opts); !errors.As(err, new(*dataset.OnceError)) {
			t.Errorf("galerkin: %v", err)
		}
		opts.Method = ridge.Auto
		exact := fit(once(), opts)
		opts.MaxBytes = 1
		short, _ := fdridge.Fit(t.Context(), once(), opts)
		if exact.Method != ridge.Exact || short == nil || short.Method != ridge.OneShot ||
			!(exact.Best().WorstError() < short.Best().WorstError()) {
			t.Errorf("%v, and in a byte %v", exact, short)
		}
		costly := plan.Problem{
			Rows:     9100,
			Dim:      9000,
			Targets:  1,
			Gammas:   []float64{1},
			Size:     32,
			MaxBytes: ridge.DefaultMaxBytes,
		}
		before := plan.Choose(costly).Method
		costly.Once = true
		if got := plan.Choose(costly).Method; !before.Iterates() || got != ridge.Exact {
			t.Errorf("%v, of rows that can be read again %v", got, before)
		}
	})
}

// TestRulesOfGamma: each rule of the choice of γ by GCV has a case that is worse without it. The singular candidates
// of rule 3 are in TestSingularCandidates.
func TestRulesOfGamma(t *testing.T) {
	src := housingStandardised(t)
	fit := func(src dataset.Source, opts fdridge.Options) *fdridge.Result {
		t.Helper()
		opts.Select = choose.GCV
		return testkit.Must(fdridge.Fit(t.Context(), src, opts))(t)
	}
	whole := testkit.Summarize(t, testkit.Housing(t), ridge.SummaryConfig{Size: 8, Intercept: true})
	grid := choose.Grid(whole, 50)
	t.Run("1: a grid, or the candidates given", func(t *testing.T) {
		own := fit(src, fdridge.Options{Size: 8, Method: ridge.CG})
		given := fit(src, fdridge.Options{Size: 8, Method: ridge.CG, Candidates: []float64{1e4, 1e5}})
		if !(own.Choice.Score.Hi < given.Choice.Score.Lo) || given.Best().Gamma != 1e4 || len(given.Choice.Path) != 2 {
			t.Errorf(
				"γ = %g scores %v, of those given %g, %v",
				own.Best().Gamma,
				own.Choice.Score,
				given.Best().Gamma,
				given.Choice.Score,
			)
		}
	})
	t.Run("2: the grid is extended", func(t *testing.T) {
		own, end := testkit.Must(choose.Gamma(whole, nil))(t), testkit.Must(choose.Gamma(whole, grid))(t)
		if end.Index != 0 || !(own.Score.Hi < end.Score.Lo) {
			t.Errorf("γ = %g scores %v, at the end of the grid %g, %v", own.Gamma(), own.Score, end.Gamma(), end.Score)
		}
	})
	t.Run("3: the smallest upper bound", func(t *testing.T) {
		// An estimate inside a wide bracket proves nothing.
		scores := []ridge.Interval{{Lo: 1, Hi: 1.2}, {Lo: 0.5, Hi: 2}}
		for _, estimates := range [][]float64{nil, {1.1, 0.6}} {
			c := choose.Least(scores, estimates)
			if c.Index != 0 || c.Certain || !(c.Excess >= 0.7) || !(c.Excess <= 0.7*(1+1e-15)) {
				t.Errorf("%v: %+v", estimates, c)
			}
		}
		if c := choose.Least([]ridge.Interval{{Lo: 0, Hi: 2}, {Lo: 0, Hi: 2}}, []float64{1.5, 1}); c.Index != 1 {
			t.Errorf("equal bounds: %+v", c)
		}
	})
	t.Run("4: a pass computes the Gram matrix", func(t *testing.T) {
		opts := fdridge.Options{Size: 2, Method: ridge.CG}
		with := fit(src, opts).Choice
		opts.GammaTol = math.Inf(1)
		without := fit(src, opts).Choice
		if with.Passes != 1 || without.Passes != 0 || !(with.RelativeExcess() <= 1e-6) ||
			!(without.RelativeExcess() > 0.01) {
			t.Errorf(
				"%d passes leave %g open, %d leave %g",
				with.Passes,
				with.RelativeExcess(),
				without.Passes,
				without.RelativeExcess(),
			)
		}
		// For penalties of bands each trial is an eigenproblem: fifty take longer than the passes of the refinement.
		p := plan.Problem{
			Rows:     10_000,
			Dim:      2000,
			Targets:  1,
			Grid:     choose.GridSize,
			Size:     32,
			MaxBytes: ridge.DefaultMaxBytes,
		}
		one, fifty := plan.GramPass(p, 1).Rule, plan.GramPass(p, 50).Rule
		if one != reason.Asked || fifty != reason.GramCostsTooMuch {
			t.Errorf("one eigenproblem: %v, fifty: %v", one, fifty)
		}
	})
	many := testkit.Problem(rand.New(rand.NewPCG(4, 5)), "gaussian", 1500, 40, 1, 1)
	t.Run("5: passes solve for the candidates", func(t *testing.T) {
		opts := fdridge.Options{
			Candidates: []float64{6000, 10_000, 20_000},
			Size:       2,
			MaxBytes:   80_000,
			Method:     ridge.Galerkin,
		}
		with := fit(many, opts).Choice
		opts.GammaTol = math.Inf(1)
		without := fit(many, opts).Choice
		if with.Whole || with.Passes == 0 || !(with.RelativeExcess() <= 0.01) || !(without.RelativeExcess() > 0.01) {
			t.Errorf(
				"%d passes leave %g open, %d leave %g",
				with.Passes,
				with.RelativeExcess(),
				without.Passes,
				without.RelativeExcess(),
			)
		}
		// Passes tell nothing of degrees of freedom: if these leave the choice open, none is made.
		opts.GammaTol, opts.Candidates = 0, []float64{1, 10, 100}
		if c := fit(many, opts).Choice; c.Passes != 0 || !(c.RelativeExcess() > 0.01) {
			t.Errorf("%d passes leave %g open", c.Passes, c.RelativeExcess())
		}
		opts.Candidates = []float64{6000, 10_000, 20_000}
		// No more candidates are solved for than fit.
		opts.GammaTol, opts.MaxBytes = 0, 4000
		if c := fit(many, opts).Choice; c.Passes != 0 {
			t.Errorf("%d passes in 4000 bytes", c.Passes)
		}
	})
	t.Run("6: one-shot makes no pass", func(t *testing.T) {
		r, err := fdridge.Fit(t.Context(), &pipedRows{Source: src}, fdridge.Options{Size: 2, Method: ridge.OneShot})
		if r == nil || r.Passes != 1 || r.Choice.Passes != 0 || !(r.Choice.RelativeExcess() > 0.01) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
