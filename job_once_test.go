package fdridge_test

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/reason"
)

// pipedRows are rows that can be read once, whose number is not known.
type pipedRows struct {
	dataset.Source
	passes int
}

func (p *pipedRows) Once() bool { return true }

func (p *pipedRows) Dims() (n int64, d, t int) {
	_, d, t = p.Source.Dims()
	return -1, d, t
}

func (p *pipedRows) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	p.passes++
	if p.passes > 1 {
		return func(yield func(dataset.Block, error) bool) {
			yield(dataset.Block{}, &dataset.OnceError{What: "a second pass"})
		}
	}
	return p.Source.Blocks(ctx)
}

// TestFitOnce: rows that can be read once are read once, by what is chosen for them; what would
// read them again is refused before it reads any.
func TestFitOnce(t *testing.T) {
	const n, d = 300, 12
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range y {
		y[i] = x[i*d] + rng.NormFloat64()
	}
	rows, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	same := append([]float64(nil), x...) // a column twice
	for i := range n {
		same[i*d+1] = same[i*d]
	}
	singular, err := dataset.FromDense(n, d, 1, same, y)
	if err != nil {
		t.Fatal(err)
	}
	one := []float64{1}
	for name, c := range map[string]struct {
		opts   fdridge.Options
		method ridge.Method // Auto: refused
		why    reason.Rule
		what   string // what is refused
		status ridge.Status
	}{
		"by itself": {fdridge.Options{
			NoIntercept: true, Gammas: one,
		}, ridge.Exact, reason.ReadOnce, "", ridge.Factorized},
		"several": {fdridge.Options{
			Gammas: []float64{1, 2, 3, 4, 5},
		}, ridge.Exact, reason.ReadOnce, "", ridge.Factorized},
		"least squares": {fdridge.Options{
			NoIntercept: true, Gammas: []float64{0},
		}, ridge.Exact, reason.LeastSquares, "", ridge.Factorized},
		"gamma": {fdridge.Options{NoIntercept: true}, ridge.Exact, reason.ReadOnce, "", ridge.Factorized},
		"gamma by folds": {fdridge.Options{
			NoIntercept: true, Folds: 3,
		}, ridge.OneShot, reason.FoldsNeedSketch, "", ridge.OnePass},
		"bands": {fdridge.Options{
			NoIntercept: true, Bands: []choose.Band{{Columns: []int{0, 1}}},
		}, ridge.OneShot, reason.BandsNeedSketch, "", ridge.OnePass},
		"kept": {fdridge.Options{
			NoIntercept: true, Gammas: one, KeepSummary: true,
		}, ridge.OneShot, reason.SketchIsKept, "", ridge.OnePass},
		"little memory": {fdridge.Options{
			NoIntercept: true, Gammas: one, MaxBytes: 100, Size: 4,
		}, ridge.OneShot, reason.MemoryTooSmall, "", ridge.OnePass},
		"out of reach": {fdridge.Options{
			NoIntercept: true, Gammas: one, Tol: 1e-16,
		}, ridge.Exact, reason.ReadOnce, "", ridge.PassLimit},
		"gamma, the same": {fdridge.Options{
			NoIntercept: true, Tol: 1e-16,
		}, ridge.Exact, reason.ReadOnce, "", ridge.PassLimit},
		"asked for": {fdridge.Options{
			NoIntercept: true, Gammas: one, Method: ridge.OneShot,
		}, ridge.OneShot, reason.Asked, "", ridge.OnePass},
		"qr": {fdridge.Options{
			NoIntercept: true, Gammas: one, Method: ridge.QR,
		}, ridge.QR, reason.Asked, "", ridge.Factorized},
		"dual": {fdridge.Options{
			NoIntercept: true, Gammas: one, Method: ridge.Dual,
		}, ridge.Dual, reason.Asked, "", ridge.Factorized},
		"cg": {fdridge.Options{
			NoIntercept: true, Gammas: one, Method: ridge.CG,
		}, ridge.Auto, reason.Asked, "method cg", 0},
		"galerkin": {fdridge.Options{
			NoIntercept: true, Method: ridge.Galerkin,
		}, ridge.Auto, reason.Asked, "method galerkin", 0},
		"leaving one out": {fdridge.Options{
			NoIntercept: true, Select: choose.LOO,
		}, ridge.Auto, reason.Asked, "leave-one-out errors", 0},
		"and with exact": {fdridge.Options{
			NoIntercept: true, Select: choose.LOO, Method: ridge.Exact,
		}, ridge.Auto, reason.Asked, "leave-one-out errors", 0},
	} {
		src := &pipedRows{Source: rows}
		r, err := fdridge.Fit(t.Context(), src, c.opts)
		if c.method == ridge.Auto {
			e, ok := errors.AsType[*dataset.OnceError](err)
			if !ok || !strings.Contains(e.What, c.what) || !errors.Is(err, ridge.ErrInput) || src.passes > 0 {
				t.Errorf("%s: %v after %d passes", name, err, src.passes)
			}
			continue
		}
		if short, ok := errors.AsType[*ridge.NotConvergedError](err); err != nil && (!ok || short.Status != c.status) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Method != c.method || r.Reason().Rule != c.why || r.Status != c.status || src.passes != 1 ||
			r.Passes != 1 {
			t.Errorf(
				"%s: %s (%v), %v, %d passes, said to be %d",
				name,
				r.Method,
				r.Reason(),
				r.Status,
				src.passes,
				r.Passes,
			)
		}
		if c.opts.Bands != nil {
			continue
		}
		again, err := fdridge.Fit(
			t.Context(),
			rows,
			fdridge.Options{Gammas: []float64{r.Best().Gamma}, NoIntercept: c.opts.NoIntercept, Method: ridge.Exact},
		)
		if err != nil {
			t.Fatal(err)
		}
		got, want := r.Best().Targets[0], again.Best().Targets[0]
		for j, v := range got.Coef {
			if e := v - want.Coef[j]; !(max(e, -e) <= got.ErrorBound+want.ErrorBound) {
				t.Errorf("%s: weight %d is %g off, certified to %g", name, j, e, got.ErrorBound)
			}
		}
	}
	src := &pipedRows{Source: singular}
	_, err = fdridge.Fit(t.Context(), src, fdridge.Options{NoIntercept: true, Gammas: []float64{1e-300}})
	if e, ok := errors.AsType[*dataset.OnceError](err); !ok || !strings.Contains(e.What, "QR, which solves") ||
		src.passes != 1 {
		t.Errorf("singular: %v after %d passes", err, src.passes)
	}
}

// TestFitSummaryOnce: for rows that can be read once, γ is chosen by GCV, which leaves the only pass to the solution.
func TestFitSummaryOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	p := testkit.Problem(r, "gaussian", 50, 3, 1, 1)
	sum, err := ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Dim: 3, Size: 8, Intercept: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	piped := &pipedRows{Source: p}
	got, err := fdridge.FitSummary(t.Context(), piped, sum, fdridge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Choice.By != choose.GCV || got.Passes != 1 || piped.passes != 1 {
		t.Errorf("chosen by %v, %d passes, %d were made", got.Choice.By, got.Passes, piped.passes)
	}
}
