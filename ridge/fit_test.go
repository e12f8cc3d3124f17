package ridge_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/svmlight"
	"github.com/fdridge/fdridge/ridge"
)

// reads counts the passes over a source.
type reads struct {
	dataset.Source
	passes int
}

func (r *reads) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	r.passes++
	return r.Source.Blocks(ctx)
}

// expected is what a Fit is to find, by the pieces that it is made of.
type expected struct {
	fits   []*ridge.Solution
	method string
	passes int
}

// TestFit: what ten and more command lines of internal/verify/corpus do, to the same bits
// as the pieces.
func TestFit(t *testing.T) {
	ctx := context.Background()
	cal := must(dataset.Rows(must(csv.Open(filepath.Join("..", "testdata", "cal_housing.csv.gz"), csv.Options{Targets: []string{"last"}}))(t), 0, 8000))(t)
	standard, _, err := dataset.Standardize(ctx, cal)
	if err != nil {
		t.Fatal(err)
	}
	w8a := must(dataset.Rows(must(svmlight.Open(filepath.Join("..", "testdata", "w8a.svm.gz"), svmlight.Options{Features: 300, Targets: 1}))(t), 0, 4000))(t)
	shop := problem(rand.New(rand.NewPCG(16, 3)), "gaussian", 400, 6, 2, 1)
	weighted := shop
	for range 400 {
		weighted.w = append(weighted.w, 0.5+rand.Float64())
	}
	for name, c := range map[string]struct {
		src    dataset.Source
		opts   ridge.Options
		pieces func(*ridge.Options) expected
		reason string
	}{
		"one-shot":                    {cal, ridge.Options{Gammas: []float64{10}, Size: 5, Method: "one-shot", Intercept: true}, byPath(t, cal), ""},
		"cg":                          {cal, ridge.Options{Gammas: []float64{10, 1000}, Size: 5, Method: "cg", Intercept: true}, byPasses(t, cal, ridge.CG), ""},
		"galerkin":                    {cal, ridge.Options{Gammas: []float64{10, 1000}, Size: 5, Method: "galerkin", Intercept: true}, byPasses(t, cal, ridge.Galerkin), ""},
		"newton, plain FD":            {standard, ridge.Options{Gammas: []float64{1e5}, Size: 6, Method: "newton", PlainFD: true, Tol: 1e-4}, byPasses(t, standard, ridge.Newton), ""},
		"auto, few columns":           {cal, ridge.Options{Gammas: []float64{1}, Intercept: true}, directly(t, cal, ridge.Cholesky, 1), "d² numbers fit"},
		"QR, as γ = 0 has it":         {standard, ridge.Options{Gammas: []float64{0, 10}, Method: "exact", Intercept: true}, directly(t, standard, ridge.QR, 1), ""},
		"weights and several targets": {weighted, ridge.Options{Gammas: []float64{0.5, 50}, Size: 3, Method: "galerkin", Intercept: true}, byPasses(t, weighted, ridge.Galerkin), ""},
		"weights, exact":              {weighted, ridge.Options{Gammas: []float64{1}, Method: "exact", Intercept: true}, directly(t, weighted, ridge.Cholesky, 1), ""},
		"sparse, no intercept":        {w8a, ridge.Options{Gammas: []float64{300, 3000}, Size: 16, Method: "galerkin", Tol: 1e-5}, byPasses(t, w8a, ridge.Galerkin), ""},
		"sparse, the sketch is kept":  {w8a, ridge.Options{Gammas: []float64{300}, Size: 32, Tol: 1e-5, KeepSummary: true}, byPasses(t, w8a, ridge.Galerkin), "the sketch is to be kept"},
		"γ chosen": {standard, ridge.Options{Method: "galerkin", Size: 6, Intercept: true, GammaTol: math.Inf(1)}, func(o *ridge.Options) expected {
			choice := must(summarize(t, standard, ridge.SummaryConfig{Size: o.Size, Intercept: o.Intercept}).ChooseGamma(nil))(t)
			o.Gammas = []float64{choice.Gamma()}
			return byPasses(t, standard, ridge.Galerkin)(o)
		}, ""},
		"γ chosen of a list": {shop, ridge.Options{Candidates: []float64{0.01, 0.1, 1, 10, 100}, Size: 4, Method: "cg", Intercept: true, GammaTol: math.Inf(1)}, func(o *ridge.Options) expected {
			path := must(summarize(t, shop, ridge.SummaryConfig{Size: o.Size, Intercept: o.Intercept}).Path(o.Candidates))(t)
			o.Gammas = []float64{path[must(ridge.ChooseGCV(path, -1))(t).Index].Gamma}
			return byPasses(t, shop, ridge.CG)(o)
		}, ""},
		"γ by cross-validation": {standard, ridge.Options{Folds: 5, Size: 6, Intercept: true, GammaTol: math.Inf(1)}, func(o *ridge.Options) expected {
			cv := must(ridge.CrossValidate(ctx, standard, ridge.SummaryConfig{Size: o.Size, Intercept: o.Intercept}, ridge.CrossValidation{Folds: 5}))(t)
			o.Gammas = []float64{cv.Gammas[must(cv.ChooseRidge(-1))(t).Index]}
			found := expected{method: "galerkin"}
			found.fits = must(ridge.SolvePath(ctx, standard, cv.Summary, o.Gammas, ridge.SolveOptions{Method: ridge.Galerkin}))(t)
			found.passes = found.fits[0].Passes
			return found
		}, "gamma is chosen from a sketch"},
		"γ of a list by cross-validation": {weighted, ridge.Options{Folds: 3, Candidates: []float64{0.1, 1, 10}, Size: 4, Method: "one-shot"}, func(o *ridge.Options) expected {
			cv := must(ridge.CrossValidate(ctx, weighted, ridge.SummaryConfig{Size: o.Size, Intercept: o.Intercept}, ridge.CrossValidation{Folds: 3, Gammas: o.Candidates}))(t)
			i := must(cv.ChooseFitted(-1))(t).Index
			return expected{must(cv.Summary.Path(cv.Gammas[i : i+1]))(t), "one-shot", 1}
		}, ""},
		"size as an error": {standard, ridge.Options{Gammas: []float64{3000}, Error: 0.2, Method: "one-shot", Intercept: true}, func(o *ridge.Options) expected {
			o.Size = 256
			_, size, err := summarize(t, must(dataset.Every(standard, 10))(t), ridge.SummaryConfig{Size: o.Size, Intercept: o.Intercept}).SizeFor(0.2, 300)
			if err != nil {
				t.Fatal(err)
			}
			o.Size = size
			found := byPath(t, standard)(o)
			found.passes++
			return found
		}, ""},
		"plain FD": {cal, ridge.Options{Gammas: []float64{1e6}, Size: 5, PlainFD: true, Method: "one-shot", Intercept: true}, func(o *ridge.Options) expected {
			return expected{[]*ridge.Solution{must(summarize(t, cal, ridge.SummaryConfig{Size: o.Size, Intercept: o.Intercept}).FitFD(1e6))(t)}, "one-shot", 1}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			src := &reads{Source: c.src}
			got, err := ridge.Fit(ctx, src, c.opts)
			if err != nil || got.Err() != nil || got.Status == ridge.NotTerminated {
				t.Fatalf("%v, status %v", err, got)
			}
			want := c.pieces(&c.opts)
			for i, f := range got.Solutions {
				if a, b := fmt.Sprint(*f), fmt.Sprint(*want.fits[i]); a != b || len(got.Solutions) != len(want.fits) {
					t.Errorf("γ = %g:\n%s, by its pieces\n%s", f.Gamma, a, b)
				}
			}
			if got.Method != want.method || !strings.HasPrefix(got.Reason, c.reason) || (c.reason == "") != (got.Reason == "") {
				t.Errorf("%s (%q), want %s (%q…)", got.Method, got.Reason, want.method, c.reason)
			}
			if got.Passes != want.passes || src.passes != want.passes {
				t.Errorf("%d passes, were %d, want %d", got.Passes, src.passes, want.passes)
			}
			if !slices.Contains(got.Solutions, got.Best()) || (got.Summary == nil) != (got.Method == "exact") || (got.SizedFor > 0) != (c.opts.Error > 0) {
				t.Errorf("best %v, summary %v, size for %v", got.Best(), got.Summary, got.SizedFor)
			}
		})
	}
}

func byPath(t *testing.T, src dataset.Source) func(*ridge.Options) expected {
	return func(o *ridge.Options) expected {
		return expected{must(summarize(t, src, ridge.SummaryConfig{Size: o.Size, Intercept: o.Intercept}).Path(o.Gammas))(t), "one-shot", 1}
	}
}

func byPasses(t *testing.T, src dataset.Source, m ridge.Method) func(*ridge.Options) expected {
	return func(o *ridge.Options) expected {
		s := expected{method: m.String()}
		s.fits = must(ridge.SolvePath(context.Background(), src, summarize(t, src, ridge.SummaryConfig{Size: o.Size, Intercept: o.Intercept}), o.Gammas, ridge.SolveOptions{Method: m, Tol: o.Tol, PlainFD: o.PlainFD}))(t)
		for _, f := range s.fits {
			s.passes = max(s.passes, f.Passes)
		}
		return s
	}
}

func directly(t *testing.T, src dataset.Source, f ridge.Factor, passes int) func(*ridge.Options) expected {
	return func(o *ridge.Options) expected {
		return expected{mustExact(t, src, ridge.ExactOptions{Factor: f, Intercept: o.Intercept}, o.Gammas...), "exact", passes}
	}
}

// TestFitSingular: what Cholesky finds singular QR solves, and the result says so; a
// factor that was asked for is the one that runs. Both columns have 4e18 for their squares,
// of which the square root is exact: by any kernel nothing is left for the second pivot.
func TestFitSingular(t *testing.T) {
	ctx := context.Background()
	src := &reads{Source: must(dataset.FromDense(4, 2, 1, []float64{1e9, 1e9, 1e9, 1e9, -1e9, -1e9, 1e9, 1e9}, []float64{1, 1.2, -1, 0.9}))(t)}
	got := must(ridge.Fit(ctx, src, ridge.Options{Gammas: []float64{1}}))(t)
	if got.Method != "exact" || got.Solutions[0].Method != "qr" || !strings.Contains(got.Reason, "singular at gamma = 1, so QR") || got.Passes != 3 || src.passes != 3 || !(got.Solutions[0].Targets[0].RelativeErrorBound <= 1e-8) {
		t.Errorf("%s by %s: %s; %d passes", got.Method, got.Solutions[0].Method, got.Reason, got.Passes)
	}
	var e *ridge.SingularError
	if len(got.Tried) != 1 || got.Tried[0].Method != "cholesky" || !errors.As(got.Tried[0].Err, &e) {
		t.Errorf("tried %v", got.Tried)
	}
	if r, err := ridge.Fit(ctx, src, ridge.Options{Gammas: []float64{1}, Method: "cholesky"}); r != nil || !errors.As(err, &e) {
		t.Errorf("cholesky: %v, %v", r, err)
	}
	if r := must(ridge.Fit(ctx, src, ridge.Options{Gammas: []float64{1}, Method: "qr", Tol: 1e-8}))(t); r.Solutions[0].Method != "qr" || r.Tried != nil {
		t.Errorf("qr: %s, tried %v", r.Solutions[0].Method, r.Tried)
	}
	if r, err := ridge.Fit(ctx, src, ridge.Options{Gammas: []float64{0}}); r != nil || !errors.As(err, &e) || e.Method != "qr" {
		t.Errorf("γ = 0: %v, %v", r, err)
	}
}

// TestFitShort: what did not converge comes with its error, a fit that was cancelled is
// none.
func TestFitShort(t *testing.T) {
	src := problem(rand.New(rand.NewPCG(4, 2)), "gaussian", 200, 30, 1, 1)
	opts := ridge.Options{Gammas: []float64{0.1}, Size: 2, Method: "cg", MaxPasses: 2}
	got, err := ridge.Fit(context.Background(), src, opts)
	var short *ridge.NotConvergedError
	if !errors.As(err, &short) || !errors.Is(err, ridge.ErrPassLimit) || got == nil || got.Status != ridge.PassLimit || got.Err().Error() != err.Error() || got.Best().Iterations != 2 || got.Passes != 3 {
		t.Errorf("%v: %+v", err, got)
	}
	opts.MaxPasses = 0
	for _, method := range []string{"", "cg", "one-shot"} {
		for _, stage := range []ridge.Stage{ridge.Sketching, ridge.Reading, ridge.Refining} {
			ctx, cancel := context.WithCancel(context.Background())
			told := false
			opts.Method = method
			opts.Progress = func(s ridge.Stage, p ridge.Progress) {
				if s == stage && p.Rows > 0 {
					told = true
					cancel()
				}
			}
			got, err := ridge.Fit(ctx, src, opts)
			cancel()
			if !told {
				continue // the method has no such stage
			}
			if got != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%s cancelled while %v: %v, %v", method, stage, got, err)
			}
		}
	}
}

// TestFitRefuses: what makes no sense is refused before anything is read.
func TestFitRefuses(t *testing.T) {
	src := &reads{Source: problem(rand.New(rand.NewPCG(4, 2)), "gaussian", 20, 3, 1, 1)}
	sum := summarize(t, src.Source, ridge.SummaryConfig{Size: 2})
	one := []float64{1}
	for name, opts := range map[string]ridge.Options{
		"method":                {Gammas: one, Method: "lsqr"},
		"one-shot, exact, chol": {Gammas: one, Method: "auto"},
		"Tol":                   {Gammas: one, Tol: -1},
		"a sketch of -1":        {Gammas: one, Size: -1},
		"Error":                 {Gammas: one, Error: 1},
		"folds":                 {Folds: 1},
		"Candidates":            {Gammas: one, Candidates: one},
		"yet to be chosen":      {Error: 0.1},
		"exact makes none":      {Method: "exact", Select: ridge.ByCV},
		"qr makes none":         {Gammas: one, Method: "qr", KeepSummary: true},
		"cholesky makes none":   {Gammas: one, Method: "cholesky", Error: 0.1},
		"gamma = 0":             {Gammas: []float64{1, 0}, Method: "cg"},
		"take gamma = -1":       {Gammas: []float64{-1}},
		"cg cannot take gamma":  {Candidates: []float64{0}, Method: "cg"},
	} {
		got, err := ridge.Fit(context.Background(), src, opts)
		if err == nil || got != nil || !strings.Contains(err.Error(), name) || !errors.Is(err, ridge.ErrInput) || src.passes > 0 {
			t.Errorf("%s: %v, %v after %d passes", name, got, err, src.passes)
		}
	}
	for name, opts := range map[string]ridge.Options{
		"no rows for exact":       {Gammas: one, Method: "exact"},
		"no rows for cholesky":    {Method: "cholesky"},
		"rows to deal into folds": {Folds: 2, Method: "galerkin"},
		"folds":                   {Folds: 2},
		"no source":               {Gammas: one, Method: "cg"},
		"gamma = 0":               {Gammas: []float64{0}},
	} {
		if got, err := ridge.FitSummary(context.Background(), nil, sum, opts); err == nil || got != nil || !strings.Contains(err.Error(), name) || !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s, of a summary: %v, %v", name, got, err)
		}
	}
}

// TestFitSummary: a fit from a summary is that of the rows, by the same method.
func TestFitSummary(t *testing.T) {
	ctx := context.Background()
	src := problem(rand.New(rand.NewPCG(4, 7)), "gaussian", 300, 20, 2, 1)
	var sum *ridge.Summary
	opts := ridge.Options{Size: 4, Method: "galerkin", Summarized: func(s *ridge.Summary) error { sum = s; return nil }}
	want := must(ridge.Fit(ctx, src, opts))(t)
	opts.Method = ""
	got := must(ridge.FitSummary(ctx, src, sum, opts))(t)
	if got.Method != "galerkin" || got.Reason == "" || got.Passes != want.Passes-1 || fmt.Sprint(*got.Best()) != fmt.Sprint(*want.Best()) || got.Choice.Gamma() != want.Choice.Gamma() {
		t.Errorf("%+v, of the rows %+v", got, want)
	}
	if once := must(ridge.FitSummary(ctx, nil, sum, opts))(t); once.Method != "one-shot" || once.Status != ridge.OnePass || once.Passes != 0 {
		t.Errorf("without rows: %+v", once)
	}
	opts.Summarized = func(*ridge.Summary) error { return ridge.ErrOtherRows }
	if got, err := ridge.Fit(ctx, src, opts); got != nil || !errors.Is(err, ridge.ErrOtherRows) {
		t.Errorf("where it cannot be kept: %v, %v", got, err)
	}
}

// TestFitWorkers: workers with a share of the rows each find what they find by the pieces,
// and keep journals on the way; what cannot be shared is refused.
func TestFitWorkers(t *testing.T) {
	src := problem(rand.New(rand.NewPCG(4, 9)), "gaussian", 300, 20, 2, 1)
	shares, sum := divide(t, rand.New(rand.NewPCG(5, 9)), src, 300, 3, ridge.SummaryConfig{Size: 4, Intercept: true})
	gammas := []float64{1, 30}
	want, _ := together(t.Context(), shares, sum, gammas, ridge.SolveOptions{Method: ridge.Galerkin}, nil)
	g := newGang(len(shares))
	var all sync.WaitGroup
	for rank, share := range shares {
		all.Go(func() {
			opts := ridge.Options{Gammas: gammas, Size: 4, Intercept: true, Reducer: worker{g, rank}, Journal: &memory{states: map[int][]byte{}, left: 1000, never: true}}
			opts.Summarize = func(_ context.Context, s ridge.Stage, own dataset.Source, cfg ridge.SummaryConfig, _ func(int64)) (*ridge.Summary, error) {
				if s != ridge.Sketching || own != share || cfg.Size != 4 || !cfg.Intercept {
					return nil, fmt.Errorf("asked for %v with %+v", s, cfg)
				}
				return sum, nil
			}
			got, err := ridge.Fit(t.Context(), share, opts)
			if err != nil {
				worker{g, rank}.leave(err)
				t.Errorf("worker %d: %v", rank, err)
				return
			}
			if got.Method != "galerkin" || got.Reason != "several ranks share the rows" || fmt.Sprint(*got.Solutions[1]) != fmt.Sprint(*want[rank].fits[1]) {
				t.Errorf("worker %d: %s, %s: %+v, want %+v", rank, got.Method, got.Reason, got.Solutions[1], want[rank].fits[1])
			}
		})
	}
	all.Wait()
	for name, opts := range map[string]ridge.Options{"Summarize has to": {Gammas: gammas}, "of the folds": {Folds: 3}, "share the rows": {Gammas: gammas, Method: "exact", Summarize: func(context.Context, ridge.Stage, dataset.Source, ridge.SummaryConfig, func(int64)) (*ridge.Summary, error) {
		return sum, nil
	}}} {
		opts.Reducer = alone{}
		if got, err := ridge.Fit(t.Context(), src, opts); got != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestGridGoesOn: where the best γ is at the end of our own grid it goes on, by three
// powers of ten at a time, and not where it is one that was given.
func TestGridGoesOn(t *testing.T) {
	sum := summarize(t, housing(t), ridge.SummaryConfig{Size: 8, Intercept: true})
	grid := sum.Grid(50)
	own, given := must(sum.ChooseGamma(nil))(t), must(sum.ChooseGamma(grid))(t)
	if len(own.Path) != 75 || own.Index == 0 || !own.Certain || !(own.Gamma() < grid[0]) || !slices.IsSortedFunc(own.Path, func(a, b *ridge.Solution) int { return cmp.Compare(a.Gamma, b.Gamma) }) {
		t.Errorf("of %d γ number %d, %g, certain %v", len(own.Path), own.Index, own.Gamma(), own.Certain)
	}
	if len(given.Path) != 50 || given.Index != 0 || len(given.Scores) != 50 || given.CV != nil {
		t.Errorf("of a given list of %d γ number %d", len(given.Path), given.Index)
	}
	if _, err := sum.ChooseGamma([]float64{}); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("of none: %v", err)
	}
}

// TestGridOfFoldsGoesOn: so does that of cross-validation, which has the summaries of the
// folds, without another pass; not where the γ are given, nor where that would take passes.
func TestGridOfFoldsGoesOn(t *testing.T) {
	src := housing(t)
	cfg := ridge.SummaryConfig{Size: 8, Intercept: true}
	own := must(ridge.CrossValidate(t.Context(), src, cfg, ridge.CrossValidation{}))(t)
	grid := own.Summary.Grid(25)
	given := must(ridge.CrossValidate(t.Context(), src, cfg, ridge.CrossValidation{Gammas: grid}))(t)
	exact := must(ridge.CrossValidate(t.Context(), src, cfg, ridge.CrossValidation{Exact: true}))(t)
	best, end := must(own.ChooseGamma(false))(t), must(given.ChooseGamma(false))(t)
	if n := len(own.Gammas); n <= 25 || (n-25)%12 != 0 || own.Passes != 1 || !slices.IsSorted(own.Gammas) || len(own.Fitted) != n || len(own.Ridge) != n {
		t.Errorf("%d γ, %d and %d scores, %d passes", n, len(own.Fitted), len(own.Ridge), own.Passes)
	}
	if end.Index != 0 || !(best.Gamma() < grid[0]) || !(best.Score.Hi < end.Score.Lo) {
		t.Errorf("γ = %g scores %v, that at the end %g, %v", best.Gamma(), best.Score, end.Gamma(), end.Score)
	}
	// The γ of the first grid have the scores that they have without the others.
	for i, gamma := range grid {
		if j := slices.Index(own.Gammas, gamma); j < 0 || own.Ridge[j][0] != given.Ridge[i][0] || own.Fitted[j][0] != given.Fitted[i][0] {
			t.Errorf("γ = %g: %v, alone %v", gamma, own.Ridge[j], given.Ridge[i])
		}
	}
	if !slices.Equal(exact.Gammas, grid) {
		t.Errorf("with a second pass of %d γ", len(exact.Gammas))
	}
	r := must(ridge.Fit(t.Context(), src, ridge.Options{Folds: 5, Method: "one-shot", Size: 8, Intercept: true}))(t)
	if r.Choice.Gamma() != best.Gamma() {
		t.Errorf("Fit chooses %g, cross-validation %g", r.Choice.Gamma(), best.Gamma())
	}
}
