package model_test

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestOtherRows: a summary of other rows than the training rows is refused if their number, the intercept or the
// squares of a target differ. Each of these differences alone is enough. The same holds for a model without data that
// contradict the summary.
func TestOtherRows(t *testing.T) {
	x := []float64{1, 2, -3, 4, 1, -7, 1, 1} // the features and the targets have no mean
	y := []float64{1, 5, 2, -5, -4, 1, 1, -1}
	summary := func(x, y []float64, intercept bool) *ridge.Summary {
		sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Targets: 2, Size: 2, Intercept: intercept})
		check(t, err)
		n := len(y) / 2
		check(t, sum.Append(mat.NewDense(n, 2, x), mat.NewDense(n, 2, y), nil))
		return sum
	}
	own := summary(x, y, false)
	fit, err := own.Fit(1)
	check(t, err)
	m, err := model.New(model.Preparation{}, []*ridge.Solution{fit}, model.Details{Size: 2})
	check(t, err)
	old := *m
	old.Fits = []model.Fit{m.Fits[0]}
	old.Fits[0].Fitted = nil
	times := func(f float64, of ...int) []float64 {
		out := append([]float64(nil), y...)
		for _, i := range of {
			out[i] *= f
		}
		return out
	}
	for what, c := range map[string]struct {
		sum  *ridge.Summary
		same bool
	}{
		"the same":              {own, true},
		"the same, made again":  {summary(x, y, false), true},
		"a row of zeros":        {summary(append(x[:8:8], 0, 0), append(y[:8:8], 0, 0), false), false},
		"an intercept":          {summary(x, y, true), false},
		"a larger target":       {summary(x, times(1+1e-5, 0, 2, 4, 6), false), false},
		"a smaller target":      {summary(x, times(1-1e-5, 0, 2, 4, 6), false), false},
		"another second target": {summary(x, times(1-1e-5, 1, 3, 5, 7), false), false},
		"targets of zeros":      {summary(x, make([]float64, 8), false), false},
	} {
		for _, m := range []*model.Model{m, &old} {
			_, err := m.Predictor(model.ExactIntervals{Summary: c.sum})
			if c.same {
				check(t, err)
				continue
			}
			if !as[*model.SummaryError](err) || !errors.Is(err, ridge.ErrOtherRows) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
