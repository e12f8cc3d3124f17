package fdridge_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestNoWeight: rows that all have weight 0 count as no rows. Each function returns an error with this reason.
func TestNoWeight(t *testing.T) {
	p := testkit.Table{X: [][]float64{{1, 2}, {3, 4}, {5, 7}}, Y: [][]float64{{1}, {2}, {3}}, W: []float64{0, 0, 0}}
	ctx := t.Context()
	for _, intercept := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			p.Sparse = sparse
			sum := testkit.Must(ridge.Summarize(ctx, p, ridge.SummaryConfig{Size: 2, Intercept: intercept}, nil))(t)
			calls := map[string]func() error{
				"Fit of a summary": func() error { _, err := sum.Fit(1); return err },
				"Path":             func() error { _, err := sum.Path([]float64{1, 2}); return err },
				"ChooseGamma":      func() error { _, err := choose.Gamma(sum, nil); return err },
				"Solve":            func() error { _, err := ridge.Solve(ctx, p, sum, 1, ridge.SolveOptions{}); return err },
				"Predictor":        func() error { _, err := sum.Predictor(1); return err },
				"Plan":             func() error { _, err := plan.New(sum, plan.Config{}); return err },
				"SizeFor":          func() error { _, _, err := plan.SizeFor(sum, 0.1, 1); return err },
				"Fit, choosing": func() error {
					_, err := fdridge.Fit(ctx, p, fdridge.Options{Size: 2, NoIntercept: !intercept})
					return err
				},
			}
			for _, method := range []ridge.Method{
				ridge.Auto, ridge.OneShot, ridge.CG, ridge.Galerkin, ridge.Newton, ridge.Cholesky, ridge.QR,
			} {
				calls["Fit by "+method.String()] = func() error {
					_, err := fdridge.Fit(
						ctx,
						p,
						fdridge.Options{Gammas: []float64{1}, Size: 2, NoIntercept: !intercept, Method: method},
					)
					return err
				}
			}
			for name, call := range calls {
				err := call()
				if !errors.Is(err, ridge.ErrEmpty) || !strings.Contains(err.Error(), "all 3 have weight 0") {
					t.Errorf("%s, intercept %v: %v", name, intercept, err)
				}
			}
		}
	}
	// One row with weight is enough.
	p.Sparse, p.W = false, []float64{0, 0, 2}
	testkit.Must(fdridge.Fit(ctx, p, fdridge.Options{NoIntercept: true, Gammas: []float64{1}}))(t)
}

// TestNil: a missing matrix, source or summary is an error of shapes, ErrShape.
func TestNil(t *testing.T) {
	ctx, none := t.Context(), new(ridge.Summary)
	src := testkit.Table{X: [][]float64{{1, 2}}, Y: [][]float64{{1}}}
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 2})
	before := string(testkit.Marshal(t, sum))
	x, y := mat.NewDense(1, 2, nil), mat.NewDense(1, 1, nil)
	var dense *mat.Dense
	for name, call := range map[string]func() error{
		"Append(nil, nil)":     func() error { return sum.Append(nil, nil, nil) },
		"Append(nil, y)":       func() error { return sum.Append(nil, y, nil) },
		"Append(x, nil)":       func() error { return sum.Append(x, nil, nil) },
		"Append of a nil *mat": func() error { return sum.Append(dense, y, nil) },
		"Append to nothing":    func() error { return none.Append(x, y, nil) },
		"AppendBlock":          func() error { return none.AppendBlock(dataset.Block{}) },
		"Predict(nil)":         func() error { _, err := testkit.Must(sum.Fit(1))(t).Predict(nil); return err },
		"Predict of a nil *mat": func() error {
			_, err := testkit.Must(sum.Fit(1))(t).Predict(dense)
			return err
		},
		"Summarize": func() error { _, err := ridge.Summarize(ctx, nil, ridge.SummaryConfig{Size: 2}, nil); return err },
		"Fit":       func() error { _, err := fdridge.Fit(ctx, nil, fdridge.Options{NoIntercept: true}); return err },
		"Exact":     func() error { _, err := ridge.SolveExact(ctx, nil, []float64{1}, ridge.ExactOptions{}); return err },
		"CrossValidate": func() error {
			_, err := choose.CrossValidate(ctx, nil, ridge.SummaryConfig{Size: 2}, choose.CrossValidation{})
			return err
		},
		"Solve without source":  func() error { _, err := ridge.Solve(ctx, nil, sum, 1, ridge.SolveOptions{}); return err },
		"Solve without summary": func() error { _, err := ridge.Solve(ctx, src, nil, 1, ridge.SolveOptions{}); return err },
		"Solve of nothing":      func() error { _, err := ridge.Solve(ctx, src, none, 1, ridge.SolveOptions{}); return err },
		"FitSummary": func() error {
			_, err := fdridge.FitSummary(ctx, src, nil, fdridge.Options{NoIntercept: true})
			return err
		},
		"Fit of nothing":        func() error { _, err := none.Fit(1); return err },
		"Plan of nothing":       func() error { _, err := plan.New(none, plan.Config{}); return err },
		"PredictedPasses":       func() error { _, err := plan.PredictedPasses(none, 1, 0.1, ridge.CG); return err },
		"Continue of nothing":   func() error { return none.Continue(ctx, src, nil) },
		"Continue over nothing": func() error { return sum.Continue(ctx, nil, nil) },
		"Decay of nothing":      func() error { return none.Decay(0.5) },
		"ChooseGamma":           func() error { _, err := choose.Gamma(none, nil); return err },
		"ChooseGamma of folds":  func() error { _, err := new(choose.CVResult).ChooseGamma(true); return err },
		"ChooseGCV":             func() error { _, err := choose.LeastGCV([]*ridge.Solution{nil}, -1); return err },
		"Narrow":                func() error { return testkit.Must(sum.Predictor(1))(t).Narrow(nil) },
		"PredictMatrix(nil)":    func() error { _, err := testkit.Must(sum.Predictor(1))(t).PredictMatrix(nil); return err },
		"PredictMatrix of others": func() error {
			_, err := testkit.Must(sum.Predictor(1))(t).PredictMatrix(mat.NewDense(1, 3, nil))
			return err
		},
		"Predictor of nothing": func() error { _, err := none.Predictor(1); return err },
	} {
		if err := call(); !errors.Is(err, ridge.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if g := new(choose.GammaChoice).Gamma(); !math.IsNaN(g) || none.Weight() != 0 || len(choose.Grid(none, 3)) != 3 {
		t.Errorf("the zero values have γ = %v, weight %v and the grid %v", g, none.Weight(), choose.Grid(none, 3))
	}
	if none.Rows() != 0 || string(testkit.Marshal(t, sum)) != before {
		t.Error("a call that is refused changes a summary")
	}
}
