package ridge_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// turned is a table whose features are read as the rows of another.
func turned(t *testing.T, s table) dataset.Source {
	t.Helper()
	features := table{block: s.block, sparse: s.sparse}
	for j := range s.x[0] {
		var row []float64
		for i := range s.x {
			row = append(row, s.x[i][j])
		}
		features.x, features.y = append(features.x, row), append(features.y, nil)
	}
	targets, err := dataset.FromDense(len(s.y), len(s.y[0]), 0, flat(s.y), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := dataset.Transpose(context.Background(), features, 0)
	if err == nil {
		rows, err = dataset.Zip(rows, targets)
	}
	if err == nil && s.w != nil {
		var weights dataset.Source
		weights, err = dataset.FromDense(len(s.w), 1, 0, s.w, nil)
		if err == nil {
			rows, err = dataset.Weigh(rows, weights)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestDualColumns looks for a certificate that does not hold, of rows that are read by columns.
func TestDualColumns(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, intercept := range []bool{false, true} {
			r := rand.New(rand.NewPCG(45, 6))
			for _, kind := range append([]string{"few entries", "empty columns", "empty rows"}, kinds...) {
				for _, shape := range [][3]int{{6, 13, 2}, {8, 8, 1}, {1, 3, 1}} {
					change, base := wideKinds[kind], kind
					if change != nil {
						base = "gaussian"
					}
					s := problem(r, base, shape[0], shape[1], shape[2], 0.1)
					if change != nil {
						change(r, &s)
					}
					s.block, s.sparse = 5, r.IntN(2) == 0
					if r.IntN(2) == 0 {
						s.w = drawWeights(r, shape[0])
					}
					p := refbig.New(s.x, s.y, s.w, intercept)
					for _, gamma := range []float64{1e-6, 1, 1e5} {
						opts := ridge.ExactOptions{Method: ridge.Dual, Intercept: intercept, Backend: be, Tol: 1e-15}
						fits, err := ridge.SolveExact(context.Background(), turned(t, s), []float64{gamma}, opts)
						if _, singular := errors.AsType[*ridge.SingularError](err); singular {
							continue
						}
						if err != nil {
							t.Fatal(err)
						}
						ridgetest.Certificate(t, p, fits[0])
						if t.Failed() {
							t.Fatalf("%s %v γ=%g sparse=%v weights=%v", kind, shape, gamma, s.sparse, s.w)
						}
					}
				}
			}
		}
	})
}

// TestDualColumnsAreRows: what is read by columns is solved as by rows, certified as well, and the
// reads are counted: one for G, and one for each time that is measured.
func TestDualColumnsAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(46, 6))
	s := problem(r, "gaussian", 30, 77, 2, 0.1)
	for _, intercept := range []bool{false, true} {
		opts := ridge.ExactOptions{Method: ridge.Dual, Intercept: intercept, Tol: 1e-14}
		want, got := mustExact(t, s, opts, 0.3)[0], mustExact(t, turned(t, s), opts, 0.3)[0]
		ridgetest.Near(t, "by columns", want, got, 1e-13)
		if got.Method != ridge.Dual || got.Passes < 2 || got.Passes > 3 ||
			!(got.Targets[1].RelativeErrorBound <= 1e-14) {
			t.Errorf("%s in %d reads, certified to %.3g", got.Method, got.Passes, got.Targets[1].RelativeErrorBound)
		}
		// Dense rows that do not fit are read several times.
		s.block = 7
		opts.MaxBytes = 60_000
		got = mustExact(t, s, opts, 0.3)[0]
		if got.Passes < 4 || !(got.Targets[1].RelativeErrorBound <= 1e-14) {
			t.Errorf("in little memory: %d reads, certified to %.3g", got.Passes, got.Targets[1].RelativeErrorBound)
		}
		ridgetest.Near(t, "in little memory", want, got, 1e-13)
	}
	// A transposed source is rows as well.
	rows := table{x: s.x, y: s.y}
	sum := func(src dataset.Source) float64 {
		f, err := fdridge.Fit(
			context.Background(),
			src,
			fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Method: ridge.CG, Size: 8, Tol: 1e-9},
		)
		if err != nil {
			t.Fatal(err)
		}
		return f.Solutions[0].Targets[0].Coef[3]
	}
	if a, b := sum(rows), sum(turned(t, s)); !(math.Abs(a-b) <= 1e-8) {
		t.Errorf("cg by rows %g, by columns turned into rows %g", a, b)
	}
}

// TestDualTiny: certificates hold for features whose squares all underflow.
func TestDualTiny(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 6))
	for _, scale := range []float64{0x1p-538, 0x1p-545} {
		for _, intercept := range []bool{false, true} {
			for range 20 {
				s := problem(r, "gaussian", 4, 2, 1, 0.1)
				for i := range s.x {
					s.y[i][0] = r.NormFloat64()
					for j := range s.x[i] {
						s.x[i][j] *= scale
					}
				}
				p := refbig.New(s.x, s.y, nil, intercept)
				for name, src := range map[string]dataset.Source{"rows": s, "columns": turned(t, s)} {
					for _, gamma := range []float64{1e-9, 1, 1e12, 1e18} {
						ridgetest.Certificate(
							t,
							p,
							mustExact(t, src, ridge.ExactOptions{Method: ridge.Dual, Intercept: intercept}, gamma)[0],
						)
						if t.Failed() {
							t.Fatalf("%s of size %g at γ = %g", name, scale, gamma)
						}
					}
				}
			}
		}
	}
}

// TestDualColumnsMemory: of features that are read by columns no n·d numbers are kept.
func TestDualColumnsMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(48, 6))
	const n, d = 150, 40_000
	features, err := dataset.FromDense(d, n, 0, normals(r, n*d), nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := dataset.Transpose(context.Background(), features, 0)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := dataset.FromDense(n, 1, 0, normals(r, n), nil)
	if err == nil {
		src, err = dataset.Zip(src, targets)
	}
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := mustExact(t, src, ridge.ExactOptions{Method: ridge.Dual, Intercept: true, MaxBytes: 8 * n * d / 4}, 1)[0]
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 8*n*d/2 {
		t.Errorf("%d MiB were taken in all, n·d numbers are %d", taken>>20, 8*n*d>>20)
	}
	if !(f.Targets[0].RelativeErrorBound <= 1e-12) || f.Passes > 3 {
		t.Errorf("certified to %.3g in %d reads", f.Targets[0].RelativeErrorBound, f.Passes)
	}
}
