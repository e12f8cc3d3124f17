package fdridge_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestFitPenalty: with a penalty, Fit equals Fit of rows that were divided by its root, with this rounding declared, to
// the bit. This holds for every method. The coefficients belong to the columns as they are.
func TestFitPenalty(t *testing.T) {
	const n, d = 200, 12
	s := testkit.PenalisedProblem(n, d)
	p := make([]float64, d)
	for j := range p {
		p[j] = math.Pow(10, float64(j%5)-2)
	}
	for _, method := range []ridge.Method{
		ridge.OneShot, ridge.CG, ridge.Galerkin, ridge.Newton, ridge.Cholesky, ridge.QR, ridge.Tridiagonal, ridge.Exact,
	} {
		for _, intercept := range []bool{false, true} {
			opts := fdridge.Options{Gammas: []float64{500, 5000}, Method: method, Size: 6, NoIntercept: !intercept}
			if !method.IsDirect() {
				opts.Summarize = storing(fd.StoreRows)
			}
			opts.Rounding = dataset.PenaltyRounding(p)
			want, err := fdridge.Fit(context.Background(), testkit.ScaledTable(s, p), opts)
			if err != nil {
				t.Fatal(method, err)
			}
			opts.Penalty, opts.Rounding = p, nil
			got, err := fdridge.Fit(context.Background(), s, opts)
			if err != nil {
				t.Fatal(method, err)
			}
			for i, f := range got.Solutions {
				if !slices.Equal(f.Penalty, p) {
					t.Errorf("%s: the penalty of the solution is %v", method, f.Penalty)
				}
				for j, o := range f.Targets {
					w := want.Solutions[i].Targets[j]
					if !slices.Equal(o.Scaled, w.Coef) || o.Intercept != w.Intercept || o.Certificate != w.Certificate {
						t.Errorf("%s, intercept %v: other weights, or bounds, than of scaled rows", method, intercept)
					}
					for k, x := range o.Coef {
						if x != w.Coef[k]/math.Sqrt(p[k]) {
							t.Errorf("%s: weight %d is %v, want %v/√%v", method, k, x, w.Coef[k], p[k])
						}
					}
				}
				fitted := f.Fitted()
				if fitted.Penalty != nil || !slices.Equal(fitted.Targets[1].Coef, want.Solutions[i].Targets[1].Coef) ||
					fitted.Targets[1].Scaled != nil {
					t.Errorf("%s: Fitted is %+v", method, fitted)
				}
			}
		}
	}
}

// TestFitSummaryPenalty: a penalty on a summary gives the same weights, up to the tolerance, as rows that were scaled
// by the penalty before. This holds for a given γ and for a chosen γ.
func TestFitSummaryPenalty(t *testing.T) {
	const n, d = 300, 16
	s := testkit.PenalisedProblem(n, d)
	p := make([]float64, d)
	for j := range p {
		p[j] = []float64{0.1, 1, 10}[j%3]
	}
	for _, store := range []fd.Storage{fd.StoreRows, fd.StoreScatter} {
		sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 5, Intercept: true, Store: store})
		for _, opts := range []fdridge.Options{
			{NoIntercept: true, Gammas: []float64{2}, Method: ridge.CG}, {NoIntercept: true, Method: ridge.Galerkin},
			{NoIntercept: true, Candidates: []float64{0.1, 1, 10}},
		} {
			opts.Penalty, opts.Tol = p, 1e-11
			got, err := fdridge.FitSummary(context.Background(), s, sum, opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Gammas, opts.Candidates, opts.NoIntercept = []float64{got.Best().Gamma}, nil, false
			want, err := fdridge.Fit(context.Background(), s, opts)
			if err != nil {
				t.Fatal(err)
			}
			var off mat.Dense
			off.Sub(got.Best().Coef(), want.Best().Coef())
			if !(mat.Norm(&off, 2) <= 1e-10*mat.Norm(want.Best().Coef(), 2)) {
				t.Errorf("weights are off by %g", mat.Norm(&off, 2))
			}
			if got.Choice != nil && !slices.Equal(got.Choice.Path[0].Penalty, p) {
				t.Error("solutions of the path have no penalty")
			}
		}
		one, err := fdridge.FitSummary(
			context.Background(),
			nil,
			sum,
			fdridge.Options{NoIntercept: true, Gammas: []float64{2}, Penalty: p},
		)
		if err != nil {
			t.Fatal(err)
		}
		view := testkit.Must(sum.Penalize(p))(t)
		if want := testkit.Must(view.Fit(2))(t); !slices.Equal(one.Best().Targets[0].Scaled, want.Targets[0].Coef) {
			t.Error("one-shot: another solution than that of the view")
		}
	}
}

func TestPenaltyRefuses(t *testing.T) {
	s := testkit.PenalisedProblem(60, 4)
	sum := testkit.Summarize(t, s, ridge.SummaryConfig{Size: 3})
	for name, p := range map[string][]float64{
		"short": {1}, "zero": {1, 1, 0, 1}, "negative": {1, -1, 1, 1}, "NaN": {1, 1, math.NaN(), 1},
		"infinite":     {math.Inf(1), 1, 1, 1},
		"out of range": {1e-300, 1, 1, 1},
	} {
		if v, err := sum.Penalize(p); v != nil || !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "out of range" { // rows are in range still
			continue
		}
		if r, err := fdridge.Fit(
			context.Background(), s, fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Penalty: p},
		); (r != nil || !errors.Is(err, ridge.ErrInput)) &&
			name != "zero" { // a column without penalty
			t.Errorf("Fit, %s: %v", name, err)
		}
		if r, err := fdridge.FitSummary(
			context.Background(), s, sum, fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Penalty: p},
		); r != nil ||
			!errors.Is(err, ridge.ErrInput) {
			t.Errorf("FitSummary, %s: %v", name, err)
		}
	}
	if _, err := new(ridge.Summary).Penalize([]float64{1}); !errors.Is(err, ridge.ErrShape) {
		t.Error(err)
	}
	if _, err := testkit.Must(
		ridge.NewSummary(ridge.SummaryConfig{Dim: 1, Size: 1}),
	)(t).Penalize([]float64{2}); err != nil {
		t.Errorf("of no rows: %v", err)
	}
	r, err := fdridge.FitSummary(
		context.Background(),
		nil,
		sum,
		fdridge.Options{NoIntercept: true, Gammas: []float64{1}, Penalty: []float64{1, 2, 3, 4}},
	)
	if err != nil {
		t.Fatal(err)
	}
	other := testkit.Must(sum.Penalize([]float64{4, 3, 2, 1}))(t)
	pr := testkit.Must(other.Predictor(1))(t)
	if err := pr.Narrow(r.Best()); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("a fit of another penalty narrows predictions: %v", err)
	}
	if _, err := ridge.LeaveOneOut(
		context.Background(), s, other, r.Solutions, ridge.LeaveOneOutOptions{},
	); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("a fit of another penalty has leave-one-out errors: %v", err)
	}
	same := testkit.Must(sum.Penalize([]float64{1, 2, 3, 4}))(t)
	if err := testkit.Must(same.Predictor(1))(t).Narrow(r.Best()); err != nil {
		t.Error(err)
	}
}

// TestPenalizedPredictsAlone: the intervals of a fit with a penalty, without a summary, hold for
// columns as they are.
func TestPenalizedPredictsAlone(t *testing.T) {
	s := testkit.PenalisedProblem(100, 4)
	p := []float64{1e-4, 1, 100, 0.01}
	r, err := fdridge.Fit(
		context.Background(),
		s,
		fdridge.Options{
			NoIntercept: true,
			Gammas:      []float64{5},
			Penalty:     p,
			Method:      ridge.OneShot,
			Size:        2,
			Summarize:   storing(fd.StoreRows),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := fdridge.Fit(
		context.Background(),
		s,
		fdridge.Options{NoIntercept: true, Gammas: []float64{5}, Penalty: p, Method: ridge.Exact},
	)
	if err != nil {
		t.Fatal(err)
	}
	pr := testkit.Must(r.Best().Predictor())(t)
	got, yhat := make([]ridge.Interval, 2), make([]float64, 2)
	for i := range 4 { // along each column
		row := make([]float64, 4)
		row[i] = 1
		err := errors.Join(pr.Predict(got, dataset.Block{N: 1, X: row}), exact.Best().PredictRow(yhat, row))
		if err != nil {
			t.Fatal(err)
		}
		for j, y := range yhat {
			if !(y >= got[j].Lo && y <= got[j].Hi) {
				t.Errorf("column %d, target %d: %v is not in %v", i, j, y, got[j])
			}
			e := r.Best().Targets[j].ErrorBound
			if !(got[j].Hi-got[j].Lo >= 2*100*e) { // as the weights of the first column may be off
				t.Errorf("column %d, target %d: %v, and ‖ẑ − z*‖ ≤ %v", i, j, got[j], e)
			}
		}
	}
}

// TestFitPenaltyChoosing: if a direct method chooses γ, for many rows or few, the solution and the solutions of the
// path have the penalty exactly once.
func TestFitPenaltyChoosing(t *testing.T) {
	for _, n := range []int{60, 9} {
		const d = 12
		s := testkit.PenalisedProblem(n, d)
		p := make([]float64, d)
		for j := range p {
			p[j] = float64(1 + 3*j)
		}
		for _, by := range []choose.Criterion{choose.GCV, choose.LOO} {
			opts := fdridge.Options{
				NoIntercept: true,
				Candidates:  []float64{1, 10, 100},
				Select:      by,
				Method:      ridge.Exact,
			}
			want, err := fdridge.Fit(context.Background(), testkit.ScaledTable(s, p), opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Penalty = p
			got, err := fdridge.Fit(context.Background(), s, opts)
			if err != nil {
				t.Fatal(err)
			}
			if got.Choice.Index != want.Choice.Index {
				t.Errorf("%d rows: γ %v, want %v", n, got.Choice.Gamma(), want.Choice.Gamma())
			}
			for i, f := range append(slices.Clone(got.Choice.Path), got.Solutions...) {
				w := append(slices.Clone(want.Choice.Path), want.Solutions...)[i]
				for j, o := range f.Targets {
					if n < d && i < len(got.Choice.Path) {
						if o.Coef != nil || o.Scaled != nil {
							t.Errorf("9 rows, by %v, fit %d has coefficients", by, i)
						}
						continue
					}
					if !slices.Equal(o.Scaled, w.Targets[j].Coef) || o.Coef[1] != o.Scaled[1]/2 ||
						!slices.Equal(f.Penalty, p) {
						t.Errorf("%d rows, by %v, fit %d: %v of %v", n, by, i, o.Coef, o.Scaled)
					}
				}
			}
		}
	}
}
