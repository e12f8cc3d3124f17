package ridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestScoresWithoutCoefficients: brackets of many targets, whose coefficients are not formed, contain the values of the
// same targets in a fit of few targets, which forms them.
func TestScoresWithoutCoefficients(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	gammas := []float64{1e-6, 1, 1e3, 1e9}
	for k, kind := range []string{"gaussian", "offset", "dependent"} {
		r := rand.New(rand.NewPCG(36, uint64(k)))
		s := problem(r, kind, 7, 1100, 960, 2)
		s.sparse = k == 0
		if k%2 == 0 {
			s.w = []float64{1, 2, 0.5, 0, 3, 1e-3, 4}
		}
		for i := range s.y {
			s.y[i][1] = 0.1             // constant
			s.y[i][2] = 1e6 + s.y[i][2] // far from zero
		}
		if k > 0 {
			gammas = []float64{1, 1e3, 1e9} // at 1e-6, coefficients are formed, which takes a second
		}
		for _, intercept := range []bool{false, true}[k%2:] { // an offset requires an intercept
			opts := ridge.ExactOptions{Method: ridge.Dual, Intercept: intercept, LeaveOneOut: true}
			whole, err := ridge.Factorize(ctx, s, nil, opts)
			if err != nil {
				t.Fatal(err)
			}
			few, err := dataset.Targets(s, 0, 4)
			if err != nil {
				t.Fatal(err)
			}
			part, err := ridge.Factorize(ctx, few, nil, opts)
			if err != nil {
				t.Fatal(err)
			}
			fits, errors, err := whole.LeaveOneOut(ctx, nil, gammas, ridge.LeaveOneOutOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want, left, err := part.LeaveOneOut(ctx, nil, gammas, ridge.LeaveOneOutOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range fits {
				formed := f.Targets[0].Coef != nil
				if gammas[i] > 1e-6 && formed || len(f.Targets) != 960 || len(errors.Bounds[i]) != 960 {
					t.Errorf("%s, γ = %g: %d targets, coefficients formed %v", kind, gammas[i], len(f.Targets), formed)
				}
				for j, w := range want[i].Targets {
					o := f.Targets[j]
					for _, c := range []struct {
						what      string
						got, want ridge.Interval
						width     float64
					}{
						{"GCV", o.GCV, w.GCV, 1e-4}, {"RSS", o.RSS, w.RSS, 1e-4}, {"objective", o.Objective, w.Objective, 1e-3},
						{"leave-one-out error", errors.Bounds[i][j], left.Bounds[i][j], 1e-2},
					} {
						if !(c.got.Lo <= c.want.Hi && c.want.Lo <= c.got.Hi) ||
							!(c.got.Hi-c.got.Lo <= 10*(c.want.Hi-c.want.Lo)+c.width*c.want.Hi) {
							t.Errorf(
								"%s, intercept %v, γ = %g, target %d: %s in %v, want %v",
								kind,
								intercept,
								gammas[i],
								j,
								c.what,
								c.got,
								c.want,
							)
						}
					}
					if !formed && j != 1 && !(o.RelativeErrorBound < 1e-2) {
						t.Errorf("%s, γ = %g: relative error %g", kind, gammas[i], o.RelativeErrorBound)
					}
				}
			}
		}
	}
}

// TestChoiceWithoutCoefficients: a choice for many targets has no coefficients in its path, survives JSON, and ends in
// a solution that is like the solution at the chosen γ.
func TestChoiceWithoutCoefficients(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := problem(rand.New(rand.NewPCG(36, 9)), "gaussian", 9, 1100, 960, 40)
	p := make([]float64, 1100)
	for j := range p {
		p[j] = float64(1 + j%3)
	}
	for _, opts := range []fdridge.Options{{Select: choose.GCV}, {Select: choose.LOO}, {Select: choose.GCV, Penalty: p}} {
		opts.Candidates = []float64{0.1, 10, 1000} // 50 by default, whose JSON takes seconds
		r, err := fdridge.Fit(ctx, s, opts)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r.Choice)
		if err != nil {
			t.Fatal(err)
		}
		var back choose.GammaChoice
		if err := json.Unmarshal(text, &back); err != nil || back.Gamma() != r.Choice.Gamma() {
			t.Errorf("%v: %v, γ %v of %v", opts.Select, err, back.Gamma(), r.Choice.Gamma())
		}
		for _, f := range r.Choice.Path {
			if f.Targets[5].Coef != nil || f.Targets[5].Scaled != nil || len(f.Penalty) != len(opts.Penalty) {
				t.Errorf("γ = %g: the path has coefficients", f.Gamma)
			}
		}
		given, err := fdridge.Fit(
			ctx,
			s,
			fdridge.Options{Gammas: []float64{r.Choice.Gamma()}, Penalty: opts.Penalty, Method: ridge.Dual},
		)
		if err != nil {
			t.Fatal(err)
		}
		for j, o := range given.Solutions[0].Targets {
			sameCoefficients(t, fmt.Sprint(opts.Select, j), r.Solutions[0].Targets[j], o)
		}
	}
}

// sameCoefficients compares two solutions of a target up to their error bounds.
func sameCoefficients(t *testing.T, what string, a, b ridge.Target) {
	t.Helper()
	off, size := 0.0, 0.0
	for i, v := range b.Coef {
		off, size = off+(v-a.Coef[i])*(v-a.Coef[i]), size+v*v
	}
	if !(off <= 1e-24*size) || !(a.RelativeErrorBound <= 1e-12) {
		t.Errorf("%s: coefficients differ by %g of %g, certified to %g", what, off, size, a.RelativeErrorBound)
	}
}

// TestScoresOfTinyTarget: a choice forms the coefficients of all targets if one target of the first block proves
// nothing.
func TestScoresOfTinyTarget(t *testing.T) {
	t.Parallel()
	const n, d, k = 4, 60000, 50
	r := rand.New(rand.NewPCG(36, 9))
	x, y := make([]float64, n*d), make([]float64, n*k)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range y {
		y[i] = r.NormFloat64()
		if i%k == 0 {
			y[i] *= 3e-312
		}
	}
	src, err := dataset.FromDense(n, d, k, x, y)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fdridge.Fit(
		t.Context(),
		src,
		fdridge.Options{Method: ridge.Dual, Select: choose.GCV, Candidates: []float64{1, 1.1, 1.2, 1.3}},
	)
	if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
		t.Fatal(err)
	}
	for j, o := range f.Best().Targets {
		if len(o.Coef) != d {
			t.Errorf("target %d has %d coefficients", j, len(o.Coef))
		}
	}
}
