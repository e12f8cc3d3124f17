package fdridge

import (
	"context"
	"errors"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/reason"
)

// refitFolds makes a cross-validation with a fit of its own for each fold. Columns without penalty need it: the rows
// outside of a fold have a projection of their own, so that sketches of projected folds cannot be merged. path has the
// solutions for all rows at gammas.
func (s *sketched) refitFolds(
	ctx context.Context, gammas []float64, path []*ridge.Solution,
) ([]choose.Evidence, error) {
	found, passes, err := s.heldOut(ctx, gammas)
	if err != nil {
		return nil, err
	}
	s.passes += passes
	why := reason.Reason{Rule: reason.FoldsNeedSketch}
	s.record(Step{Stage: Choosing, Method: s.method, Passes: passes, Reason: why})
	return found.Evidence(ctx, path, s.Reducer)
}

// heldOut fits the rows outside of each fold at all gammas, and sums the squared errors on the rows of the fold. Row
// i is in fold i mod Folds.
func (j *job) heldOut(ctx context.Context, gammas []float64) (found *choose.HeldOut, passes int, err error) {
	found = &choose.HeldOut{Rounding: j.Rounding}
	folds := int64(j.Folds)
	for k := range folds {
		isHeld := func(row int64) bool { return row%folds == k }
		rest, err := dataset.Where(j.rows, func(row int64) bool { return !isHeld(row) })
		if err != nil {
			return nil, 0, err
		}
		r, err := fitTogether(ctx, rest, j.refit(gammas))
		if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
			return nil, 0, err
		}
		fits := make([]*ridge.Solution, len(gammas))
		for i, g := range gammas {
			at := slices.IndexFunc(r.Solutions, func(s *ridge.Solution) bool { return s.Gamma == g })
			if at >= 0 {
				fits[i] = r.Solutions[at]
			}
		}
		held, err := dataset.Where(j.rows, isHeld)
		if err != nil {
			return nil, 0, err
		}
		if err := found.Add(ctx, held, fits); err != nil {
			return nil, 0, err
		}
		passes += r.Passes + 1
	}
	return found, passes, nil
}

// refit returns the options of the fit of a fold. Penalties of bands are those that were chosen for all rows.
func (j *job) refit(gammas []float64) Options {
	bands := j.Bands
	if j.bands != nil {
		bands = slices.Clone(bands)
		for i := range bands {
			bands[i].Penalty = j.bands.Bands[i].Penalty
		}
	}
	return Options{
		Gammas:      gammas,
		Penalty:     j.Penalty,
		Unpenalized: j.Unpenalized,
		Bands:       bands,
		Rounding:    j.Rounding,
		Method:      j.Method,
		NoIntercept: j.NoIntercept,
		Tol:         j.Tol,
		MaxPasses:   j.MaxPasses,
		Size:        j.Size,
		Lanes:       j.Lanes,
		Backend:     j.Backend,
		MaxBytes:    j.MaxBytes,
		Reducer:     j.Reducer,
		Merge:       j.Merge,
		Gather:      j.Gather,
	}
}
