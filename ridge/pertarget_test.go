package ridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestEachTarget: each target has its own γ. Its solution is within its bound of the exact solution, from a lossless
// summary, from a sketch and after passes. The brackets contain the exact values, and JSON keeps the γ.
func TestEachTarget(t *testing.T) {
	const n, d, targets = 60, 9, 4
	r := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float64, n*d), make([]float64, n*targets)
	for i := range x {
		x[i] = r.NormFloat64() / float64(1+i%d)
	}
	for i := range y {
		if i%targets < targets-1 { // else zero
			y[i] = x[i/targets*d+i%targets] + float64(i%targets) + r.NormFloat64()
		}
	}
	src := testkit.Must(dataset.FromDense(n, d, targets, x, y))(t)
	split := func(v []float64, k int) (out [][]float64) {
		for ; len(v) > 0; v = v[k:] {
			out = append(out, v[:k])
		}
		return out
	}
	exact := refbig.New(split(x, d), split(y, targets), nil, true)
	gammas := []float64{20, 1e-4, 20, 3}
	for name, size := range map[string]int{"AᵀA": d, "sketch": 3} {
		sum := testkit.Must(
			ridge.Summarize(
				t.Context(),
				src,
				ridge.SummaryConfig{
					Size:       size,
					ShrinkRows: 1,
					Store:      map[string]fd.Storage{"sketch": fd.StoreRows}[name],
					Intercept:  true,
				},
				nil,
			),
		)(
			t,
		)
		once := testkit.Must(sum.FitEach(gammas))(t)
		fits := map[string]*ridge.Solution{"one pass": once}
		for _, by := range []ridge.Method{ridge.CG, ridge.Galerkin} {
			s := testkit.Must(ridge.SolveEach(t.Context(), src, sum, gammas, ridge.SolveOptions{Method: by, Tol: 1e-10}))(t)
			if name == "AᵀA" && s.Passes != 1 {
				t.Errorf("%s: %d passes from AᵀA", by, s.Passes)
			}
			worst := s.WorstError()
			if !(worst <= 1e-10) && s.Status != ridge.ZeroSolution || s.Status.Err() != nil || s.Method != by {
				t.Errorf("%s, %s: the bound is %v, %v by %v", name, by, worst, s.Status, s.Method)
			}
			fits[by.String()] = s
		}
		for by, s := range fits {
			if s.Gamma != 1e-4 {
				t.Errorf("%s, %s: the smallest γ is %v", name, by, s.Gamma)
			}
			for j, g := range gammas {
				want, o := testkit.Must(exact.Solve(g))(t), s.Targets[j]
				inside := func(what string, v ridge.Interval, w float64) {
					if !(v.Lo <= w*(1+1e-15) && v.Hi >= w*(1-1e-15)) {
						t.Errorf("%s, %s, target %d: %s is %v, not in %v", name, by, j, what, w, v)
					}
				}
				away := refbig.Distance(o.Coef, want.Coef[j])
				if !(away <= o.ErrorBound*(1+1e-15)) || s.GammaOf(j) != g {
					t.Errorf(
						"%s, %s, target %d at %v: the error is %v, the bound %v",
						name,
						by,
						j,
						s.GammaOf(j),
						away,
						o.ErrorBound,
					)
				}
				gcv, _ := want.GCV[j].Float64()
				objective, _ := want.Objective[j].Float64()
				df, _ := want.EffectiveDimension.Float64()
				inside("GCV", o.GCV, gcv)
				inside("the objective", o.Objective, objective)
				inside("the effective dimension", s.EffectiveDimension, df)
			}
			var again ridge.Solution
			err := again.UnmarshalJSON(testkit.Must(s.MarshalJSON())(t))
			if err != nil || again.GammaOf(1) != gammas[1] || again.GammaOf(0) != gammas[0] {
				t.Errorf("%s, %s: JSON: %v, %v", name, by, again.Gammas, err)
			}
		}
		for name, gammas := range map[string][]float64{"two": {20, 0.5}, "five": {20, 0.5, 20, 20, 1}, "none": nil} {
			_, once := sum.FitEach(gammas)
			_, passes := ridge.SolveEach(t.Context(), src, sum, gammas, ridge.SolveOptions{})
			if !errors.Is(once, ridge.ErrShape) || !errors.Is(passes, ridge.ErrShape) {
				t.Errorf("%s: %v, %v", name, once, passes)
			}
		}
		for _, g := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			var bad *ridge.GammaError
			if _, err := sum.FitEach([]float64{1, g, 1, 1}); !errors.As(err, &bad) {
				t.Errorf("γ = %v: %v", g, err)
			}
		}
	}
}

// TestEachTargetPredicted: the intervals of targets with a γ each are the intervals of each target at its γ, and
// narrow by the fit.
func TestEachTargetPredicted(t *testing.T) {
	const n, d = 50, 6
	r := rand.New(rand.NewPCG(8, 9))
	x, y := make([]float64, n*d), make([]float64, 2*n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range y {
		y[i] = x[i/2*d+i%2] + r.NormFloat64()
	}
	src := testkit.Must(dataset.FromDense(n, d, 2, x, y))(t)
	sum := testkit.Must(
		ridge.Summarize(
			t.Context(),
			src,
			ridge.SummaryConfig{Size: 3, ShrinkRows: 1, Store: fd.StoreRows, Intercept: true},
			nil,
		),
	)(
		t,
	)
	gammas, rows := []float64{0.5, 40}, dataset.Block{N: 5, X: x[:5*d]}
	p := testkit.Must(sum.Predictor(gammas...))(t)
	both := make([]ridge.Interval, 10)
	if err := p.Predict(both, rows); err != nil {
		t.Fatal(err)
	}
	for j, g := range gammas {
		one := make([]ridge.Interval, 10)
		if err := testkit.Must(sum.Predictor(g))(t).Predict(one, rows); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			a, b := both[2*i+j], one[2*i+j]
			if size := 1e-12 * (1 + math.Abs(b.Hi)); !(math.Abs(a.Lo-b.Lo) <= size && math.Abs(a.Hi-b.Hi) <= size) {
				t.Errorf("row %d, target %d: %v, alone %v", i, j, a, b)
			}
		}
	}
	fit := testkit.Must(ridge.SolveEach(t.Context(), src, sum, gammas, ridge.SolveOptions{}))(t)
	if err := p.Narrow(fit); err != nil {
		t.Fatal(err)
	}
	if err := p.Predict(both, rows); err != nil {
		t.Fatal(err)
	}
	for i, v := range both {
		yhat := make([]float64, 2)
		err := fit.PredictRow(yhat, rows.X[i/2*d:i/2*d+d])
		if err != nil || !(v.Lo <= yhat[i%2] && yhat[i%2] <= v.Hi && v.Hi-v.Lo <= 1e-6) {
			t.Errorf("%v is not close around %v: %v", v, yhat[i%2], err)
		}
	}
	if err := testkit.Must(sum.Predictor(40, 0.5))(t).Narrow(fit); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("a fit at other γ: %v", err)
	}
	if _, err := sum.Predictor(1, 2, 3); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("three γ: %v", err)
	}
}
