package ridge_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

// TestFewFeatures: a fit of few features stores AᵀA without being asked. Its one-shot solution and its brackets are
// exact up to round-off, and each iterative method certifies it in one more pass. A choice by GCV needs no pass of its
// own.
func TestFewFeatures(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		src := problem(rand.New(rand.NewPCG(4, 4)), "decaying", 400, 12, 2, 1)
		gamma := 3.0
		opts := fdridge.Options{Gammas: []float64{gamma}, Method: ridge.OneShot, NoIntercept: !intercept}
		one := must(fdridge.Fit(t.Context(), src, opts))(t)
		if !one.Summary.Sketch().Scatter() || one.Summary.Sketch().Bound().Shrinkage != 0 {
			t.Fatalf("%+v", one.Summary.Sketch().Bound())
		}
		for _, o := range one.Solutions[0].Targets {
			v := o.R2()
			if !(o.RelativeErrorBound <= 1e-9) || !(v.Hi-v.Lo <= 1e-9) || !(o.GCV.Hi-o.GCV.Lo <= 1e-9*o.GCV.Hi) {
				t.Errorf("intercept %v: certified to %g, R² %v, GCV %v", intercept, o.RelativeErrorBound, v, o.GCV)
			}
		}
		exact := mustExact(t, src, ridge.ExactOptions{Intercept: intercept}, gamma)[0]
		d := norm(minus(one.Solutions[0].Targets[0].Coef, exact.Targets[0].Coef))
		if !(d <= one.Solutions[0].Targets[0].ErrorBound+exact.Targets[0].ErrorBound) {
			t.Errorf("off by %g", d)
		}
		for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin, ridge.Newton} {
			opts.Method = method
			if r := must(fdridge.Fit(t.Context(), src, opts))(t); r.Passes != 2 || r.Status != ridge.Converged {
				t.Errorf("%s: %d passes, %v", method, r.Passes, r.Status)
			}
		}
		choice := must(
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
		unasked := must(fdridge.Fit(t.Context(), src, fdridge.Options{Select: choose.GCV, NoIntercept: !intercept}))(t)
		if unasked.Method != ridge.Exact || unasked.Passes != 1 {
			t.Errorf("γ was chosen by %s in %d passes", unasked.Method, unasked.Passes)
		}
		cv := must(fdridge.Fit(t.Context(), src, fdridge.Options{NoIntercept: !intercept, Folds: 4}))(t)
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

// TestFewFeaturesOld: a summary of rows, from a message of before, and one that keeps AᵀA merge
// into either, and what the union certifies holds.
func TestFewFeaturesOld(t *testing.T) {
	src := problem(rand.New(rand.NewPCG(4, 5)), "gaussian", 300, 10, 1, 1)
	of := func(store fd.Storage, lo, hi int) *ridge.Summary {
		s := must(ridge.NewSummary(ridge.SummaryConfig{Dim: 10, Size: 5, Intercept: true, Store: store}))(t)
		check(t, s.AppendBlock(dataset.Block{N: hi - lo, X: flat(src.x[lo:hi]), Y: flat(src.y[lo:hi])}))
		return must(ridge.ReadSummary(bytes.NewReader(marshal(t, s)), nil))(t)
	}
	for _, stores := range [][2]fd.Storage{{fd.StoreRows, fd.StoreSmaller}, {fd.StoreSmaller, fd.StoreRows}} {
		all, other := of(stores[0], 0, 150), of(stores[1], 150, 300)
		if all.Config().Store != stores[0] || other.Config().Store != stores[1] {
			t.Fatalf("%v and %v were read", all.Config().Store, other.Config().Store)
		}
		check(t, all.Merge(other))
		if got := all.Sketch().Scatter(); got != (stores[0] == fd.StoreSmaller) || all.Sketch().Bound().Shrinkage == 0 {
			t.Errorf("%v: AᵀA is kept: %v, %+v", stores, got, all.Sketch().Bound())
		}
		ref := refbig.New(src.x, src.y, nil, true)
		for _, gamma := range []float64{0.1, 10, 1000} {
			ridgetest.Certificate(t, ref, must(all.Fit(gamma))(t))
			ridgetest.Certificate(
				t,
				ref,
				must(ridge.Solve(t.Context(), src, all, gamma, ridge.SolveOptions{Method: ridge.Galerkin}))(t),
			)
		}
	}
}

// TestPlanKeepsScatter: a sketch that would keep AᵀA is planned to lose nothing, with two passes more
// than the sketch's and the memory of a few d² numbers.
func TestPlanKeepsScatter(t *testing.T) {
	const d = 60
	sum := summarize(t, waves(t, 300, d, 1), ridge.SummaryConfig{Size: 10})
	for _, o := range must(plan.New(sum, plan.Config{Sizes: []int{10, 40}, Gammas: []float64{1}}))(t).Options {
		keeps := o.Size == 40
		if o.Size == 0 {
			continue
		}
		if (o.WorstShrinkage == 0) != keeps || (o.Shrinkage == 0) != keeps || keeps && o.Passes[0] > 3 {
			t.Errorf(
				"%s, m = %d: η %g, at most %g, %v passes",
				o.Method,
				o.Size,
				o.Shrinkage,
				o.WorstShrinkage,
				o.Passes,
			)
		}
		square := 8.0 * d * (d + 256)
		if keeps && !(float64(o.Bytes) > square && float64(o.Bytes) < 30*square && !math.IsInf(o.Seconds, 0)) {
			t.Errorf(
				"%s, m = %d: %d bytes, of which AᵀA and the rows that wait take %.0f",
				o.Method,
				o.Size,
				o.Bytes,
				square,
			)
		}
	}
}
