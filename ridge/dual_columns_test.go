package ridge_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestDualColumns looks for a certificate that does not hold, of rows that are read by columns.
func TestDualColumns(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, intercept := range []bool{false, true} {
			r := rand.New(rand.NewPCG(45, 6))
			for _, kind := range append([]string{"few entries", "empty columns", "empty rows"}, testkit.Kinds...) {
				for _, shape := range [][3]int{{6, 13, 2}, {8, 8, 1}, {1, 3, 1}} {
					change, base := wideKinds[kind], kind
					if change != nil {
						base = "gaussian"
					}
					s := testkit.Problem(r, base, shape[0], shape[1], shape[2], 0.1)
					if change != nil {
						change(r, &s)
					}
					s.Block, s.Sparse = 5, r.IntN(2) == 0
					if r.IntN(2) == 0 {
						s.W = testkit.DrawWeights(r, shape[0])
					}
					p := refbig.New(s.X, s.Y, s.W, intercept)
					for _, gamma := range []float64{1e-6, 1, 1e5} {
						opts := ridge.ExactOptions{Method: ridge.Dual, Intercept: intercept, Backend: be, Tol: 1e-15}
						fits, err := ridge.SolveExact(context.Background(), testkit.Turned(t, s), []float64{gamma}, opts)
						if _, singular := errors.AsType[*ridge.SingularError](err); singular {
							continue
						}
						if err != nil {
							t.Fatal(err)
						}
						testkit.Certificate(t, p, fits[0])
						if t.Failed() {
							t.Fatalf("%s %v γ=%g sparse=%v weights=%v", kind, shape, gamma, s.Sparse, s.W)
						}
					}
				}
			}
		}
	})
}

// TestDualTiny: certificates hold for features whose squares all underflow.
func TestDualTiny(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 6))
	for _, scale := range []float64{0x1p-538, 0x1p-545} {
		for _, intercept := range []bool{false, true} {
			for range 20 {
				s := testkit.Problem(r, "gaussian", 4, 2, 1, 0.1)
				for i := range s.X {
					s.Y[i][0] = r.NormFloat64()
					for j := range s.X[i] {
						s.X[i][j] *= scale
					}
				}
				p := refbig.New(s.X, s.Y, nil, intercept)
				for name, src := range map[string]dataset.Source{"rows": s, "columns": testkit.Turned(t, s)} {
					for _, gamma := range []float64{1e-9, 1, 1e12, 1e18} {
						testkit.Certificate(
							t,
							p,
							testkit.MustExact(t, src, ridge.ExactOptions{Method: ridge.Dual, Intercept: intercept}, gamma)[0],
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
	features, err := dataset.FromDense(d, n, 0, testkit.Normals(r, n*d), nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err := dataset.Transpose(context.Background(), features, 0)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := dataset.FromDense(n, 1, 0, testkit.Normals(r, n), nil)
	if err == nil {
		src, err = dataset.Zip(src, targets)
	}
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := testkit.MustExact(t, src, ridge.ExactOptions{Method: ridge.Dual, Intercept: true, MaxBytes: 8 * n * d / 4}, 1)[0]
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 8*n*d/2 {
		t.Errorf("%d MiB were taken in all, n·d numbers are %d", taken>>20, 8*n*d>>20)
	}
	if !(f.Targets[0].RelativeErrorBound <= 1e-12) || f.Passes > 3 {
		t.Errorf("certified to %.3g in %d reads", f.Targets[0].RelativeErrorBound, f.Passes)
	}
}
