package fdridge_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/classes"
)

// fallingProblem is of more columns than a pass may compute AᵀA of, with a spectrum that falls, and
// far from zero.
func fallingProblem(n, d int) testkit.Table {
	r := rand.New(rand.NewPCG(11, 11))
	s := testkit.Table{Block: 64}
	for range n {
		row, y := testkit.Normals(r, d), 10+r.NormFloat64()
		for j := range row {
			row[j] *= math.Exp(-float64(j) / 15)
			y += row[j]
			row[j] += 3
		}
		s.X, s.Y = append(s.X, row), append(s.Y, []float64{y})
	}
	return s
}

// TestFitSummaryOtherRows: a fit to a summary has the intercept of the summary, whatever its options are. Rows that
// are not the rows of the summary are refused.
func TestFitSummaryOtherRows(t *testing.T) {
	const n, d = 400, 200
	s := fallingProblem(n, d)
	p := slices.Repeat([]float64{1}, d)
	p[0] = 4
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 8, Intercept: true, Store: fd.StoreRows})
	for _, penalty := range [][]float64{nil, p} {
		opts := fdridge.Options{
			NoIntercept: true,
			Candidates:  []float64{0.3, 1, 3},
			Method:      ridge.Galerkin,
			Penalty:     penalty,
			MaxBytes:    64*d*(d+1) - 1,
		}
		got, err := fdridge.FitSummary(context.Background(), s, sum, opts)
		if err != nil {
			t.Fatal(err)
		}
		best := got.Best()
		want, err := fdridge.Fit(
			context.Background(),
			s,
			fdridge.Options{Gammas: []float64{best.Gamma}, Penalty: penalty, Method: ridge.Exact},
		)
		if err != nil {
			t.Fatal(err)
		}
		a, b := best.Fitted().Targets[0], want.Best().Fitted().Targets[0]
		off := 0.0
		for j, v := range a.Coef {
			off = math.Hypot(off, v-b.Coef[j])
		}
		if !(off <= a.ErrorBound+b.ErrorBound) ||
			!(math.Abs(a.Intercept-b.Intercept) <= a.InterceptBound+b.InterceptBound) {
			t.Errorf(
				"weights are off by %g, bound %g; the intercept is %v, not %v",
				off,
				a.ErrorBound,
				a.Intercept,
				b.Intercept,
			)
		}
		for what, change := range map[string]func(o *testkit.Table){
			"a target": func(o *testkit.Table) { o.Y[5] = []float64{o.Y[5][0] + 0.1} },
			"a row":    func(o *testkit.Table) { o.X[5] = slices.Repeat([]float64{7}, d) },
			"fewer":    func(o *testkit.Table) { o.X, o.Y = o.X[:n-1], o.Y[:n-1] },
		} {
			other := testkit.Table{X: slices.Clone(s.X), Y: slices.Clone(s.Y), Block: s.Block}
			change(&other)
			r, err := fdridge.FitSummary(context.Background(), other, sum, opts)
			if r != nil || !errors.Is(err, ridge.ErrShape) {
				t.Errorf("%s: rows that are not those of the summary: %v", what, err)
			}
		}
	}
}

// TestFitSummaryBlock: a fit to a summary gives all targets to Options.Block, and then keeps no coefficients.
func TestFitSummaryBlock(t *testing.T) {
	s := testkit.Problem(rand.New(rand.NewPCG(5, 6)), "gaussian", 60, 5, 3, 1)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 4, Intercept: true})
	opts := fdridge.Options{Gammas: []float64{1, 10}}
	want := testkit.Must(fdridge.FitSummary(t.Context(), s, sum, opts))(t)
	var gammas []float64
	opts.Block = func(first int, f *ridge.Solution) error {
		at := len(gammas)
		gammas = append(gammas, f.Gamma)
		if targets, _ := f.Dims(); first != 0 || targets != 3 {
			t.Errorf("a block of %d targets from %d", targets, first)
		}
		for j, o := range f.Targets {
			if !slices.Equal(o.Coef, want.Solutions[at].Targets[j].Coef) {
				t.Errorf("γ = %g, target %d: other coefficients than without Block", f.Gamma, j)
			}
		}
		return nil
	}
	got := testkit.Must(fdridge.FitSummary(t.Context(), s, sum, opts))(t)
	if !slices.Equal(gammas, opts.Gammas) || got.Solutions[1].Targets[2].Coef != nil {
		t.Errorf("blocks for γ = %v; coefficients %v are kept", gammas, got.Solutions[1].Targets[2].Coef)
	}
	failed := errors.New("no room")
	opts.Block = func(int, *ridge.Solution) error { return failed }
	if _, err := fdridge.FitSummary(t.Context(), s, sum, opts); !errors.Is(err, failed) {
		t.Errorf("an error of Block: %v", err)
	}
}

// TestFitSummaryClasses: a fit to a summary of encoded labels is the same as a fit to the rows. Without rows there are
// no labels.
func TestFitSummaryClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	s := testkit.Table{Block: 16}
	for i := range 60 {
		label := float64(i % 3)
		row := testkit.Normals(rng, 4)
		row[0] += 2 * label
		s.X, s.Y = append(s.X, row), append(s.Y, []float64{label})
	}
	c := testkit.Must(classes.Learn(t.Context(), s, nil))(t)
	opts := fdridge.Options{Classes: c, Select: choose.Accuracy, Method: ridge.CG, Size: 3}
	want := testkit.Must(fdridge.Fit(t.Context(), s, opts))(t)
	cfg := ridge.SummaryConfig{Size: 3, Intercept: true}
	sum := testkit.Must(ridge.Summarize(t.Context(), c.Encode(s), cfg, nil))(t)
	got := testkit.Must(fdridge.FitSummary(t.Context(), s, sum, opts))(t)
	if got.Best().Gamma != want.Best().Gamma || got.Classes.Training[0].Rows != 60 ||
		!slices.Equal(got.Classes.Training[0].Right, want.Classes.Training[0].Right) ||
		!slices.Equal(got.Classes.LeftOut.Right, want.Classes.LeftOut.Right) {
		t.Errorf("γ = %g with %+v, want γ = %g with %+v",
			got.Best().Gamma, got.Classes.LeftOut, want.Best().Gamma, want.Classes.LeftOut)
	}
	if _, err := fdridge.FitSummary(t.Context(), nil, sum, opts); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("without rows: %v", err)
	}
}
