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

// refitFolds makes a cross-validation with a fit of its own for each fold. Columns without penalty need it: the
// rows outside of a fold have a projection of their own, so that sketches of projected folds cannot be merged. The
// argument path has the solutions for all rows at gammas.
func (s *sketchSearch) refitFolds(
	ctx context.Context, gammas []float64, path []*ridge.Solution,
) ([]choose.Evidence, error) {
	found, passes, err := s.heldOut(ctx, gammas)
	if err != nil {
		return nil, err
	}
	s.passes += passes
	why := reason.Reason{Rule: reason.FoldsNeedSketch}
	s.record(Step{
		Stage:  Choosing,
		Method: s.method,
		Passes: passes,
		Reason: why,
	})
	return found.Evidence(ctx, path, s.opts.Reducer)
}

// heldOut fits the rows outside of each fold at all gammas, and sums the squared errors on the rows of the fold. Row
// i is in fold i mod Folds.
func (j job) heldOut(ctx context.Context, gammas []float64) (found *choose.HeldOut, passes int, err error) {
	found = &choose.HeldOut{Rounding: j.opts.Rounding}
	folds := int64(j.opts.Folds)
	for k := range folds {
		isHeld := func(row int64) bool { return row%folds == k }
		rest, err := dataset.Where(j.before, func(row int64) bool { return !isHeld(row) })
		if err != nil {
			return nil, 0, err
		}
		fold, err := j.refit(rest, gammas)
		if err != nil {
			return nil, 0, err
		}
		r, err := fold.run(ctx)
		if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
			return nil, 0, err
		}
		fits := make([]*ridge.Solution, len(gammas))
		for i, g := range gammas {
			at := slices.IndexFunc(r.Solutions, func(s *ridge.Solution) bool {
				return s.Gamma == g
			})
			if at >= 0 {
				fits[i] = r.Solutions[at]
			}
		}
		held, err := dataset.Where(j.before, isHeld)
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

// refit returns the job that fits other rows at gammas. Its change of columns has the same penalties, but still has to
// learn the projection from these rows.
func (j job) refit(rows dataset.Source, gammas []float64) (job, error) {
	r := &request{opts: Options{
		Gammas:      gammas,
		Method:      j.opts.Method,
		NoIntercept: j.opts.NoIntercept,
		Tol:         j.opts.Tol,
		MaxPasses:   j.opts.MaxPasses,
		Size:        j.opts.Size,
		Lanes:       j.opts.Lanes,
		Backend:     j.opts.Backend,
		MaxBytes:    j.opts.MaxBytes,
		Reducer:     j.opts.Reducer,
		Merge:       j.opts.Merge,
		Summarize:   j.opts.Summarize,
		Gather:      j.opts.Gather,
	}}
	j.request = r
	j.trace = new(trace)
	j.before = rows
	j.src = nil
	j.sparse = false
	j.n, _, _ = rows.Dims()
	return j, r.opts.Check()
}
