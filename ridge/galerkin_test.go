package ridge_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// TestGalerkinPath: on a path, one subspace needs no more passes than CG, which has
// one for each γ, and all solutions are within their certificates.
func TestGalerkinPath(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		s := testkit.Problem(rand.New(rand.NewPCG(3, 9)), "gaussian", 100, 30, 2, 1)
		sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 5, Intercept: true, Backend: be, Store: fd.StoreRows})
		gammas := choose.Grid(sum, 20)
		ref := refbig.New(s.X, s.Y, nil, true)
		passes := map[ridge.Method]int{}
		for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin} {
			for _, f := range testkit.Must(
				ridge.SolvePath(context.Background(), s, sum, gammas, ridge.SolveOptions{Method: m}),
			)(t) {
				passes[m] = max(passes[m], f.Passes)
				testkit.Certificate(t, ref, f)
			}
		}
		if passes[ridge.Galerkin] > passes[ridge.CG] {
			t.Errorf("passes: %v", passes)
		}
	})
}

// TestGalerkinBlocks: where eigenvalues below γ fall fast, a pass of as many vectors as
// one reading is worth stands for several of CG, for one γ too.
func TestGalerkinBlocks(t *testing.T) {
	const d = 100
	r := rand.New(rand.NewPCG(8, 9))
	s := testkit.Table{}
	for range 2 * d {
		x := make([]float64, d)
		for j := range x {
			x[j] = r.NormFloat64() * math.Exp(-float64(j*j)/(30*30))
		}
		s.X, s.Y = append(s.X, x), append(s.Y, []float64{r.NormFloat64()})
	}
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 20, Store: fd.StoreRows})
	ref := refbig.New(s.X, s.Y, nil, false)
	passes := map[ridge.Method]int{}
	for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin} {
		f := testkit.Must(
			ridge.Solve(context.Background(), s, sum, 1e-2*choose.Grid(sum, 1)[0], ridge.SolveOptions{Method: m}),
		)(
			t,
		)
		passes[m] = f.Passes
		testkit.Certificate(t, ref, f)
	}
	if 4*passes[ridge.Galerkin] > passes[ridge.CG] {
		t.Errorf("passes: %v", passes)
	}
}

// TestGalerkinNoRoom: where a subspace is too small for the solution, CG goes on to the
// tolerance.
func TestGalerkinNoRoom(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d = 40
		s := testkit.Problem(rand.New(rand.NewPCG(4, 9)), "gaussian", 150, d, 1, 1)
		sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 2, Backend: be, Store: fd.StoreRows})
		f := testkit.Must(
			ridge.Solve(
				context.Background(),
				s,
				sum,
				1e-4*choose.Grid(sum, 1)[0],
				ridge.SolveOptions{Method: ridge.Galerkin},
			),
		)(
			t,
		)
		testkit.Certificate(t, refbig.New(s.X, s.Y, nil, false), f)
		if room := 6 * (2 + 1); f.Iterations <= room {
			t.Errorf("%d passes: there was room", f.Iterations)
		}
	})
}

// diagonal is Ĥ = diag(h) + γI.
type diagonal []float64

func (h diagonal) Solve(q int, gamma []float64, g, dst []float64) {
	for i := range q * len(h) {
		dst[i] = g[i] / (h[i%len(h)] + gamma[i/len(h)])
	}
}

func (h diagonal) Range(float64) (lo, hi float64) { return 0, math.Inf(1) }

// TestGalerkinWide: with fewer rows than features, galerkin ends after as many vectors as rows. It must not end so
// early if the start lies outside the row space, or if the Hessian leads out of the row space.
func TestGalerkinWide(t *testing.T) {
	const n, d = 5, 12
	s := testkit.Problem(rand.New(rand.NewPCG(7, 9)), "gaussian", n, d, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 3, Store: fd.StoreRows})
	h, start := make(diagonal, d), mat.NewDense(1, d, nil)
	for j := range d {
		h[j] = float64(1 + j*j)
		start.Set(0, j, 1)
	}
	ref := refbig.New(s.X, s.Y, nil, false)
	for _, opts := range []ridge.SolveOptions{
		{}, {Start: start}, {Hessian: h}, {Start: start, Hessian: h}, {Start: start, Hessian: ridge.Identity{}},
	} {
		opts.Method = ridge.Galerkin
		for _, gamma := range []float64{1, 100, 1e4} {
			testkit.Certificate(t, ref, testkit.Must(ridge.Solve(context.Background(), s, sum, gamma, opts))(t))
		}
	}
}

// TestGalerkinRank: where round-off takes one of as many vectors as the rank, conjugate
// gradients go on to the tolerance.
func TestGalerkinRank(t *testing.T) {
	for _, seed := range []uint64{51, 509, 562} {
		r := rand.New(rand.NewPCG(seed, 4))
		d := 4 + r.IntN(17)
		n := 3 + r.IntN(d-2)
		var s testkit.Table
		for range n {
			x, y := make([]float64, d), make([]float64, 4)
			for j := range x {
				x[j] = float64(r.IntN(3) - 1)
			}
			for j := range y {
				y[j] = r.NormFloat64()
			}
			s.X, s.Y = append(s.X, x), append(s.Y, y)
		}
		sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 1 + n/3, Intercept: true, Store: fd.StoreRows})
		for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin} {
			_, err := ridge.SolvePath(
				context.Background(),
				s,
				sum,
				[]float64{1e7, 1e-4, 1, 1e-3, 100},
				ridge.SolveOptions{Method: m, MaxPasses: 200},
			)
			if err != nil {
				t.Errorf("seed %d, %v: %v", seed, m, err)
			}
		}
	}
}

// TestGalerkinFull: a subspace that is the whole space solves at once, and what is
// left is measured and certified.
func TestGalerkinFull(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(5, 9)), "gaussian", 50, 6, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 6, Store: fd.StoreRows})
	f := testkit.Must(
		ridge.Solve(context.Background(), s, sum, 0.1, ridge.SolveOptions{Method: ridge.Galerkin, Tol: 1e-12}),
	)(t)
	testkit.Certificate(t, refbig.New(s.X, s.Y, nil, false), f)
	if f.Iterations != 2 {
		t.Errorf("%d passes, one to multiply and one to measure were enough", f.Iterations)
	}
}

// TestGalerkinTiny: in a subspace that is the whole space and a γ that is next to
// nothing, the solution is refined from the measured gradient, as CG does.
func TestGalerkinTiny(t *testing.T) {
	s := testkit.Table{X: [][]float64{{3.1, 0.7}}, Y: [][]float64{{1.3}}}
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 2, Store: fd.StoreRows})
	for _, gamma := range []float64{1e-8, 1e-9, 1e-10} {
		for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin} {
			f := testkit.Must(ridge.Solve(context.Background(), s, sum, gamma, ridge.SolveOptions{Method: m}))(t)
			testkit.Certificate(t, refbig.New(s.X, s.Y, nil, false), f)
		}
	}
}

// TestGalerkinOnePass: one pass can but measure, and what it measures is the one-shot
// solution.
func TestGalerkinOnePass(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(6, 9)), "gaussian", 50, 6, 1, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 6, Store: fd.StoreRows})
	f := testkit.Must(
		ridge.Solve(context.Background(), s, sum, 1, ridge.SolveOptions{Method: ridge.Galerkin, MaxPasses: 1}),
	)(t)
	ridgetest.Near(t, "one pass", testkit.Must(sum.Fit(1))(t), f, 1e-9)
}

// TestGalerkinOrthogonal: rows of as many directions as the sketch has, so that
// gradients are round-off outside the subspace, leave it orthonormal enough for every γ
// that CG certifies.
func TestGalerkinOrthogonal(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(360+seed, 1))
		d := 4 + r.IntN(40)
		n := 2 + r.IntN(d-1)
		var s testkit.Table
		for i := range n {
			x := make([]float64, d)
			x[i%d] = float64(1 + i%3)
			s.X, s.Y = append(s.X, x), append(s.Y, []float64{r.NormFloat64(), r.NormFloat64()})
		}
		sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: n, Intercept: true, Store: fd.StoreRows})
		gammas := []float64{1e-5, 2e-5, 1e-4, 1e-3, 0.01, 0.1, 0.3, 1}
		for _, m := range []ridge.Method{ridge.CG, ridge.Galerkin} {
			_, err := ridge.SolvePath(
				context.Background(),
				s,
				sum,
				gammas,
				ridge.SolveOptions{Method: m, MaxPasses: 100},
			)
			if err != nil {
				t.Errorf("seed %d, %v: %v", seed, m, err)
			}
		}
	}
}
