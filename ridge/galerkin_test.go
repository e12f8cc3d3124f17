package ridge_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// TestGalerkinPath: on a path, one subspace needs no more passes than CG, which has
// one for each γ, and all solutions are within their certificates.
func TestGalerkinPath(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		s := problem(rand.New(rand.NewPCG(3, 9)), "gaussian", 100, 30, 2, 1)
		sum := summarize(t, s, ridge.SummaryConfig{Size: 5, Intercept: true, Backend: be})
		gammas := sum.Grid(20)
		ref := refbig.New(s.x, s.y, nil, true)
		passes := map[ridge.Method]int{}
		for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin} {
			for _, f := range must(ridge.SolvePath(context.Background(), s, sum, gammas, ridge.SolveOptions{Method: m}))(t) {
				passes[m] = max(passes[m], f.Passes)
				ridgetest.Certificate(t, ref, f)
			}
		}
		if passes[ridge.Galerkin] > passes[ridge.CG] {
			t.Errorf("passes: %v", passes)
		}
	})
}

// TestGalerkinRestarts: a subspace too small for the solution is cut down, and the
// iteration goes on to the tolerance.
func TestGalerkinRestarts(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d = 40
		s := problem(rand.New(rand.NewPCG(4, 9)), "gaussian", 150, d, 1, 1)
		sum := summarize(t, s, ridge.SummaryConfig{Size: 2, Backend: be})
		f := must(ridge.Solve(context.Background(), s, sum, 1e-4*sum.Grid(1)[0], ridge.SolveOptions{Method: ridge.Galerkin}))(t)
		ridgetest.Certificate(t, refbig.New(s.x, s.y, nil, false), f)
		if room := 4 * (2 + 1); f.Iterations <= room {
			t.Errorf("%d passes: there was no restart", f.Iterations)
		}
	})
}

// TestGalerkinFull: a subspace that is the whole space solves at once, and what is
// left is measured and certified.
func TestGalerkinFull(t *testing.T) {
	s := problem(rand.New(rand.NewPCG(5, 9)), "gaussian", 50, 6, 1, 1)
	sum := summarize(t, s, ridge.SummaryConfig{Size: 6})
	f := must(ridge.Solve(context.Background(), s, sum, 0.1, ridge.SolveOptions{Method: ridge.Galerkin, Tol: 1e-12}))(t)
	ridgetest.Certificate(t, refbig.New(s.x, s.y, nil, false), f)
	if f.Iterations != 2 {
		t.Errorf("%d passes, one to multiply and one to measure were enough", f.Iterations)
	}
}
