package fdridge_test

import (
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestFewFeatures: a fit of few features stores AᵀA without being asked. Its one-shot solution and its brackets are
// exact up to round-off, and each iterative method certifies it in one more pass. A choice by GCV needs no pass of its
// own.
func TestFewFeatures(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		src := testkit.Problem(rand.New(rand.NewPCG(4, 4)), "decaying", 400, 12, 2, 1)
		gamma := 3.0
		opts := fdridge.Options{Gammas: []float64{gamma}, Method: ridge.OneShot, NoIntercept: !intercept}
		one := testkit.Must(fdridge.Fit(t.Context(), src, opts))(t)
		if !one.Summary.Sketch().Scatter() || one.Summary.Sketch().Bound().Shrinkage != 0 {
			t.Fatalf("%+v", one.Summary.Sketch().Bound())
		}
		for _, o := range one.Solutions[0].Targets {
			v := o.R2()
			if !(o.RelativeErrorBound <= 1e-9) || !(v.Hi-v.Lo <= 1e-9) || !(o.GCV.Hi-o.GCV.Lo <= 1e-9*o.GCV.Hi) {
				t.Errorf("intercept %v: certified to %g, R² %v, GCV %v", intercept, o.RelativeErrorBound, v, o.GCV)
			}
		}
		exact := testkit.MustExact(t, src, ridge.ExactOptions{Intercept: intercept}, gamma)[0]
		d := testkit.Norm(minus(one.Solutions[0].Targets[0].Coef, exact.Targets[0].Coef))
		if !(d <= one.Solutions[0].Targets[0].ErrorBound+exact.Targets[0].ErrorBound) {
			t.Errorf("off by %g", d)
		}
		for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin, ridge.Newton} {
			opts.Method = method
			if r := testkit.Must(fdridge.Fit(t.Context(), src, opts))(t); r.Passes != 2 || r.Status != ridge.Converged {
				t.Errorf("%s: %d passes, %v", method, r.Passes, r.Status)
			}
		}
		choice := testkit.Must(
			fdridge.Fit(
				t.Context(),
				src,
				fdridge.Options{Select: choose.GCV, Method: ridge.Galerkin, NoIntercept: !intercept},
			),
		)(
			t,
		)
		if choice.Passes != 2 || choice.Choice.Passes != 0 {
			t.Errorf("γ was chosen in %d passes, %v", choice.Passes, choice.Choice.Spent)
		}
		unasked := testkit.Must(
			fdridge.Fit(t.Context(), src, fdridge.Options{Select: choose.GCV, NoIntercept: !intercept}),
		)(t)
		if unasked.Method != ridge.Exact || unasked.Passes != 1 {
			t.Errorf("γ was chosen by %s in %d passes", unasked.Method, unasked.Passes)
		}
		cv := testkit.Must(fdridge.Fit(t.Context(), src, fdridge.Options{NoIntercept: !intercept, Folds: 4}))(t)
		if cv.Choice.Passes != 0 || len(cv.Choice.Spent) != 0 {
			t.Errorf("cross-validation: %d passes, %v", cv.Passes, cv.Choice.Spent)
		}
	}
}

func minus(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - y[i]
	}
	return out
}
