package ridge_test

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
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
		opts   ridge.Options
		method string // "": refused
		why    string // the reason, or what is refused
		status ridge.Status
	}{
		"by itself":       {ridge.Options{Gammas: one}, "exact", "the rows can be read once, and d² numbers fit", ridge.Factorized},
		"several":         {ridge.Options{Gammas: []float64{1, 2, 3, 4, 5}, Intercept: true}, "exact", "d² numbers fit", ridge.Factorized},
		"least squares":   {ridge.Options{Gammas: []float64{0}}, "exact", "least squares", ridge.Factorized},
		"gamma":           {ridge.Options{}, "exact", "d² numbers fit", ridge.Factorized},
		"gamma by folds":  {ridge.Options{Folds: 3}, "one-shot", "sketches of the folds", ridge.OnePass},
		"bands":           {ridge.Options{Bands: []ridge.Band{{Columns: []int{0, 1}}}}, "one-shot", "bands are chosen from a sketch", ridge.OnePass},
		"kept":            {ridge.Options{Gammas: one, KeepSummary: true}, "one-shot", "the sketch is to be kept", ridge.OnePass},
		"little memory":   {ridge.Options{Gammas: one, MaxBytes: 100, Size: 4}, "one-shot", "exact takes", ridge.OnePass},
		"out of reach":    {ridge.Options{Gammas: one, Tol: 1e-16}, "exact", "d² numbers fit", ridge.PassLimit},
		"gamma, the same": {ridge.Options{Tol: 1e-16}, "exact", "d² numbers fit", ridge.PassLimit},
		"asked for":       {ridge.Options{Gammas: one, Method: "one-shot"}, "one-shot", "", ridge.OnePass},
		"qr":              {ridge.Options{Gammas: one, Method: "qr"}, "qr", "", ridge.Factorized},
		"dual":            {ridge.Options{Gammas: one, Method: "dual"}, "dual", "", ridge.Factorized},
		"cg":              {ridge.Options{Gammas: one, Method: "cg"}, "", "method cg", 0},
		"galerkin":        {ridge.Options{Method: "galerkin"}, "", "method galerkin", 0},
		"pilot":           {ridge.Options{Gammas: one, Error: 0.1}, "", "a pilot", 0},
		"pilot, one-shot": {ridge.Options{Gammas: one, Error: 0.1, Method: "one-shot"}, "", "a pilot", 0},
		"leaving one out": {ridge.Options{Select: ridge.ByLOO}, "", "leave-one-out errors", 0},
		"and with exact":  {ridge.Options{Select: ridge.ByLOO, Method: "exact"}, "", "leave-one-out errors", 0},
	} {
		src := &pipedRows{Source: rows}
		r, err := ridge.Fit(t.Context(), src, c.opts)
		if c.method == "" {
			if e, ok := errors.AsType[*dataset.OnceError](err); !ok || !strings.Contains(e.What, c.why) || !errors.Is(err, ridge.ErrInput) || src.passes > 0 {
				t.Errorf("%s: %v after %d passes", name, err, src.passes)
			}
			continue
		}
		if short, ok := errors.AsType[*ridge.NotConvergedError](err); err != nil && (!ok || short.Status != c.status) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Method != c.method || !strings.Contains(r.Reason, c.why) || r.Status != c.status || src.passes != 1 || r.Passes != 1 {
			t.Errorf("%s: %s (%s), %v, %d passes, said to be %d", name, r.Method, r.Reason, r.Status, src.passes, r.Passes)
		}
		if c.opts.Bands != nil {
			continue
		}
		again, err := ridge.Fit(t.Context(), rows, ridge.Options{Gammas: []float64{r.Best().Gamma}, Intercept: c.opts.Intercept, Method: "exact"})
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
	_, err = ridge.Fit(t.Context(), src, ridge.Options{Gammas: []float64{1e-300}})
	if e, ok := errors.AsType[*dataset.OnceError](err); !ok || !strings.Contains(e.What, "QR, which solves") || src.passes != 1 {
		t.Errorf("singular: %v after %d passes", err, src.passes)
	}
}
