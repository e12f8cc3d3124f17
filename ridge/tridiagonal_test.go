package ridge_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// manyGammas go from what round-off hides to what leaves no weights.
var manyGammas = []float64{1e-30, 1e-14, 1e-9, 1e-5, 1e-2, 1, 30, 1e4, 1e9, 1e20}

// TestTridiagonal: one reduction serves every γ, and each certificate holds, for rows of many kinds and shapes,
// weighted or sparse, with or without an intercept. It certifies the same tolerance as a Cholesky factorisation for
// each γ. Without a tolerance its bounds are not much larger.
func TestTridiagonal(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		r := rand.New(rand.NewPCG(6, 28))
		ran := map[ridge.Method]int{}
		for _, kind := range testkit.Kinds {
			for i, shape := range [][3]int{{40, 6, 2}, {5, 9, 1}, {3, 1, 1}, {1, 4, 1}, {300, 17, 1}} {
				s := testkit.Problem(r, kind, shape[0], shape[1], shape[2], 0.1)
				s.Sparse = i%2 == 1
				if r.IntN(2) == 0 {
					s.W = testkit.DrawWeights(r, shape[0])
				}
				opts := ridge.ExactOptions{Method: ridge.Tridiagonal, Intercept: r.IntN(2) == 0, Backend: be}
				name := fmt.Sprintf("%s %v, intercept %v, weights %v", kind, shape, opts.Intercept, s.W != nil)
				p := refbig.New(s.X, s.Y, s.W, opts.Intercept)
				for _, tol := range []float64{0, 1e-13} {
					opts.Tol = tol
					fits, err := ridge.SolveExact(t.Context(), s, manyGammas, opts)
					gammas := manyGammas
					if err != nil { // what Cholesky refuses
						gammas = manyGammas[2:]
						fits = testkit.MustExact(t, s, opts, gammas...)
					}
					alone := opts
					alone.Method = ridge.Cholesky
					each := testkit.MustExact(t, s, alone, gammas...)
					for i, f := range fits {
						ran[f.Method]++
						testkit.Certificate(t, p, f)
						if f.Gamma != gammas[i] {
							t.Errorf("%s: γ = %g for %g", name, f.Gamma, gammas[i])
						}
						compareCertificates(t, fmt.Sprintf("%s, γ = %g, tol = %g", name, f.Gamma, tol), f, each[i], tol)
					}
					if t.Failed() {
						t.Fatal(name)
					}
				}
			}
		}
		t.Logf("ran: %v", ran)
		if ran[ridge.Tridiagonal] < 300 || ran[ridge.Cholesky] < 20 {
			t.Errorf("ran: %v", ran)
		}
	})
}

// compareCertificates checks that got is certified to tol if want is. Without tol the bounds of got may be larger, up
// to 1e-8 or a thousand times the bounds of want.
func compareCertificates(t *testing.T, name string, got, want *ridge.Solution, tol float64) {
	t.Helper()
	for j, a := range got.Targets {
		g, w := a.RelativeErrorBound, want.Targets[j].RelativeErrorBound
		switch {
		case tol > 0 && w <= tol && !(g <= tol):
			t.Errorf("%s: certified to %g by %s, to %g by %s", name, g, got.Method, w, want.Method)
		case tol == 0 && !(g <= max(1e-8, 1000*w)):
			t.Errorf("%s: certified to %g by %s, to %g by %s in one pass", name, g, got.Method, w, want.Method)
		}
	}
	if g, w := got.EffectiveDimension, want.EffectiveDimension; !(g.Lo <= w.Hi*(1+1e-12)) || !(w.Lo <= g.Hi*(1+1e-12)) {
		t.Errorf("%s: effective dimension %v by %s, %v by %s", name, g, got.Method, w, want.Method)
	}
}

// TestTridiagonalUseful: of ordinary data T tells every γ what one pass can, and one pass more
// certifies all γ together.
func TestTridiagonalUseful(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 500, 40, 2, 1)
	gammas := []float64{1e-6, 1e-3, 1, 1e3, 1e6}
	for _, f := range testkit.MustExact(t, s, ridge.ExactOptions{Method: ridge.Tridiagonal}, gammas...) {
		df := f.EffectiveDimension
		if f.Method != ridge.Tridiagonal || f.Passes != 1 || f.Status != ridge.Factorized ||
			!(f.Targets[1].RelativeErrorBound <= 1e-10) ||
			!(df.Hi-df.Lo <= 1e-9*df.Hi) {
			t.Errorf(
				"γ = %g: %s, %d passes, %v, certified to %g, effective dimension %v",
				f.Gamma,
				f.Method,
				f.Passes,
				f.Status,
				f.Targets[1].RelativeErrorBound,
				df,
			)
		}
	}
	for _, f := range testkit.MustExact(t, s, ridge.ExactOptions{Method: ridge.Tridiagonal, Tol: 2e-16}, gammas...) {
		if f.Method != ridge.Tridiagonal || f.Passes != 2 || f.Status != ridge.Factorized ||
			!(f.Targets[1].RelativeErrorBound <= 2e-16) {
			t.Errorf(
				"γ = %g: %s, %d passes, %v, certified to %g",
				f.Gamma,
				f.Method,
				f.Passes,
				f.Status,
				f.Targets[1].RelativeErrorBound,
			)
		}
	}
}

// TestTridiagonalThreads: the same bits for any number of threads, at an order that is shared out.
func TestTridiagonalThreads(t *testing.T) {
	be := testkit.Must(engine.Default())(t)
	if !be.Accuracy().Reproducible {
		t.Skip("not promised")
	}
	s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "gaussian", 90, 800, 1, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var want []*ridge.Solution
	for _, threads := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(threads)
		got := testkit.MustExact(t, s, ridge.ExactOptions{Method: ridge.Tridiagonal, Tol: 1e-15}, 1, 100)
		if want == nil {
			want = got
		}
		for i, f := range got {
			if !slices.Equal(f.Targets[0].Coef, want[i].Targets[0].Coef) ||
				f.Targets[0].Certificate != want[i].Targets[0].Certificate ||
				f.EffectiveDimension != want[i].EffectiveDimension {
				t.Errorf("other bits on %d threads", threads)
			}
		}
	}
}

// TestTridiagonalGivesWay: if the rows are many, Cholesky replaces a tridiagonal form that misses the tolerance, and no
// pass follows.
func TestTridiagonalGivesWay(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(7, 10)), "gaussian", 200, 12, 2, 30)
	for i := range s.X {
		s.X[i][0] *= 1e4 // makes the error of the tridiagonal form large
	}
	p := refbig.New(s.X, s.Y, nil, true)
	gammas := []float64{10, 100, 1e3, 1e4}
	loose := testkit.Must(
		ridge.SolveExact(
			t.Context(),
			s,
			gammas,
			ridge.ExactOptions{Method: ridge.Tridiagonal, Intercept: true, Tol: 1},
		),
	)(
		t,
	)
	for i, f := range testkit.Must(ridge.SolveExact(
		t.Context(), s, gammas, ridge.ExactOptions{Method: ridge.Tridiagonal, Intercept: true, Tol: 1e-9},
	))(t) {
		if before := loose[i]; before.Method != ridge.Tridiagonal || !(before.Targets[0].RelativeErrorBound > 1e-9) {
			t.Errorf("γ = %g: %v is certified to %g", f.Gamma, before.Method, before.Targets[0].RelativeErrorBound)
		}
		if f.Method != ridge.Cholesky || f.Passes != 1 || !(f.Targets[0].RelativeErrorBound <= 1e-9) {
			t.Errorf(
				"γ = %g: %v in %d passes, certified to %g",
				f.Gamma,
				f.Method,
				f.Passes,
				f.Targets[0].RelativeErrorBound,
			)
		}
		testkit.Certificate(t, p, f)
	}
}
