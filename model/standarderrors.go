package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// StandardErrors makes a pass over train, the training rows of the model. It returns the standard errors of the
// coefficients and of the intercept, for each γ and each target; see [ridge.StandardErrorsOf]. They are in the
// units of the coefficients in [Fit].
//
// train must be prepared as [Model.Prepare] prepares rows. It must have the targets and weights of the fit.
// solutions must be the solutions from which [New] made the model. Scaled columns, penalties and columns without
// penalty are treated as in the fit.
//
// Errors: [ErrShape] if dimensions or the number of solutions differ from the model; and the errors of
// [ridge.StandardErrorsOf], for example [ridge.ErrOtherRows] for rows that are scaled already.
func (m *Model) StandardErrors(
	ctx context.Context, train dataset.Source, solutions []*ridge.Solution,
) ([][]ridge.StandardErrors, error) {
	if train == nil ||
		len(m.Fits) == 0 ||
		len(solutions) != len(m.Fits) ||
		slices.Contains(solutions, nil) {
		return nil, fmt.Errorf("%w: standard errors need training rows and the solutions of the model", errShape)
	}
	train, opts, err := m.problem(train)
	if err != nil {
		return nil, err
	}
	var origin []float64
	if m.Folded != nil {
		for j, mean := range m.Folded.Mean {
			origin = append(origin, -mean/m.Folded.Scale[j])
		}
	}
	out, err := ridge.StandardErrorsOf(ctx, train, solutions, origin, opts)
	if err != nil || m.Folded == nil {
		return out, err
	}
	for _, all := range out {
		for j := range all {
			all[j].Unscale(m.Folded.Scale)
		}
	}
	return out, nil
}
