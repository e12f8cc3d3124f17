package fdridge_test

import (
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

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/svmlight"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/reason"
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

// expected is the result that Fit should return, computed with the functions that Fit combines.
type expected struct {
	fits   []*ridge.Solution
	method ridge.Method
	passes int
}

// TestFit: what ten and more command lines of internal/verify/corpus do, to the same bits
// as the pieces.
func TestFit(t *testing.T) {
	ctx := context.Background()
	cal := testkit.Must(
		dataset.Rows(
			testkit.Must(
				csv.Open(filepath.Join("testdata", "cal_housing.csv.gz"), csv.Options{Targets: []string{"last"}}),
			)(
				t,
			),
			0,
			8000,
		),
	)(
		t,
	)
	standard, _, err := dataset.Standardize(ctx, cal)
	if err != nil {
		t.Fatal(err)
	}
	w8a := testkit.Must(
		dataset.Rows(
			testkit.Must(
				svmlight.Open(
					filepath.Join("testdata", "w8a.svm.gz"),
					svmlight.Options{Features: 300, Targets: 1},
				),
			)(
				t,
			),
			0,
			4000,
		),
	)(
		t,
	)
	shop := testkit.Problem(rand.New(rand.NewPCG(16, 3)), "gaussian", 400, 6, 2, 1)
	weighted := shop
	for range 400 {
		weighted.W = append(weighted.W, 0.5+rand.Float64())
	}
	for name, c := range map[string]struct {
		src    dataset.Source
		opts   fdridge.Options
		pieces func(*fdridge.Options) expected
		reason reason.Rule
	}{
		"one-shot": {
			cal, fdridge.Options{Gammas: []float64{10}, Size: 5, Method: ridge.OneShot}, byPath(t, cal), reason.Asked,
		},
		"cg": {
			cal, fdridge.Options{Gammas: []float64{10, 1000}, Size: 5, Method: ridge.CG}, byPasses(t, cal, ridge.CG),
			reason.Asked,
		},
		"galerkin": {
			cal, fdridge.Options{Gammas: []float64{10, 1000}, Size: 5, Method: ridge.Galerkin}, byPasses(t, cal, ridge.Galerkin),
			reason.Asked,
		},
		"newton": {
			standard, fdridge.Options{NoIntercept: true, Gammas: []float64{1e5}, Size: 6, Method: ridge.Newton, Tol: 1e-4},
			byPasses(t, standard, ridge.Newton), reason.Asked,
		},
		"auto, few columns": {
			cal, fdridge.Options{Gammas: []float64{1}}, directly(t, cal, ridge.Cholesky, 1), reason.DirectIsCheaper,
		},
		"QR, as γ = 0 has it": {
			standard, fdridge.Options{Gammas: []float64{0, 10}, Method: ridge.Exact}, directly(t, standard, ridge.QR, 1),
			reason.Asked,
		},
		"weights and several targets": {
			weighted, fdridge.Options{Gammas: []float64{0.5, 50}, Size: 3, Method: ridge.Galerkin},
			byPasses(t, weighted, ridge.Galerkin), reason.Asked,
		},
		"weights, exact": {
			weighted, fdridge.Options{Gammas: []float64{1}, Method: ridge.Exact}, directly(t, weighted, ridge.Cholesky, 1),
			reason.Asked,
		},
		"sparse, no intercept": {
			w8a, fdridge.Options{NoIntercept: true, Gammas: []float64{300, 3000}, Size: 16, Method: ridge.Galerkin, Tol: 1e-5},
			byPasses(t, w8a, ridge.Galerkin), reason.Asked,
		},
		"sparse, the sketch is kept": {
			w8a, fdridge.Options{NoIntercept: true, Gammas: []float64{300}, Size: 32, Tol: 1e-5, KeepSummary: true},
			byPasses(t, w8a, ridge.Galerkin), reason.SketchIsKept,
		},
		"γ chosen": {standard, fdridge.Options{Method: ridge.Galerkin, Size: 6, GammaTol: math.Inf(1)},
			func(o *fdridge.Options) expected {
				choice := testkit.Must(choose.Gamma(
					testkit.Summarize(t, standard, ridge.SummaryConfig{Size: o.Size, Intercept: !o.NoIntercept}), nil,
				))(t)
				o.Gammas = []float64{choice.Gamma()}
				return byPasses(t, standard, ridge.Galerkin)(o)
			}, reason.Asked},
		"γ chosen of a list": {shop,
			fdridge.Options{Candidates: []float64{0.01, 0.1, 1, 10, 100}, Size: 4, Method: ridge.CG, GammaTol: math.Inf(1)},
			func(o *fdridge.Options) expected {
				path := testkit.Must(
					testkit.Summarize(t, shop, ridge.SummaryConfig{Size: o.Size, Intercept: !o.NoIntercept}).Path(o.Candidates),
				)(t)
				o.Gammas = []float64{path[testkit.Must(choose.LeastGCV(path, -1))(t).Index].Gamma}
				return byPasses(t, shop, ridge.CG)(o)
			}, reason.Asked},
		"γ by cross-validation": {standard, fdridge.Options{Folds: 5, Size: 6, GammaTol: math.Inf(1)},
			func(o *fdridge.Options) expected {
				cv := testkit.Must(choose.CrossValidate(
					ctx, standard, ridge.SummaryConfig{Size: o.Size, Intercept: !o.NoIntercept}, choose.CrossValidation{Folds: 5},
				))(t)
				o.Gammas = []float64{testkit.Must(cv.ChooseGamma(false))(t).Gamma()}
				found := expected{method: ridge.Galerkin}
				found.fits = testkit.Must(ridge.SolvePath(
					ctx, standard, cv.Summary, o.Gammas, ridge.SolveOptions{Method: ridge.Galerkin},
				))(t)
				found.passes = found.fits[0].Passes
				return found
			}, reason.FoldsNeedSketch},
		"γ of a list by cross-validation": {weighted,
			fdridge.Options{NoIntercept: true, Folds: 3, Candidates: []float64{0.1, 1, 10}, Size: 4, Method: ridge.OneShot},
			func(o *fdridge.Options) expected {
				cv := testkit.Must(choose.CrossValidate(
					ctx, weighted, ridge.SummaryConfig{Size: o.Size, Intercept: !o.NoIntercept},
					choose.CrossValidation{Folds: 3, Gammas: o.Candidates},
				))(t)
				i := testkit.Must(cv.ChooseGamma(true))(t).Index
				return expected{testkit.Must(cv.Summary.Path(cv.Gammas[i : i+1]))(t), ridge.OneShot, 1}
			}, reason.Asked},
	} {
		t.Run(name, func(t *testing.T) {
			src := &reads{Source: c.src}
			got, err := fdridge.Fit(ctx, src, c.opts)
			if err != nil || got.Err() != nil || got.Status == ridge.NotTerminated {
				t.Fatalf("%v, status %v", err, got)
			}
			want := c.pieces(&c.opts)
			for i, f := range got.Solutions {
				if a, b := fmt.Sprint(*f), fmt.Sprint(*want.fits[i]); a != b || len(got.Solutions) != len(want.fits) {
					t.Errorf("γ = %g:\n%s, by its pieces\n%s", f.Gamma, a, b)
				}
			}
			if got.Method != want.method || got.Reason().Rule != c.reason {
				t.Errorf("%s (%v), want %s (%v)", got.Method, got.Reason(), want.method, c.reason)
			}
			if got.Passes != want.passes || src.passes != want.passes {
				t.Errorf("%d passes, were %d, want %d", got.Passes, src.passes, want.passes)
			}
			if !slices.Contains(got.Solutions, got.Best()) || (got.Summary == nil) != (got.Method == ridge.Exact) {
				t.Errorf("best %v, summary %v", got.Best(), got.Summary)
			}
		})
	}
}

func byPath(t *testing.T, src dataset.Source) func(*fdridge.Options) expected {
	return func(o *fdridge.Options) expected {
		return expected{
			testkit.Must(
				testkit.Summarize(t, src, ridge.SummaryConfig{Size: o.Size, Intercept: !o.NoIntercept}).Path(o.Gammas),
			)(t),
			ridge.OneShot,
			1,
		}
	}
}

func byPasses(t *testing.T, src dataset.Source, m ridge.Method) func(*fdridge.Options) expected {
	return func(o *fdridge.Options) expected {
		s := expected{method: m}
		s.fits = testkit.Must(
			ridge.SolvePath(
				context.Background(),
				src,
				testkit.Summarize(t, src, ridge.SummaryConfig{Size: o.Size, Intercept: !o.NoIntercept}),
				o.Gammas,
				ridge.SolveOptions{Method: m, Tol: o.Tol},
			),
		)(
			t,
		)
		for _, f := range s.fits {
			s.passes = max(s.passes, f.Passes)
		}
		return s
	}
}

func directly(t *testing.T, src dataset.Source, f ridge.Method, passes int) func(*fdridge.Options) expected {
	return func(o *fdridge.Options) expected {
		return expected{
			testkit.MustExact(t, src, ridge.ExactOptions{Method: f, Intercept: !o.NoIntercept}, o.Gammas...),
			ridge.Exact,
			passes,
		}
	}
}

// TestFitSingular: if Cholesky finds the system singular, QR solves it, and the result gives this reason. A requested
// factorisation is not replaced. Both columns have the squared norm 4e18, which has an exact square root, so with every
// kernel nothing is left for the second pivot.
func TestFitSingular(t *testing.T) {
	ctx := context.Background()
	src := &reads{
		Source: testkit.Must(
			dataset.FromDense(4, 2, 1, []float64{1e9, 1e9, 1e9, 1e9, -1e9, -1e9, 1e9, 1e9}, []float64{1, 1.2, -1, 0.9}),
		)(
			t,
		),
	}
	got := testkit.Must(fdridge.Fit(ctx, src, fdridge.Options{NoIntercept: true, Gammas: []float64{1}}))(t)
	if got.Method != ridge.Exact || got.Solutions[0].Method != ridge.QR || got.Reason().Rule != reason.SingularTo ||
		!slices.Equal(got.Reason().Numbers, []float64{1}) ||
		got.Passes != 3 ||
		src.passes != 3 ||
		!(got.Solutions[0].Targets[0].RelativeErrorBound <= 1e-8) {
		t.Errorf("%s by %s: %v; %d passes", got.Method, got.Solutions[0].Method, got.Reason(), got.Passes)
	}
	var e *ridge.SingularError
	if left := givenUp(got); len(left) != 1 || left[0].Method != ridge.Cholesky || !errors.As(left[0].Err, &e) {
		t.Errorf("gave up %v", left)
	}
	if r, err := fdridge.Fit(
		ctx, src, fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Method: ridge.Cholesky},
	); r != nil ||
		!errors.As(err, &e) {
		t.Errorf("cholesky: %v, %v", r, err)
	}
	if r := testkit.Must(fdridge.Fit(
		ctx, src, fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Method: ridge.QR, Tol: 1e-8},
	))(t); r.Solutions[0].Method != ridge.QR ||
		givenUp(r) != nil {
		t.Errorf("qr: %s, gave up %v", r.Solutions[0].Method, givenUp(r))
	}
	r, err := fdridge.Fit(ctx, src, fdridge.Options{NoIntercept: true, Gammas: []float64{0}})
	if !errors.Is(err, ridge.ErrDependent) {
		t.Fatalf("γ = 0: %v", err)
	}
	s := r.Solutions[0]
	if s.Method != ridge.QR || s.Status != ridge.MinimumNorm || s.Rank != 1 || len(s.Dependent) != 1 ||
		s.Dependent[0].Column != 1 {
		t.Errorf("γ = 0: %v", s)
	}
	if x := s.Targets[0].Coef; x[0] != x[1] {
		t.Errorf("γ = 0: the equal columns have the coefficients %v", x)
	}
	// The remedy is a γ that reaches the tolerance.
	remedies := testkit.Must(r.Remedies())(t)
	if len(remedies) != 1 || remedies[0].Kind != plan.RaiseGamma {
		t.Fatalf("γ = 0: remedies %v", remedies)
	}
	larger := testkit.Must(
		fdridge.Fit(
			ctx,
			src,
			fdridge.Options{NoIntercept: true, Gammas: []float64{remedies[0].Value}, Method: ridge.QR},
		),
	)(
		t,
	)
	if larger.Status != ridge.Factorized {
		t.Errorf("γ = %g: %v", remedies[0].Value, larger.Status)
	}
}

// TestFitShort: what did not converge comes with its error, a fit that was cancelled is
// none.
func TestFitShort(t *testing.T) {
	src := testkit.Problem(rand.New(rand.NewPCG(4, 2)), "gaussian", 200, 30, 1, 1)
	opts := fdridge.Options{NoIntercept: true, Gammas: []float64{0.1}, Size: 2, Method: ridge.CG, MaxPasses: 2}
	got, err := fdridge.Fit(context.Background(), src, opts)
	var short *ridge.NotConvergedError
	if !errors.As(err, &short) || !errors.Is(err, ridge.ErrPassLimit) || got == nil || got.Status != ridge.PassLimit ||
		got.Err().Error() != err.Error() ||
		got.Best().Iterations != 2 ||
		got.Passes != 3 {
		t.Errorf("%v: %+v", err, got)
	}
	opts.MaxPasses = 0
	for _, method := range []ridge.Method{ridge.Auto, ridge.CG, ridge.OneShot} {
		for _, stage := range []fdridge.Stage{fdridge.Sketching, fdridge.Reading, fdridge.Refining} {
			ctx, cancel := context.WithCancel(context.Background())
			told := false
			opts.Method = method
			opts.Progress = func(s fdridge.Stage, p ridge.Progress) {
				if s == stage && p.Rows > 0 {
					told = true
					cancel()
				}
			}
			got, err := fdridge.Fit(ctx, src, opts)
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
	src := &reads{Source: testkit.Problem(rand.New(rand.NewPCG(4, 2)), "gaussian", 20, 3, 1, 1)}
	sum := testkit.Summarize(t, src.Source, ridge.SummaryConfig{Size: 2})
	one := []float64{1}
	for name, opts := range map[string]fdridge.Options{
		"unknown method":            {NoIntercept: true, Gammas: one, Method: ridge.Method(99)},
		"Method":                    {NoIntercept: true, Gammas: one, Method: ridge.Chebyshev},
		"Tol":                       {NoIntercept: true, Gammas: one, Tol: -1},
		"Size":                      {NoIntercept: true, Gammas: one, Size: -1},
		"two folds":                 {NoIntercept: true, Folds: 1},
		"Candidates":                {NoIntercept: true, Gammas: one, Candidates: one},
		"gamma = 0":                 {NoIntercept: true, Gammas: []float64{1, 0}, Method: ridge.CG},
		"gamma = -1, but":           {NoIntercept: true, Gammas: []float64{-1}},
		"cg does not support gamma": {NoIntercept: true, Candidates: []float64{0}, Method: ridge.CG},
	} {
		got, err := fdridge.Fit(context.Background(), src, opts)
		if err == nil || got != nil || !strings.Contains(err.Error(), name) || !errors.Is(err, ridge.ErrInput) ||
			src.passes > 0 {
			t.Errorf("%s: %v, %v after %d passes", name, got, err, src.passes)
		}
	}
	for name, opts := range map[string]fdridge.Options{
		"factors the rows":       {NoIntercept: true, Gammas: one, Method: ridge.Exact},
		"method factors":         {NoIntercept: true, Method: ridge.Cholesky},
		"the summaries of folds": {NoIntercept: true, Folds: 2, Method: ridge.Galerkin},
		"folds":                  {NoIntercept: true, Folds: 2},
		"no source":              {NoIntercept: true, Gammas: one, Method: ridge.CG},
		"gamma = 0":              {NoIntercept: true, Gammas: []float64{0}},
	} {
		if got, err := fdridge.FitSummary(context.Background(), nil, sum, opts); err == nil || got != nil ||
			!strings.Contains(err.Error(), name) ||
			!errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s, of a summary: %v, %v", name, got, err)
		}
	}
}

// TestFitSummary: a fit from a summary equals the fit of its rows by the same method. Without rows it is a one-shot
// fit.
func TestFitSummary(t *testing.T) {
	ctx := context.Background()
	src := testkit.Problem(rand.New(rand.NewPCG(4, 7)), "gaussian", 300, 20, 2, 1)
	var sum *ridge.Summary
	opts := fdridge.Options{
		NoIntercept: true,
		Size:        4,
		Method:      ridge.Galerkin,
		Summarized:  func(s *ridge.Summary) error { sum = s; return nil },
	}
	want := testkit.Must(fdridge.Fit(ctx, src, opts))(t)
	opts.Method = ridge.Auto
	got := testkit.Must(fdridge.FitSummary(ctx, src, sum, opts))(t)
	if got.Method != ridge.Galerkin || got.Reason().Rule != reason.RefinesSummary || got.Passes != want.Passes-1 ||
		fmt.Sprint(*got.Best()) != fmt.Sprint(*want.Best()) ||
		got.Choice.Gamma() != want.Choice.Gamma() {
		t.Errorf("%+v, of the rows %+v", got, want)
	}
	if once := testkit.Must(fdridge.FitSummary(ctx, nil, sum, opts))(t); once.Method != ridge.OneShot ||
		once.Status != ridge.OnePass ||
		once.Passes != 0 {
		t.Errorf("without rows: %+v", once)
	}
	opts.KeepSummary = true
	opts.Summarized = func(*ridge.Summary) error { return ridge.ErrOtherRows }
	if got, err := fdridge.Fit(ctx, src, opts); got != nil || !errors.Is(err, ridge.ErrOtherRows) {
		t.Errorf("where it cannot be kept: %v, %v", got, err)
	}
}

// TestFitWorkers: workers with a share of the rows each find what they find by the pieces,
// and keep journals on the way; what cannot be shared is refused.
func TestFitWorkers(t *testing.T) {
	src := testkit.Problem(rand.New(rand.NewPCG(4, 9)), "gaussian", 300, 20, 2, 1)
	shares, sum := testkit.Divide(
		t, rand.New(rand.NewPCG(5, 9)), src, 300, 3, ridge.SummaryConfig{Size: 4, Intercept: true},
	)
	gammas := []float64{1, 30}
	want, _ := testkit.Together(t.Context(), shares, sum, gammas, ridge.SolveOptions{Method: ridge.Galerkin}, nil)
	g := testkit.NewGang(len(shares))
	var all sync.WaitGroup
	for rank, share := range shares {
		all.Go(func() {
			opts := fdridge.Options{
				Gammas:  gammas,
				Size:    4,
				Reducer: g.Worker(rank),
				Journal: &testkit.Memory{States: map[int][]byte{}, Left: 1000, Never: true},
			}
			opts.Summarize = func(
				_ context.Context, own dataset.Source, cfg ridge.SummaryConfig, _ func(int64),
			) (*ridge.Summary, error) {
				if own != share || cfg.Size != 4 || !cfg.Intercept {
					return nil, fmt.Errorf("asked for %+v", cfg)
				}
				return sum, nil
			}
			got, err := fdridge.Fit(t.Context(), share, opts)
			if err != nil {
				g.Worker(rank).Leave(err)
				t.Errorf("worker %d: %v", rank, err)
				return
			}
			if got.Method != ridge.Galerkin || got.Reason().Rule != reason.RanksShareRows ||
				fmt.Sprint(*got.Solutions[1]) != fmt.Sprint(*want[rank].Fits[1]) {
				t.Errorf(
					"worker %d: %s, %v: %+v, want %+v",
					rank,
					got.Method,
					got.Reason(),
					got.Solutions[1],
					want[rank].Fits[1],
				)
			}
		})
	}
	all.Wait()
	for name, opts := range map[string]fdridge.Options{"Summarize must return": {NoIntercept: true, Gammas: gammas},
		"Reducer, Method": {NoIntercept: true, Gammas: gammas, Method: ridge.Exact,
			Summarize: func(context.Context, dataset.Source, ridge.SummaryConfig, func(int64)) (*ridge.Summary, error) {
				return sum, nil
			}}} {
		opts.Reducer = testkit.Alone{}
		got, err := fdridge.Fit(t.Context(), src, opts)
		if got != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestGridOfFoldsGoesOn: cross-validation in one pass extends its default grid, too, from the summaries of the folds
// and without another pass. It does not extend a given grid, or a grid whose extension would take passes.
func TestGridOfFoldsGoesOn(t *testing.T) {
	src := testkit.Housing(t)
	cfg := ridge.SummaryConfig{Size: 8, Intercept: true}
	own := testkit.Must(choose.CrossValidate(t.Context(), src, cfg, choose.CrossValidation{}))(t)
	grid := choose.Grid(own.Summary, 25)
	given := testkit.Must(choose.CrossValidate(t.Context(), src, cfg, choose.CrossValidation{Gammas: grid}))(t)
	exact := testkit.Must(choose.CrossValidate(t.Context(), src, cfg, choose.CrossValidation{Exact: true}))(t)
	best, end := testkit.Must(own.ChooseGamma(false))(t), testkit.Must(given.ChooseGamma(false))(t)
	if n := len(own.Gammas); n <= 25 || (n-25)%12 != 0 || own.Passes != 1 || !slices.IsSorted(own.Gammas) ||
		len(own.Fitted) != n ||
		len(own.Ridge) != n {
		t.Errorf("%d γ, %d and %d scores, %d passes", n, len(own.Fitted), len(own.Ridge), own.Passes)
	}
	if end.Index != 0 || !(best.Gamma() < grid[0]) || !(best.Score.Hi < end.Score.Lo) {
		t.Errorf("γ = %g scores %v, that at the end %g, %v", best.Gamma(), best.Score, end.Gamma(), end.Score)
	}
	// The γ of the first grid have the scores that they have without the others.
	for i, gamma := range grid {
		if j := slices.Index(own.Gammas, gamma); j < 0 || own.Ridge[j][0] != given.Ridge[i][0] ||
			own.Fitted[j][0] != given.Fitted[i][0] {
			t.Errorf("γ = %g: %v, alone %v", gamma, own.Ridge[j], given.Ridge[i])
		}
	}
	if !slices.Equal(exact.Gammas, grid) {
		t.Errorf("with a second pass of %d γ", len(exact.Gammas))
	}
	r := testkit.Must(fdridge.Fit(t.Context(), src, fdridge.Options{Folds: 5, Method: ridge.OneShot, Size: 8}))(t)
	if r.Choice.Gamma() != best.Gamma() {
		t.Errorf("Fit chooses %g, cross-validation %g", r.Choice.Gamma(), best.Gamma())
	}
}
