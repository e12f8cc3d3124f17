package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/conformal"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// JackknifeIntervals are the jackknife+ intervals of [ridge.Jackknife]. They are for new observations and need no
// held-out rows. If Jackknife is nil, the error of [Model.Predictor] is [ErrInput].
type JackknifeIntervals struct{ Jackknife *ridge.Jackknife } // from [Model.Jackknife]

// ByJackknife is the basis of [JackknifeIntervals].
const ByJackknife Basis = "training rows"

func (by JackknifeIntervals) of(m *Model, p *Predictor) error {
	if by.Jackknife == nil {
		return errtext.BadInput("model: jackknife+ intervals need a Jackknife")
	}
	p.useFitted(m)
	p.bounds = jackknifeBounds{by.Jackknife}
	return nil
}

type jackknifeBounds struct{ of *ridge.Jackknife }

func (jackknifeBounds) basis() Basis { return ByJackknife }

func (j jackknifeBounds) bracket(ctx context.Context, dst []ridge.Interval, b dataset.Block) error {
	return j.of.Predict(ctx, dst, b)
}

func (jackknifeBounds) finish([]ridge.Interval, []float64, dataset.Block, int) {}

// Jackknife makes a pass over train, the training rows of the model, and prepares jackknife+ intervals for new
// rows. See [ridge.Jackknife] and [Intervals]. train must be prepared as [Model.Prepare] prepares rows. It must
// have the targets and weights of the fit. The model must have a single γ. level is between 0 and 1;
// [ridge.Jackknife] states the probability that follows from it. The intervals are for the exact solution of the
// model's problem. Its intercept, the scaling of its columns and their penalties are taken as given.
//
// Errors: a *[CoverageRowsError] for too few rows; [ErrInput] for a model of classes; [ErrShape] for several γ, or
// for other dimensions or numbers of rows; and the errors of [ridge.NewJackknife].
func (m *Model) Jackknife(
	ctx context.Context,
	train dataset.Source,
	level float64,
) (*ridge.Jackknife, error) {
	switch {
	case m.Classes != nil:
		return nil, errtext.BadInput("model: intervals of coverage are for numbers, the model predicts classes")
	case train == nil || len(m.Fits) != 1:
		return nil, fmt.Errorf("%w: jackknife+ intervals need training rows and a model of one gamma", errShape)
	}
	w := &m.Fits[0]
	if slices.ContainsFunc(w.Gammas, func(g float64) bool { return g != w.Gamma }) {
		return nil, fmt.Errorf("%w: each target has a gamma of its own; fit one target", errShape)
	}
	train, o, err := m.problem(train)
	if err != nil {
		return nil, err
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
