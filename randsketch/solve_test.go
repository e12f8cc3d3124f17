package randsketch_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

var _ ridge.Refresher = (*randsketch.Fresh)(nil)

// A problem is a ridge problem as a source, with dense references.
type problem struct {
	a, y *mat.Dense
	src  dataset.Source
	sum  *ridge.Summary
}

func newProblem(t rapid.TB, seed uint64, n, d, targets int) *problem {
	rng := rand.New(rand.NewPCG(seed, 7))
	p := &problem{a: withSpectrum(rng, n, profile("polynomial", d)), y: mat.NewDense(n, targets, nil)}
	p.y.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, p.y)
	p.src = must(dataset.FromDense(n, d, targets, p.a.RawMatrix().Data, p.y.RawMatrix().Data))(t)
	p.sum = must(
		ridge.Summarize(context.Background(), p.src, ridge.SummaryConfig{Size: 3, Store: fd.StoreRows}, nil),
	)(
		t,
	)
	return p
}

// solve returns (BᵀB + γI)⁻¹G for G d×t, transposed.
func solve(t rapid.TB, b mat.Matrix, gamma float64, g mat.Matrix) *mat.Dense {
	t.Helper()
	h := gram(mat.DenseCopyOf(b))
	d, _ := h.Dims()
	for i := range d {
		h.Set(i, i, h.At(i, i)+gamma)
	}
	var x mat.Dense
	if err := x.Solve(h, g); err != nil {
		t.Fatal(err)
	}
	return mat.DenseCopyOf(x.T())
}

// gradient is (Aᵀ(Ax − b) + γx), d×t, for x t×d.
func (p *problem) gradient(x *mat.Dense, gamma float64) *mat.Dense {
	var r, g, gx mat.Dense
	r.Mul(p.a, x.T())
	r.Sub(&r, p.y)
	g.Mul(p.a.T(), &r)
	gx.Scale(gamma, x.T())
	g.Add(&g, &gx)
	return &g
}

// sketched is SA for the S of a sketch's columns.
func (p *problem) sketched(t rapid.TB, cfg randsketch.Config) (sa, sy *mat.Dense) {
	n, d := p.a.Dims()
	cfg.Dim = d
	sketch := must(randsketch.New(cfg))(t)
	s := mat.NewDense(cfg.Rows, n, nil)
	for i := range n {
		s.SetCol(i, sketch.Column(int64(i)))
	}
	sa, sy = new(mat.Dense), new(mat.Dense)
	sa.Mul(s, p.a)
	sy.Mul(s, p.y)
	return sa, sy
}

// TestIterativeHessianSketch: Newton with a fresh sketch in each step is the
// recursion x ← x − (AᵀSᵀSA + γI)⁻¹(Aᵀ(Ax − b) + γx) with the S of seeds 9, 10, …,
// and with one sketch it is the same with one S. x⁽⁰⁾ = 0.
func TestIterativeHessianSketch(t *testing.T) {
	const n, d, targets, steps, gamma = 60, 7, 2, 5, 0.5
	p := newProblem(t, 1, n, d, targets)
	for _, kind := range []randsketch.Kind{randsketch.Gaussian, randsketch.SJLT} {
		for _, fresh := range []bool{true, false} {
			cfg := randsketch.Config{Kind: kind, Rows: 40, Seed: 9}
			want := make([]*mat.Dense, steps)
			x := mat.NewDense(targets, d, nil)
			for i := range want {
				step := cfg
				if fresh {
					step.Seed += uint64(i)
				}
				sa, _ := p.sketched(t, step)
				next := new(mat.Dense)
				next.Sub(x, solve(t, sa, gamma, p.gradient(x, gamma)))
				x, want[i] = next, next
			}

			cfg.Dim = d
			opts := ridge.SolveOptions{Method: ridge.Newton, MaxPasses: steps, Tol: 1e-15}
			if fresh {
				opts.Hessian = must(randsketch.NewFresh(p.src, cfg))(t)
			} else {
				s := must(randsketch.New(cfg))(t)
				check(t, s.AppendSource(context.Background(), p.src))
				opts.Hessian = must(s.Spectrum())(t)
			}
			seen := 0
			opts.Observe = func(it ridge.Iterate) {
				seen++
				got, ref := mat.NewVecDense(d, it.Coef), want[it.Pass-1].RowView(it.Target)
				var diff mat.VecDense
				diff.SubVec(got, ref)
				if r := mat.Norm(&diff, 2) / mat.Norm(ref, 2); !(r <= 1e-12) {
					t.Errorf("%v fresh %v: iterate %d of target %d is %g off", kind, fresh, it.Pass, it.Target, r)
				}
				if !it.Measured {
					t.Errorf("Newton measures every gradient")
				}
			}
			_, err := ridge.Solve(context.Background(), p.src, p.sum, gamma, opts)
			var short *ridge.NotConvergedError
			if !errors.As(err, &short) {
				t.Fatalf("five steps to 1e-15: %v", err)
			}
			if seen != steps*targets {
				t.Errorf("%d iterates observed, want %d", seen, steps*targets)
			}
		}
	}
}

// TestClassical: the one-shot solution of the sketched problem.
func TestClassical(t *testing.T) {
	const n, d, targets, gamma = 60, 7, 2, 0.5
	p := newProblem(t, 2, n, d, targets)
	cfg := randsketch.Config{Kind: randsketch.Gaussian, Rows: 20, Dim: d, Targets: targets, Seed: 4}
	s := must(randsketch.New(cfg))(t)
	check(t, s.AppendSource(context.Background(), p.src))
	sa, sy := p.sketched(t, cfg)
	var c mat.Dense
	c.Mul(sa.T(), sy)
	want, got := solve(t, sa, gamma, &c), must(s.Classical(gamma))(t)
	if r := distance(got, want); !(r <= 1e-12) {
		t.Errorf("%g off", r)
	}
	if _, err := s.Classical(0); err == nil {
		t.Error("gamma = 0 was taken")
	}
	cfg.Targets = 0
	if _, err := must(randsketch.New(cfg))(t).Classical(1); !errors.Is(err, randsketch.ErrShape) {
		t.Errorf("without targets: %v", err)
	}
}

// TestAnyHessian: CG reaches the solution with every Hessian, and
// certifies it by the summary's sketch.
func TestAnyHessian(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(5, 60).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "d")
		p := newProblem(t, rapid.Uint64().Draw(t, "seed"), n, d, 1)
		gamma := math.Pow(10, rapid.Float64Range(-4, 2).Draw(t, "log γ"))
		m := rapid.IntRange(1, 2*d).Draw(t, "m")
		var h ridge.Hessian
		switch rapid.SampledFrom([]string{"none", "nystrom", "gaussian", "sjlt"}).Draw(t, "hessian") {
		case "none":
			h = ridge.Identity{Largest: math.Pow(mat.Norm(p.a, 2), 2)}
		case "nystrom":
			a := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: m, Dim: d, Seed: 3}))(t)
			check(t, a.AppendSource(ctx, p.src))
			h = must(a.Spectrum())(t)
		case "gaussian":
			s := must(randsketch.New(randsketch.Config{Rows: m, Dim: d}))(t)
			check(t, s.AppendSource(ctx, p.src))
			h = must(s.Spectrum())(t)
		case "sjlt":
			s := must(randsketch.New(randsketch.Config{Kind: randsketch.SJLT, Rows: m, Dim: d}))(t)
			check(t, s.AppendSource(ctx, p.src))
			h = must(s.Spectrum())(t)
		}
		fit, err := ridge.Solve(ctx, p.src, p.sum, gamma, ridge.SolveOptions{Hessian: h, MaxPasses: 20000})
		if err != nil {
			t.Fatal(err)
		}
		var c mat.Dense
		c.Mul(p.a.T(), p.y)
		if r := distance(fit.Coef(), solve(t, p.a, gamma, &c)); !(r <= 1e-7) {
			t.Errorf("%g off", r)
		}
	})
}

// TestStart: from the solution one pass is enough to certify it.
func TestStart(t *testing.T) {
	ctx := context.Background()
	p := newProblem(t, 3, 50, 8, 2)
	fit := must(ridge.Solve(ctx, p.src, p.sum, 0.1, ridge.SolveOptions{Tol: 1e-11}))(t)
	for _, m := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin} {
		again := must(ridge.Solve(ctx, p.src, p.sum, 0.1, ridge.SolveOptions{Method: m, Start: fit.Coef()}))(t)
		if again.Iterations != 1 {
			t.Errorf("%v: %d iterations from the solution", m, again.Iterations)
		}
	}
}

// A broken Hessian multiplies by a factor that no Ĥ⁻¹ would.
type broken struct {
	ridge.Identity
	factor float64
	after  int // good steps before
}

func (h *broken) Solve(q int, gamma []float64, g, dst []float64) {
	h.Identity.Solve(q, gamma, g, dst)
	h.after--
	if h.after < 0 {
		for i := range dst {
			dst[i] *= h.factor
		}
	}
}

// TestBrokenHessian: what is not finite is an error at once, or ends the iteration
// with the last good iterate.
func TestBrokenHessian(t *testing.T) {
	p := newProblem(t, 6, 30, 4, 1)
	var c mat.Dense
	c.Mul(p.a.T(), p.y)
	exact := solve(t, p.a, 1, &c)
	for _, factor := range []float64{math.NaN(), math.Inf(1), 1e200, 1e307} {
		for _, m := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin} {
			for _, after := range []int{0, 2} {
				_, err := ridge.Solve(context.Background(), p.src, p.sum, 1, ridge.SolveOptions{
					Method: m, Hessian: &broken{ridge.Identity{Largest: 1e3}, factor, after}, MaxPasses: 20,
				})
				var short *ridge.NotConvergedError
				if err == nil && (m == ridge.CG || m == ridge.Galerkin) && factor > 0 && !math.IsInf(factor, 1) {
					continue // they don't mind a factor
				}
				if err == nil {
					t.Errorf("%v, factor %v after %d: no error", m, factor, after)
				} else if errors.As(err, &short) {
					f := short.Solutions[0]
					off := distance(f.Coef(), exact)
					if !(f.Targets[0].ErrorBound <= math.MaxFloat64) || !(off <= f.Targets[0].ErrorBound+1e-12) {
						t.Errorf("%v, factor %v after %d: error %v, bound %v", m, factor, after, off, f.Targets[0].ErrorBound)
					}
				}
			}
		}
	}
}

func TestSolveRefused(t *testing.T) {
	p := newProblem(t, 4, 20, 3, 1)
	fresh := must(randsketch.NewFresh(p.src, randsketch.Config{Rows: 4, Dim: 3}))(t)
	for name, opts := range map[string]ridge.SolveOptions{
		"a fresh Hessian for CG":      {Hessian: fresh},
		"another Hessian and PlainFD": {Hessian: ridge.Identity{}, PlainFD: true},
		"a start of another shape":    {Start: mat.NewDense(1, 4, nil)},
	} {
		if _, err := ridge.Solve(context.Background(), p.src, p.sum, 1, opts); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	_, err := randsketch.NewFresh(p.src, randsketch.Config{Rows: 4, Dim: 5})
	if !errors.Is(err, randsketch.ErrShape) {
		t.Errorf("five features of three: %v", err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = ridge.Solve(canceled, p.src, p.sum, 1, ridge.SolveOptions{Method: ridge.Newton, Hessian: fresh})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s := must(randsketch.New(randsketch.Config{Rows: 4, Dim: 3, Targets: 2}))(t)
	if err := s.AppendSource(context.Background(), p.src); !errors.Is(err, randsketch.ErrShape) {
		t.Errorf("two targets of one: %v", err)
	}
}

// TestFresh: each Refresh draws another S, and nothing is claimed before the first.
func TestFresh(t *testing.T) {
	p := newProblem(t, 5, 30, 4, 1)
	f := must(randsketch.NewFresh(p.src, randsketch.Config{Rows: 8, Dim: 4}))(t)
	if lo, hi := f.Range(1); lo > 0 || !math.IsInf(hi, 1) {
		t.Errorf("range [%g, %g] before any sketch", lo, hi)
	}
	check(t, f.Refresh(context.Background()))
	first := f.Spectrum
	check(t, f.Refresh(context.Background()))
	if first.Lambda[0] == f.Spectrum.Lambda[0] {
		t.Error("Refresh drew the same S")
	}
}
