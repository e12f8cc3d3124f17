package ridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// TestPerTarget: each target at its own γ is what it is alone at that γ, certificate
// included, whatever solved the path.
func TestPerTarget(t *testing.T) {
	const n, d, targets = 80, 12, 3
	r := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, n*d), make([]float64, n*targets)
	for i := range x {
		x[i] = r.NormFloat64() / float64(1+i%d)
	}
	for i := range y {
		y[i] = x[i/targets*d+i%targets] + float64(i%targets) + r.NormFloat64()
	}
	source := func(targets int, y []float64) dataset.Source { return must(dataset.FromDense(n, d, targets, x, y))(t) }
	summary := func(src dataset.Source) *ridge.Summary {
		return must(ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 5, Intercept: true}, nil))(t)
	}
	all := source(targets, y)
	gammas := []float64{20, 0.5, 20}
	solve := map[string]func(src dataset.Source, gammas []float64) ([]*ridge.Solution, error){
		"path": func(src dataset.Source, gammas []float64) ([]*ridge.Solution, error) {
			return summary(src).Path(gammas)
		},
		"cg": func(src dataset.Source, gammas []float64) ([]*ridge.Solution, error) {
			return ridge.SolvePath(t.Context(), src, summary(src), gammas, ridge.SolveOptions{Tol: 1e-11})
		},
		"exact": func(src dataset.Source, gammas []float64) ([]*ridge.Solution, error) {
			return ridge.SolveExact(t.Context(), src, gammas, ridge.ExactOptions{Intercept: true})
		},
	}
	for name, by := range solve {
		path := must(by(all, []float64{0.5, 3, 20}))(t)
		fits := must(ridge.PerTarget(path, gammas))(t)
		if len(fits) != targets {
			t.Fatalf("%s: %d fits", name, len(fits))
		}
		for j, f := range fits {
			own := make([]float64, n)
			for i := range own {
				own[i] = y[i*targets+j]
			}
			want := must(by(source(1, own), gammas[j:j+1]))(t)[0]
			if k, _ := f.Dims(); k != 1 || f.Gamma != gammas[j] {
				t.Fatalf("%s: target %d: %d targets at %v", name, j, k, f.Gamma)
			}
			near := func(what string, a, b, tol float64) {
				if !(math.Abs(a-b) <= tol*(1+math.Abs(b))) {
					t.Errorf("%s: target %d: %s is %v, alone %v", name, j, what, a, b)
				}
			}
			for i, v := range want.Targets[0].Coef {
				near("a weight", f.Targets[0].Coef[i], v, 1e-10)
			}
			near("the intercept", f.Targets[0].Intercept, want.Targets[0].Intercept, 1e-10)
			near("the sum of squares", f.Targets[0].ComputedTSS, want.Targets[0].ComputedTSS, 1e-11)
			c, w := f.Targets[0], want.Targets[0]
			near("the RSS", c.RSS.Mid(), w.RSS.Mid(), 1e-6)
			near("the objective", c.Objective.Mid(), w.Objective.Mid(), 1e-6)
			near("GCV", c.GCV.Mid(), w.GCV.Mid(), 1e-6)
			if name == "path" {
				near("the error bound", c.ErrorBound, w.ErrorBound, 1e-9)
				near("the relative error bound", c.RelativeErrorBound, w.RelativeErrorBound, 1e-9)
			}
		}
		for i := range fits[0].Targets[0].Coef {
			fits[0].Targets[0].Coef[i] = math.NaN()
		}
		if v := path[2].Targets[0].Coef[0]; v != v {
			t.Errorf("%s: the fit of one target shares its weights with that of all", name)
		}
	}
	fits := must(solve["exact"](all, []float64{0.5, 20}))(t)
	for name, gammas := range map[string][]float64{"another γ": {20, 0.5, 1}, "two": {20, 0.5}, "four": {20, 0.5, 20, 20}, "NaN": {20, 0.5, math.NaN()}} {
		if _, err := ridge.PerTarget(fits, gammas); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
