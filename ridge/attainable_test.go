package ridge_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/ridge"
)

// TestAttainable: a tolerance that rounding keeps from nothing is reached, whatever the sketch, and
// whoever asks for less is told before a pass is made.
func TestAttainable(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 5))
	far := 0
	for i := range 12 {
		kind := []string{"gaussian", "decaying"}[i%2]
		src := problem(rng, kind, 200, 20, 1, 1)
		sum := summarize(t, src, ridge.SummaryConfig{Size: 3 + i})
		gamma := []float64{0.1, 1, 10, 1e4}[i%4]
		least := must(sum.Attainable(gamma))(t)
		if !(least >= 0x1p-53) {
			t.Fatalf("%v is less than rounding", least)
		}
		if least > 0x1p-49 {
			far++
		}
		for _, method := range []string{"cg", "galerkin"} {
			var told []float64
			passes := 0
			fit := func(tol float64) (*ridge.Result, error) {
				told, passes = nil, 0
				return ridge.FitSummary(t.Context(), src, sum, ridge.Options{
					Gammas: []float64{1e9, gamma}, Method: method, Tol: tol, MaxPasses: 2000,
					Observe: func(ridge.Iterate) { passes++ },
					Doubt: func(attainable float64) {
						if passes > 0 {
							t.Error("told after a pass")
						}
						told = append(told, attainable)
					},
				})
			}
			res, err := fit(1.01 * least)
			if err != nil || res.Attainable != least || told != nil {
				t.Errorf("%s %s, γ = %v: to %v: %v; attainable %v, told %v", kind, method, gamma, 1.01*least, err, res.Attainable, told)
			}
			if _, err := fit(0.99 * least); err != nil && !errors.Is(err, ridge.ErrRoundOff) && !errors.Is(err, ridge.ErrPassLimit) || len(told) != 1 || told[0] != least {
				t.Errorf("%s %s, γ = %v: to %v: %v; told %v", kind, method, gamma, 0.99*least, err, told)
			}
		}
	}
	if far < 4 {
		t.Errorf("%d sketches of which a certificate may overestimate an error by 16 or more", far)
	}
	src := problem(rng, "gaussian", 50, 5, 1, 1)
	for _, c := range []struct {
		opts  ridge.Options
		least float64
		told  int
	}{
		{ridge.Options{Method: "exact", Tol: 1e-16}, 0x1p-53, 1}, {ridge.Options{Method: "exact", Tol: 1e-15}, 0x1p-53, 0}, {ridge.Options{Method: "exact"}, 0x1p-53, 0}, {ridge.Options{Method: "one-shot", Tol: 1e-17}, 0, 0},
	} {
		told := 0
		c.opts.Gammas, c.opts.Doubt = []float64{1}, func(float64) { told++ }
		if res, _ := ridge.Fit(t.Context(), src, c.opts); res == nil || res.Attainable != c.least || told != c.told {
			t.Errorf("%s to %v: %+v, told %d times", c.opts.Method, c.opts.Tol, res, told)
		}
	}
	for tol, want := range map[float64]bool{1e-15: true, 1e-17: false} {
		plan := must(summarize(t, src, ridge.SummaryConfig{Size: 2}).Plan(ridge.PlanConfig{Tol: tol}))(t)
		if plan.Options[0].Reaches != want || (plan.Best >= 0) != want {
			t.Errorf("a plan for %v marks %d: %s", tol, plan.Best, plan.Reason)
		}
	}
	if _, err := summarize(t, src, ridge.SummaryConfig{Size: 2}).Attainable(-1); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("γ = −1: %v", err)
	}
}
