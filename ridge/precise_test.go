package ridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// preciseProblems are rows of every kind that a pass treats in its own way, with a γ at
// which a sketch of four rows is a fair approximation.
func preciseProblems() map[string]struct {
	testkit.Table
	intercept bool
	gamma     float64
} {
	out := map[string]struct {
		testkit.Table
		intercept bool
		gamma     float64
	}{}
	for i, kind := range []string{"gaussian", "offset", "decaying", "integers"} {
		for _, weighted := range []bool{false, true} {
			for _, sparse := range []bool{false, true} {
				rng := rand.New(rand.NewPCG(uint64(i), 17))
				s := testkit.Problem(rng, kind, 130, 6, 2, 1)
				s.Sparse = sparse
				for range s.X {
					if weighted {
						s.W = append(s.W, math.Exp2(float64(rng.IntN(30)-20)))
					}
				}
				for _, intercept := range []bool{false, true} {
					p := out[""]
					p.Table, p.intercept = s, intercept
					ref := refbig.New(s.X, s.Y, s.W, intercept)
					p.gamma = 0.3 * testkit.ScaleOf(ref)
					out[fmt.Sprintf("%s, weighted %v, sparse %v, intercept %v", kind, weighted, sparse, intercept)] = p
				}
			}
		}
	}
	return out
}

// TestPrecise: where a plain gradient certifies no more, one with twice the digits certifies
// 1e-14, and what is certified is near the truth.
func TestPrecise(t *testing.T) {
	var looseness []float64
	for name, p := range preciseProblems() {
		t.Run(name, func(t *testing.T) {
			ref := refbig.New(p.X, p.Y, p.W, p.intercept)
			want := testkit.Must(ref.Solve(p.gamma))(t)
			sum := testkit.Summarize(t, p, ridge.SummaryConfig{Size: 4, Intercept: p.intercept})
			for _, method := range testkit.Methods {
				f, err := ridge.Solve(t.Context(), p, sum, p.gamma, ridge.SolveOptions{Method: method, Tol: 1e-14})
				if err != nil {
					t.Fatalf("%v: %v", method, err)
				}
				testkit.Certificate(t, ref, f)
				for j, c := range f.Targets {
					looseness = append(looseness, c.ErrorBound/refbig.Distance(c.Coef, want.Coef[j]))
				}
			}
		})
	}
	slices.Sort(looseness)
	median, high := looseness[len(looseness)/2], looseness[len(looseness)*95/100]
	t.Logf("bound/error: median %.3g, 95th percentile %.3g", median, high)
	if !(median <= 10) || !(high <= 100) {
		t.Errorf("bound/error: median %.3g, 95th percentile %.3g", median, high)
	}
}

// TestPreciseLeast: asked for more than float64 holds, every method ends at weights that are
// x* but for their last rounding, and is certified to that, whatever Ĥ is worth.
func TestPreciseLeast(t *testing.T) {
	passes := 0
	for name, p := range preciseProblems() {
		ref := refbig.New(p.X, p.Y, p.W, p.intercept)
		sum := testkit.Summarize(t, p, ridge.SummaryConfig{Size: 4, Intercept: p.intercept})
		for _, gamma := range []float64{p.gamma, 1e-3 * p.gamma} {
			want := testkit.Must(ref.Solve(gamma))(t)
			for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin} {
				_, err := ridge.Solve(t.Context(), p, sum, gamma, ridge.SolveOptions{Method: method, Tol: 1e-18})
				short, ok := errors.AsType[*ridge.NotConvergedError](err)
				if !ok || short.Status != ridge.RoundOff {
					t.Fatalf("%s, %v: %v", name, method, err)
				}
				f := short.Solutions[0]
				testkit.Certificate(t, ref, f)
				passes = max(passes, f.Passes)
				for j, c := range f.Targets {
					off := refbig.Distance(c.Coef, want.Coef[j])
					if !(c.RelativeErrorBound <= 0x1p-53) || !(c.ErrorBound <= 1.25*off) {
						t.Errorf(
							"%s, %v, γ = %g: certified %.3g relative, %.3g of the error",
							name,
							method,
							gamma,
							c.RelativeErrorBound,
							c.ErrorBound/off,
						)
					}
				}
			}
		}
	}
	t.Logf("%d passes at most", passes)
}

// TestPreciseWorkers: what several workers add up keeps its digits.
func TestPreciseWorkers(t *testing.T) {
	for name, p := range preciseProblems() {
		for _, workers := range []int{1, 2, 3, 4, 7} {
			cfg := ridge.SummaryConfig{Size: 4, Intercept: p.intercept}
			shares, sum := testkit.Divide(t, rand.New(rand.NewPCG(5, uint64(workers))), p, int64(len(p.X)), workers, cfg)
			answers, _ := testkit.Together(t.Context(), shares, sum, []float64{p.gamma}, ridge.SolveOptions{Tol: 1e-14}, nil)
			for i, a := range answers {
				if a.Err != nil {
					t.Fatalf("%s, worker %d of %d: %v", name, i, workers, a.Err)
				}
			}
			testkit.Certificate(t, refbig.New(p.X, p.Y, p.W, p.intercept), answers[workers-1].Fits[0])
		}
	}
}

// TestLeastTol: the least tolerance is reached by every iteration, whatever the sketch is worth, and
// a plan counts on no smaller one.
func TestLeastTol(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 5))
	for i := range 8 {
		kind := []string{"gaussian", "decaying"}[i%2]
		src := testkit.Problem(rng, kind, 200, 20, 1, 1)
		sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 3 + i})
		for _, method := range testkit.Methods {
			gammas := []float64{1e9, []float64{0.1, 1, 10, 1e4}[i%4]}
			if method == ridge.Newton { // which needs many passes where η is far above γ
				gammas[1] = 1e3
			}
			_, err := ridge.SolvePath(
				t.Context(),
				src,
				sum,
				gammas,
				ridge.SolveOptions{Method: method, Tol: ridge.LeastTol},
			)
			if err != nil {
				t.Errorf("%s, %v, m = %d, γ = %v: %v", kind, method, 3+i, gammas, err)
			}
		}
	}
	sum := testkit.Summarize(t, testkit.Problem(rng, "gaussian", 50, 5, 1, 1), ridge.SummaryConfig{Size: 2})
	for tol, want := range map[float64]bool{1e-15: true, 1e-17: false} {
		plan := testkit.Must(plan.New(sum, plan.Config{Tol: tol}))(t)
		if plan.Options[0].Reaches != want || (plan.Best >= 0) != want {
			t.Errorf("a plan for %v marks %d", tol, plan.Best)
		}
	}
}
