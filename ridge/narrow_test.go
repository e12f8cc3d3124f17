package ridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// gcvOf are the GCV of all targets together in exact arithmetic, for each γ; +Inf where it is
// infinite.
func gcvOf(t rapid.TB, ref *refbig.Problem, gammas []float64) []float64 {
	out := make([]float64, len(gammas))
	for i, gamma := range gammas {
		for _, g := range must(ref.Solve(gamma))(t).GCV {
			v := math.Inf(1)
			if g != nil {
				v, _ = g.Float64()
			}
			out[i] += v
		}
	}
	return out
}

// chosenWell holds a choice against the true scores of its candidates.
func chosenWell(t rapid.TB, c *ridge.GammaChoice, scores []float64) {
	t.Helper()
	got, best := scores[c.Index], slices.Min(scores)
	if math.IsInf(best, 1) { // no γ has a score
		return
	}
	const tie = 1e-12 // broken by the last bits
	if !(got-best <= best*(math.Min(c.RelativeExcess(), 1e300)+tie)) || !(got-best <= c.Excess+tie*best) || (c.Certain && got > best*(1+tie)) {
		t.Errorf("the score is %g, the best is %g; promised were %g, relatively %g, certain %v", got, best, c.Excess, c.RelativeExcess(), c.Certain)
	}
}

// TestChoosingPass: every bound and bracket that follows from K, by the pass that is spent on
// the choice of γ, holds against 512-bit arithmetic; and so do those of the solution that is
// then refined.
func TestChoosingPass(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		worst, spent, drawn := 0.0, 0, 0
		rapid.Check(t, func(t *rapid.T) {
			p := drawProblem(t, be)
			src, cfg := &reads{Source: p.table}, p.sum.Config()
			opts := ridge.Options{
				Candidates: []float64{p.gamma, 1.1 * p.gamma, 20 * p.gamma}, GammaTol: 1e-300, Size: cfg.Size, Intercept: cfg.Intercept, Backend: be,
				Method: rapid.SampledFrom(ridge.Iterations()).Draw(t, "method"), MaxPasses: 20,
			}
			r, err := ridge.Fit(t.Context(), src, opts)
			if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
				if _, known := errors.AsType[*ridge.ScaleError](err); known || errors.Is(err, ridge.ErrNoRange) {
					return
				}
				t.Fatal(err)
			}
			drawn++
			if spent += r.Choice.Passes; r.Choice.Passes > 10 || src.passes != r.Passes {
				t.Errorf("%d passes, of which %d for the choice; %d are told", src.passes, r.Choice.Passes, r.Passes)
			}
			for _, f := range r.Choice.Path {
				worst = math.Max(worst, ridgetest.Certificate(t, p.ref, f))
			}
			for _, f := range r.Solutions {
				ridgetest.Certificate(t, p.ref, f)
				if f.Passes > r.Passes {
					t.Errorf("a solution rests on %d passes, there were %d", f.Passes, r.Passes)
				}
			}
			chosenWell(t, r.Choice, gcvOf(t, p.ref, opts.Candidates))
		})
		t.Logf("%d of %d fits spent a pass, true errors are up to %.2g of their bounds", spent, drawn, worst)
		if spent == 0 {
			t.Error("no pass was spent on a choice")
		}
	})
}

// TestChoiceIsWhatItSays: where no pass is made for the choice it says why.
func TestChoiceIsWhatItSays(t *testing.T) {
	src := housingStandardised(t)
	for name, c := range map[string]struct {
		opts   ridge.Options
		passes int
		spent  string
	}{
		"by the sketch":      {ridge.Options{Size: 8, Method: "galerkin"}, 0, ""},
		"a pass":             {ridge.Options{Size: 2}, 1, "AᵀA itself"},
		"by name":            {ridge.Options{Size: 2, Method: "cg"}, 1, "AᵀA itself"},
		"one-shot":           {ridge.Options{Size: 2, Method: "one-shot"}, 0, ""},
		"anything will do":   {ridge.Options{Size: 2, GammaTol: math.Inf(1)}, 0, ""},
		"too much memory":    {ridge.Options{Size: 2, MaxBytes: 4000}, 0, "too much memory"},
		"candidates, a pass": {ridge.Options{Size: 2, Candidates: []float64{1, 100}}, 1, "AᵀA itself"},
	} {
		t.Run(name, func(t *testing.T) {
			c.opts.Intercept = true
			r := must(ridge.Fit(t.Context(), src, c.opts))(t)
			if r.Choice.Passes != c.passes || !strings.Contains(r.Choice.Spent, c.spent) || (c.spent == "") != (r.Choice.Spent == "") {
				t.Errorf("%d passes on the choice: %q", r.Choice.Passes, r.Choice.Spent)
			}
			if e := r.Choice.RelativeExcess(); c.passes > 0 && !(e <= 0.01) || c.passes == 1 && !(e <= 1e-6) {
				t.Errorf("the choice may be off by %g after a pass", e)
			}
			if f := r.Best(); f.Shrinkage != must(r.Summary.Fit(f.Gamma))(t).Shrinkage || f.Passes != r.Passes {
				t.Errorf("η is said to be %g, %d passes of %d", f.Shrinkage, f.Passes, r.Passes)
			}
		})
	}
}

// TestLargerSketch: where d² numbers don't fit a sketch of four times the rows is made, if it is
// expected to lose less, and what follows from it is true.
func TestLargerSketch(t *testing.T) {
	t.Parallel()
	const d, m, limit = 60, 3, 200_000 // bytes, of which K would take more
	r := rand.New(rand.NewPCG(4, 4))
	falling, flat := problem(r, "gaussian", 150, d, 1, 1), problem(r, "gaussian", 150, d, 1, 1)
	for i := range falling.x {
		for j := range falling.x[i] {
			falling.x[i][j] /= float64(1 + j*j)
		}
	}
	for _, by := range []ridge.Criterion{ridge.ByGCV, ridge.ByLOO} {
		gammas := []float64{0.1, 1, 10}
		opts := ridge.Options{Candidates: gammas, Size: m, Intercept: true, MaxBytes: limit, Select: by, Method: "cg"}
		got := must(ridge.Fit(t.Context(), falling, opts))(t)
		opts.GammaTol = math.Inf(1)
		before := must(ridge.Fit(t.Context(), falling, opts))(t)
		if c := got.Choice; c.Whole || !strings.Contains(c.Spent, "a sketch of 12 rows") || c.Passes <= before.Choice.Passes || !(c.RelativeExcess() < before.Choice.RelativeExcess()) {
			t.Errorf("%v: %d passes on the choice, which may be off by %g, by the sketch by %g: %s", by, c.Passes, c.RelativeExcess(), before.Choice.RelativeExcess(), c.Spent)
		}
		ref := refbig.New(falling.x, falling.y, nil, true)
		for _, f := range slices.Concat(got.Choice.Path, got.Solutions) {
			ridgetest.Certificate(t, ref, f)
		}
		if by == ridge.ByGCV {
			chosenWell(t, got.Choice, gcvOf(t, ref, gammas))
		}
		if f := got.Best(); f.Shrinkage != must(got.Summary.Fit(f.Gamma))(t).Shrinkage {
			t.Errorf("η of the sketch is said to be %g", f.Shrinkage)
		}
		opts.GammaTol = 0
		if c := must(ridge.Fit(t.Context(), flat, opts))(t).Choice; strings.Contains(c.Spent, "a sketch of") || !strings.Contains(c.Spent, "too much memory") {
			t.Errorf("%v: of rows without a falling spectrum: %s", by, c.Spent)
		}
	}
}

// TestNeitherKNorSketch: where neither K nor a larger sketch is made, the γ that may be the best
// are solved for together; of many rows that settles the choice, and what is said is true.
func TestNeitherKNorSketch(t *testing.T) {
	t.Parallel()
	const n, d, limit = 1500, 40, 80_000 // bytes, of which K would take more
	p := problem(rand.New(rand.NewPCG(4, 5)), "gaussian", n, d, 1, 1)
	ref := refbig.New(p.x, p.y, nil, true)
	for by, gammas := range map[ridge.Criterion][]float64{ridge.ByGCV: {6000, 10_000, 20_000}, ridge.ByLOO: {20_000, 100_000}} {
		truth := gcvOf(t, ref, gammas)
		for k, gamma := range gammas {
			if by != ridge.ByLOO {
				continue
			}
			one := must(ref.LeaveOut(gamma, refbig.Float(n)))(t)
			truth[k] = 0
			for i, x := range p.x {
				squared, _ := one.Squared(x, p.y[i], refbig.Float(1))
				v, _ := squared[0].Float64()
				truth[k] += v / n
			}
		}
		r := must(ridge.Fit(t.Context(), p, ridge.Options{Candidates: gammas, Size: 2, Intercept: true, MaxBytes: limit, Select: by, Method: "galerkin"}))(t)
		c := r.Choice
		if c.Whole || !strings.Contains(c.Spent, "more have narrowed") || !(c.RelativeExcess() <= 0.01) {
			t.Errorf("%v: %d passes, off by %g at most: %s", by, c.Passes, c.RelativeExcess(), c.Spent)
		}
		for i, v := range c.Scores {
			if !(v[0].Lo <= truth[i]*(1+1e-12) && truth[i]*(1-1e-12) <= v[0].Hi) {
				t.Errorf("%v at %g is %g, not within %v", by, gammas[i], truth[i], v)
			}
		}
		for _, f := range slices.Concat(c.Path, r.Solutions) {
			ridgetest.Certificate(t, ref, f)
		}
	}
}

// TestChoosingPassJournal: a fit that is interrupted goes on to the same bits, and makes no pass
// for the choice again that the journal has: those of leave-one-out errors it has not.
func TestChoosingPassJournal(t *testing.T) {
	src := housingStandardised(t)
	for by, again := range map[ridge.Criterion]int{ridge.ByGCV: 1, ridge.ByLOO: 3} {
		opts := ridge.Options{Size: 2, Intercept: true, Select: by}
		want := must(ridge.Fit(t.Context(), src, opts))(t)
		kept := &memory{states: map[int][]byte{}, left: 1 << 30, never: true}
		opts.Journal = kept
		must(ridge.Fit(t.Context(), src, opts))(t)
		for pass := 1; pass <= len(kept.states); pass++ {
			if kept.states[pass] == nil {
				t.Errorf("%v: of %d passes that were kept, none is the %d-th", by, len(kept.states), pass)
			}
		}
		reading := &reads{Source: src}
		got := must(ridge.Fit(t.Context(), reading, opts))(t)
		if a, b := fmt.Sprint(*got.Best()), fmt.Sprint(*want.Best()); a != b {
			t.Errorf("%v: from the journal\n%s, without\n%s", by, a, b)
		}
		if reading.passes != again {
			t.Errorf("%v: %d passes over the rows, must be %d", by, reading.passes, again)
		}
	}
}

// TestRelativeExcess.
func TestRelativeExcess(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		scores []ridge.Interval
		want   float64
	}{
		"certain":   {[]ridge.Interval{{1, 2}, {3, 4}}, 0},
		"a half":    {[]ridge.Interval{{2, 3}, {2, 9}}, 0.5},
		"nothing":   {[]ridge.Interval{{0, 3}, {0, 9}}, inf},
		"unbounded": {[]ridge.Interval{{1, inf}, {1, inf}}, inf},
	} {
		choice := ridge.Choose(c.scores)
		if got := choice.RelativeExcess(); !(got >= c.want && got <= c.want*(1+1e-14)) {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

func housingStandardised(t *testing.T) dataset.Source {
	src, _, err := dataset.Standardize(t.Context(), housing(t))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// chooseOnRealData has Fit choose γ of every public set, as it is and standardised, by sketches of
// d/8 and d/4 rows, and hands on what it found and how often it read the rows. Of w8a, seconds
// each, all is for FDRIDGE_THOROUGH.
func chooseOnRealData(t *testing.T, by ridge.Criterion, check func(t *testing.T, what string, all dataset.Source, c *ridge.GammaChoice, passes int)) {
	var names []string
	for _, p := range publicData {
		names = append(names, p.name)
	}
	eachPublic(t, names, func(t *testing.T, name string, raw dataset.Source) {
		for _, standardise := range []bool{true, false} {
			all, _ := prepare(t, raw, standardise)
			_, d, _ := all.Dims()
			for _, part := range []int{8, 4} {
				if (part == 4 || !standardise) && name == "w8a" && os.Getenv("FDRIDGE_THOROUGH") == "" {
					continue
				}
				src := &reads{Source: all}
				r := must(ridge.Fit(t.Context(), src, ridge.Options{Size: max(1, d/part), Intercept: true, Select: by}))(t)
				check(t, fmt.Sprintf("standardised %v, d/%d", standardise, part), all, r.Choice, src.passes)
			}
		}
	})
}

// TestChoiceOnRealData: the γ that is chosen has a GCV within one per cent of the least of the
// grid, by a reference that has no sketch.
func TestChoiceOnRealData(t *testing.T) {
	t.Parallel()
	chooseOnRealData(t, ridge.ByGCV, func(t *testing.T, what string, all dataset.Source, c *ridge.GammaChoice, passes int) {
		fits := must(ridge.Exact(t.Context(), all, pathOf(c), ridge.ExactOptions{Intercept: true}))(t)
		least, chosen := math.Inf(1), fits[c.Index].Targets[0].GCV.Hi
		for i, f := range fits {
			v := f.Targets[0].GCV
			if w := c.Scores[i][0]; w.Lo > v.Hi || v.Lo > w.Hi {
				t.Errorf("GCV at %g is %v by the passes, %v by Cholesky", f.Gamma, w, v)
			}
			least = math.Min(least, v.Lo)
		}
		t.Logf("%s: γ = %.4g of %d, GCV %.2g above the least at most, %.2g by itself; %d passes, %d of them for the choice", what, c.Gamma(), len(c.Path), chosen/least-1, c.RelativeExcess(), passes, c.Passes)
		if !(chosen <= 1.01*least) || !(c.RelativeExcess() <= 0.01) {
			t.Errorf("%s: GCV is %g, the least is %g; %g are promised", what, chosen, least, c.RelativeExcess())
		}
	})
}

func pathOf(c *ridge.GammaChoice) (gammas []float64) {
	for _, f := range c.Path {
		gammas = append(gammas, f.Gamma)
	}
	return gammas
}

// TestLeaveOneOutOnRealData: the γ that is chosen has a leave-one-out error that is proved to
// be within one per cent of the least of the grid. That the proofs are right is for
// TestLeaveOneOut and TestSklearnRidgeCV.
func TestLeaveOneOutOnRealData(t *testing.T) {
	t.Parallel()
	chooseOnRealData(t, ridge.ByLOO, func(t *testing.T, what string, _ dataset.Source, c *ridge.GammaChoice, passes int) {
		t.Logf("%s: γ = %.4g of %d, leave-one-out error %.2g above the least at most; %d passes, %d of them for the choice", what, c.Gamma(), len(c.Path), c.RelativeExcess(), passes, c.Passes)
		if !(c.RelativeExcess() <= 0.01) {
			t.Errorf("%s: leave-one-out error is up to %g above the least", what, c.RelativeExcess())
		}
	})
}
