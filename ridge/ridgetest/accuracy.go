package ridgetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// A refProblem has exact solutions, computed in 512-bit arithmetic.
type refProblem struct {
	problem
	name              string
	intercept         bool
	ref               *refbig.Problem
	least, most, mean float64                      // smallest, largest and mean eigenvalue of AᵀA
	solved            map[float64]*refbig.Solution // the solution for each γ
}

// solution computes the exact solution at γ once.
func (k refProblem) solution(t *testing.T, gamma float64) *refbig.Solution {
	t.Helper()
	if s := k.solved[gamma]; s != nil {
		return s
	}
	s, err := k.ref.Solve(gamma)
	if err != nil {
		t.Fatalf("%s, γ = %g: %v", k.name, gamma, err)
	}
	k.solved[gamma] = s
	return s
}

// references returns the problems of the accuracy tests.
var references = sync.OnceValue(func() (out []refProblem) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, kind := range kinds {
		for i, shape := range [][3]int{{20, 5, 1}, {90, 8, 2}, {7, 12, 1}, {24, 16, 3}, {3, 1, 1}, {50, 1, 1}, {1, 4, 1}} {
			p := draw(r, kind, shape[0], shape[1], shape[2])
			// Sparse rows are not centred. So rows far from zero would lose digits if they were sparse.
			p.sparse = i%2 == 1 && kind != "offset"
			for _, intercept := range []bool{false, true} {
				k := refProblem{
					problem:   p,
					name:      fmt.Sprintf("%s, %v, intercept %v", kind, p, intercept),
					intercept: intercept,
					solved:    make(map[float64]*refbig.Solution),
				}
				k.ref = refbig.New(rows(p.x), rows(p.y), nil, intercept)
				k.least, k.most, k.mean = p.eigenvalues(intercept)
				if k.most > 0 { // a single row minus its mean is zero; then there is no scale for γ
					out = append(out, k)
				}
			}
		}
	}
	return out
})

func rows(m *mat.Dense) [][]float64 {
	n, _ := m.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = m.RawRowView(i)
	}
	return out
}

// gammas returns the penalties γ to test. They are multiples of mean, the mean eigenvalue of AᵀA.
func (s Solver) gammas(mean float64) []float64 {
	if s.Tol == 0 {
		return []float64{1e-6 * mean, 1e-3 * mean, mean, 1e3 * mean}
	}
	return []float64{0.1 * mean, mean, 100 * mean}
}

// accuracy compares fits x with the reference solutions x*. For an iterative solver, the relative error of the
// coefficients must be at most Tol. A direct solver must satisfy two bounds, on the residual of the normal
// equations and on the error:
//
//	‖Hx − c‖ ≤ ((‖A‖² + γ)‖x‖ + ‖c‖)·eps·max(n,d),  ‖x − x*‖ ≤ 10·eps·κ(H)·‖x*‖.
//
// Here A has n rows and d features, γ is the penalty, and H = AᵀA + γI has the condition number κ(H). For a target
// b, c = Aᵀb.
func (s Solver) accuracy(t *testing.T) {
	var backward, forward, bound, residual float64
	for _, k := range references() {
		gammas := s.gammas(k.mean)
		fits := s.solve(t, k.problem, gammas, k.intercept)
		for i, f := range fits {
			gamma := gammas[i]
			if f.Gamma != gamma {
				t.Fatalf("%s: fit %d is for γ = %g, asked for %g", k.name, i, f.Gamma, gamma)
			}
			want := k.solution(t, gamma)
			bound = math.Max(bound, testkit.Compare(t, k.ref, want, f))
			kappa := (k.most + gamma) / (k.least + gamma)
			n, d, _ := k.dims()
			for j, o := range f.Targets {
				x := o.Coef
				xn := refbig.Norm(want.Coef[j])
				if xn <= 1e-12*math.Sqrt(k.most)*norm(mat.Col(nil, j, k.y))/(k.most+gamma) {
					continue // AᵀY is zero up to round-off
				}
				e := refbig.Distance(x, want.Coef[j]) / xn / s.tol(kappa)
				forward = math.Max(forward, e)
				if !(e <= 1) {
					t.Errorf("%s, γ = %g: the relative error is %.3g of what it may be", k.name, gamma, e)
				}
				if s.Tol == 0 {
					g := refbig.Norm(k.ref.Gradient(gamma, j, x)) /
						(((k.most+gamma)*norm(x) + refbig.Norm(k.ref.C[j])) * eps * float64(max(n, d)))
					backward = math.Max(backward, g)
					if !(g <= 1) {
						t.Errorf(
							"%s, γ = %g: the residual of the normal equations is %.3g of what it may be",
							k.name,
							gamma,
							g,
						)
					}
				}
				residual = math.Max(residual, s.residual(t, k, f, j))
				if tss, _ := k.ref.YY[j].Float64(); !(math.Abs(o.ComputedTSS-tss) <= 1e-13*tss+1e-300) {
					t.Errorf("%s: TSS %.17g, want %.17g", k.name, o.ComputedTSS, tss)
				}
			}
			if t.Failed() {
				t.Fatalf("%s, γ = %g", k.name, gamma)
			}
		}
	}
	t.Logf(
		"worst relative error %.3g of %s, backward error %.3g of its bar, error %.3g of the certified, residual off by %.3g",
		forward,
		s.bar(),
		backward,
		bound,
		residual,
	)
}

// residual returns the relative error of the residual sum of squares (RSS) that f reports for target j. It divides
// by the RSS, or by 10⁻⁴ times the total sum of squares if this is larger.
func (s Solver) residual(t *testing.T, k refProblem, f *ridge.Solution, j int) float64 {
	t.Helper()
	exact, _ := k.ref.RSS(j, f.Targets[j].Coef).Float64()
	reported := f.Targets[j].RSS.Mid()
	off := math.Abs(reported-exact) / math.Max(exact, 1e-4*f.Targets[j].ComputedTSS)
	if !(off <= 1e-10) {
		t.Errorf("%s, γ = %g: the squared residual is reported as %.17g and is %.17g", k.name, f.Gamma, reported, exact)
	}
	return off
}

// tol returns the allowed error at condition number kappa.
func (s Solver) tol(kappa float64) float64 {
	if s.Tol == 0 {
		return 10 * eps * kappa
	}
	return s.Tol
}

func (s Solver) bar() string {
	if s.Tol == 0 {
		return "10·eps·κ"
	}
	return fmt.Sprint(s.Tol)
}

func (s Solver) solve(t *testing.T, p problem, gammas []float64, intercept bool) []*ridge.Solution {
	t.Helper()
	src, err := p.source()
	if err != nil {
		t.Fatal(err)
	}
	fits, err := s.Solve(src, gammas, intercept)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	if len(fits) != len(gammas) {
		t.Fatalf("%v: %d fits for %d γ", p, len(fits), len(gammas))
	}
	for i, f := range fits {
		if missing := p.missingField(f); missing != "" {
			t.Fatalf("%v: fit %d has no %s of the shape that the problem asks for", p, i, missing)
		}
	}
	return fits
}

// missingField returns the name of a required field that f lacks. If f has all fields, it returns "".
func (p problem) missingField(f *ridge.Solution) string {
	_, d, targets := p.dims()
	if f == nil || len(f.Targets) != targets {
		return "Targets"
	}
	for _, o := range f.Targets {
		switch {
		case len(o.Coef) != d:
			return "Coef"
		case math.IsNaN(o.Intercept):
			return "Intercept"
		case math.IsNaN(o.ComputedTSS):
			return "ComputedTSS"
		}
	}
	return ""
}
