package fdridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestChoiceWithoutCoefficients: a choice for many targets has no coefficients in its path, survives JSON, and ends in
// a solution that is like the solution at the chosen γ.
func TestChoiceWithoutCoefficients(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := testkit.Problem(rand.New(rand.NewPCG(36, 9)), "gaussian", 9, 1100, 960, 40)
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
