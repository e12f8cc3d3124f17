package fdridge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/project"
)

// tolShare is the part of Tol left for the projected fit.
const tolShare = 0.9

// unpenalized keeps options that the projection replaces.
type unpenalized struct {
	free       []int
	projection *project.Projection // nil if all columns have a penalty
	bands      []choose.Band       // Options.Bands as given
	penalty    []float64           // Options.Penalty as given
	method     ridge.Method        // Options.Method as given
	tol        float64             // Options.Tol as given
	source     dataset.Source      // the rows before the projection
	asksLOO    bool                // Options.Select asks for leave-one-out errors
	tightened  bool                // tighten has lowered Tol
	given      []float64           // Options.Rounding as given
}

// findUnpenalized restricts d, Penalty and Bands to columns with a penalty.
func (j *job) findUnpenalized() error {
	for i, p := range j.Penalty {
		if p == 0 {
			j.free = append(j.free, i)
		}
	}
	j.free = append(j.free, j.Unpenalized...)
	if j.free == nil {
		return nil
	}
	slices.Sort(j.free)
	j.free = slices.Compact(j.free)
	switch last := len(j.free) - 1; {
	case j.free[0] < 0 || j.free[last] >= j.d:
		return &OptionError{[]string{"Unpenalized"}, fmt.Sprintf("a column must be from 0 to %d", j.d-1)}
	case last+1 == j.d:
		return &OptionError{[]string{"Unpenalized"}, "every column is without penalty: leave it out and use gamma = 0"}
	case j.once:
		return &dataset.OnceError{What: "columns without penalty"}
	}
	place, kept := make([]int, j.d), 0 // index of each column among the columns with a penalty; −1 for a column without
	var penalty []float64
	for i := range j.d {
		place[i] = -1
		if _, found := slices.BinarySearch(j.free, i); found {
			continue
		}
		place[i] = kept
		if i < len(j.Penalty) {
			penalty = append(penalty, j.Penalty[i])
		}
		kept++
	}
	if len(j.Penalty) > 0 && len(j.Penalty) != j.d {
		return nil // resolvePenalty returns the error
	}
	j.Penalty, j.d = penalty, kept
	j.Bands = slices.Clone(j.Bands)
	for i, b := range j.Bands {
		columns := slices.Clone(b.Columns)
		for k, c := range columns {
			if c < 0 || c >= len(place) {
				continue // choose.Penalties returns the error
			}
			columns[k] = place[c]
			if columns[k] < 0 {
				return &OptionError{
					[]string{"Unpenalized", "Bands"},
					fmt.Sprintf("column %d has no penalty, and is in a band", c+1),
				}
			}
		}
		j.Bands[i].Columns = columns
	}
	return nil
}

// project makes a pass that projects the columns without penalty out.
func (j *job) project(ctx context.Context) error {
	var err error
	j.projection, err = project.New(ctx, j.src, j.free, project.Options{
		Intercept: !j.NoIntercept, Backend: j.Backend, MaxBytes: j.MaxBytes, Rounding: j.given, Progress: j.progress(Projecting, 1), Gather: j.Gather,
	})
	if err != nil {
		return err
	}
	j.record(Step{Stage: Projecting, Passes: 1})
	j.n, _, _ = j.src.Dims()
	j.source, j.src = j.src, j.projection.Apply(j.src)
	j.Tol *= tolShare
	return j.scale()
}

// rounding returns the bounds on the errors of the projected rows, or nil if all columns have a penalty.
func (j *job) rounding() *ridge.ProjectionBounds {
	if j.projection == nil {
		return nil
	}
	return j.projection.Rounding(j.penalty)
}

// entryRounding returns the bounds on the rounding of the features by scaling. They are nil if the features were
// projected, because the bounds of the projection include them.
func (j *job) entryRounding() []float64 {
	if j.free != nil {
		return nil
	}
	return ridge.AddRounding(j.Rounding, dataset.PenaltyRounding(j.penalty))
}

// leaveOneOut returns the rows and options of a leave-one-out pass.
func (j *job) leaveOneOut(gammas []float64, pass int) (dataset.Source, ridge.LeaveOneOutOptions, error) {
	opts := ridge.LeaveOneOutOptions{
		Reducer:  j.Reducer,
		Progress: j.progress(Choosing, pass),
		Left:     j.leftOutCounter(gammas),
	}
	if j.projection == nil {
		return j.src, opts, nil
	}
	src, err := j.scaled(j.projection.ApplyWithLeverages(j.source))
	return src, opts, err
}

// checkLeverages replaces leave-one-out errors by GCV, because dual methods have no leverages for columns without
// penalty.
func (j *job) checkLeverages(m ridge.Method) error {
	switch {
	case j.projection == nil || !j.choosesGamma() || !j.Select.LeavesOut() || !m.For(j.n, j.d, nil).IsDual():
		return nil
	case j.asksLOO:
		return &OptionError{
			[]string{"Unpenalized", "Select"},
			"dual methods have no leverages of columns without penalty: choose gamma by GCV",
		}
	}
	j.Select = choose.GCV
	return nil
}

// tighten lowers Tol if the coefficients with a penalty reached it, but all coefficients together do not reach the
// tolerance of the caller. Then another solve with the new Tol may reach it. tighten lowers Tol once.
func (j *job) tighten(fits []*ridge.Solution) bool {
	if j.projection == nil || j.tightened || j.Journal != nil {
		return false
	}
	least := math.Inf(1)
	for _, f := range fits {
		probe := *f
		probe.Targets = slices.Clone(f.Targets)
		if err := j.projection.Restore([]*ridge.Solution{&probe}, j.penalty, 0); err != nil {
			return false
		}
		for k, o := range probe.Targets {
			before, after := f.Targets[k].RelativeErrorBound, o.RelativeErrorBound
			if before <= j.Tol && after > j.unpenalized.tol {
				least = math.Min(least, j.unpenalized.tol*(before/after)/2)
			}
		}
	}
	if math.IsInf(least, 1) {
		return false
	}
	j.Tol, j.tightened = math.Max(least, ridge.LeastTol), true
	return true
}

// restore converts the solutions in r to the original columns.
func (j *job) restore(r *Result) error {
	all := r.Solutions
	if r.Choice != nil {
		all = append(all[:len(all):len(all)], r.Choice.Path...)
	}
	if j.projection == nil {
		if j.penalty != nil {
			for _, s := range all {
				s.Unscale(j.penalty)
			}
		}
		return nil
	}
	if r.Bands != nil {
		for i := range r.Bands.Bands {
			r.Bands.Bands[i].Columns = j.unpenalized.bands[i].Columns
		}
	}
	j.Tol = j.tol
	if err := j.projection.Restore(all, j.penalty, j.Tol); err != nil {
		return err
	}
	for _, s := range r.Solutions {
		r.Status = r.Status.Worse(s.Status)
	}
	return nil
}
