package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/conformal"
	"github.com/fdridge/fdridge/ridge"
)

// Jackknife makes a pass over train, the training rows of the model, for jackknife+ intervals of new rows; see
// [ridge.Jackknife] and [Intervals]. train must be prepared as [Model.Prepare] prepares rows, and have the targets
// and weights of the fit. The model must have a single γ. level is 1 − α. The intervals hold for the exact
// solution of the model's problem: with its intercept, the scaling of its columns and their penalties, all taken as
// given.
//
// Errors: a *[CoverageRowsError] for too few rows, [ErrInput] for a model of classes, [ErrShape] for other dimensions
// and numbers of rows or several γ, and the errors of [ridge.NewJackknife].
func (m *Model) Jackknife(ctx context.Context, train dataset.Source, level float64) (*ridge.Jackknife, error) {
	switch {
	case m.Classes != nil:
		return nil, badinput.Errorf("model: intervals of coverage are for numbers, the model predicts classes")
	case train == nil || len(m.Fits) != 1:
		return nil, fmt.Errorf("%w: jackknife+ intervals need training rows and a model of one gamma", errShape)
	}
	w := &m.Fits[0]
	if slices.ContainsFunc(w.Gammas, func(g float64) bool { return g != w.Gamma }) {
		return nil, fmt.Errorf("%w: each target has a gamma of its own; fit one target", errShape)
	}
	if _, d, t := train.Dims(); d != len(w.Coef[0]) || t != len(w.Coef) {
		return nil, fmt.Errorf(
			"%w: rows of %d features and %d targets, the model has %d and %d",
			errShape, d, t, len(w.Coef[0]), len(w.Coef))
	}
	o := ridge.NormalOptions{Intercept: m.Intercept}
	if m.Folded != nil { // the scaling includes the penalties that are not 0
		var err error
		train, err = m.Folded.Apply(train)
		if err != nil {
			return nil, &PreparationError{err}
		}
		o.Rounding = m.Folded.Rounding()
	}
	if m.Penalty.unpenalized() {
		o.Penalty = make([]float64, len(w.Coef[0]))
		for j := range o.Penalty {
			if !m.Unpenalized(j) {
				o.Penalty[j] = 1
			}
		}
	}
	out, err := ridge.NewJackknife(ctx, train, w.Gamma, level, o)
	if err != nil {
		return nil, err
	}
	if n := out.Rows(); conformal.Rank(level, n) > n {
		return nil, &CoverageRowsError{level, n, conformal.Least(level)}
	}
	return out, nil
}
