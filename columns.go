package fdridge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/printable"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/columns"
)

// tolShare is the part of Tol that a fit of projected rows has to reach. The errors of the projection use up the rest.
const tolShare = 0.9

// A mapping is the change of columns of a fit, and what belongs to it.
type mapping struct {
	columns   *columns.Map
	rows      dataset.Source // the rows before the change; nil without rows
	src       dataset.Source // the rows after the change
	factors   []float64      // Options.Penalty of the columns after the change; nil means 1
	goal      float64        // the relative error to prove for the columns after the change, at most Options.Tol
	tightened bool           // tighten has lowered goal
}

// resolveColumns finds the change of columns, for rows of d features.
func (j *job) resolveColumns() error {
	switch {
	case j.Penalty != nil && len(j.Penalty) != j.d:
		return &OptionError{[]string{"Penalty"}, "there must be one penalty for each feature"}
	case j.Rounding != nil && len(j.Rounding) != j.d:
		return &OptionError{[]string{"Rounding"}, "there must be one number for each feature"}
	}
	m, err := columns.New(j.d, j.Penalty, j.Unpenalized, j.Rounding)
	if err != nil {
		return &OptionError{[]string{"Unpenalized"}, printable.Error(err)}
	}
	if m.DependsOnRows() && j.once {
		return &dataset.OnceError{What: "columns without penalty"}
	}
	j.d, j.factors, j.goal = m.Dim(), m.Penalty(), j.Tol
	j.columns = m
	if j.Bands != nil {
		if err := j.penalizeBands(); err != nil {
			return err
		}
	}
	if m.DependsOnRows() {
		j.src = j.rows // learn changes the rows
		return nil
	}
	return j.changeRows()
}

// penalizeBands sets the penalties of Options.Bands. If the fit chooses some of them, all penalties are 1 until then.
func (j *job) penalizeBands() error {
	bands, err := j.keptBands()
	if err != nil {
		return err
	}
	penalty, err := choose.Penalties(j.d, j.factors, bands)
	if err != nil {
		return err
	}
	if j.choosesBands() {
		penalty = nil
	} else {
		j.bands = &choose.BandChoice{Bands: j.Bands, Choice: choose.Least(nil, nil)}
	}
	j.columns, err = j.columns.Penalize(penalty)
	return err
}

// keptBands returns Options.Bands with the numbers of the columns after the change.
func (j *job) keptBands() ([]choose.Band, error) {
	bands := slices.Clone(j.Bands)
	free := j.columns.Unpenalized()
	for i, b := range bands {
		bands[i].Columns = slices.Clone(b.Columns)
		for k, c := range b.Columns {
			if slices.Contains(free, c) {
				return nil, &OptionError{
					[]string{"Unpenalized", "Bands"},
					fmt.Sprintf("column %d has no penalty, and is in a band", c+1),
				}
			}
			if at := j.columns.Place(c); at >= 0 { // otherwise choose.Penalties returns the error
				bands[i].Columns[k] = at
			}
		}
	}
	return bands, nil
}

// changeRows sets j.src to the rows with changed columns.
func (j *job) changeRows() (err error) {
	if j.rows == nil {
		return nil
	}
	j.src, err = j.columns.Apply(j.rows)
	return err
}

// learn makes the pass that a change of columns needs.
func (j *job) learn(ctx context.Context) (err error) {
	j.columns, err = j.columns.Learn(ctx, j.rows, columns.Options{
		Intercept: !j.NoIntercept,
		Backend:   j.Backend,
		MaxBytes:  j.MaxBytes,
		Progress:  j.progress(Projecting, 1),
		Gather:    j.Gather,
	})
	if err != nil {
		return err
	}
	j.record(Step{Stage: Projecting, Passes: 1})
	j.n, _, _ = j.rows.Dims()
	j.goal = tolShare * j.Tol
	return j.changeRows()
}

// leaveOneOut returns the rows and options of a leave-one-out pass.
func (j *job) leaveOneOut(gammas []float64, pass int) (dataset.Source, ridge.LeaveOneOutOptions, error) {
	opts := ridge.LeaveOneOutOptions{
		Reducer:  j.Reducer,
		Progress: j.progress(Choosing, pass),
		Left:     j.leftOutCounter(gammas),
	}
	src, err := j.columns.ApplyWithLeverages(j.rows)
	return src, opts, err
}

// checkLeverages replaces leave-one-out errors by GCV, because dual methods have no leverages for columns without
// penalty.
func (j *job) checkLeverages(m ridge.Method) error {
	switch {
	case !j.columns.DependsOnRows() || !j.choosesGamma() || !j.Select.Needs().Pass || !m.For(j.n, j.d, nil).IsDual():
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

// tighten lowers the goal if the solutions reached it, but do not reach Tol in the original columns. Then another solve
// with the new goal may reach Tol. tighten lowers the goal once.
func (j *job) tighten(fits []*ridge.Solution) bool {
	if !j.columns.DependsOnRows() || j.tightened || j.Journal != nil {
		return false
	}
	least := math.Inf(1)
	for _, f := range fits {
		probe := *f
		probe.Targets = slices.Clone(f.Targets)
		if err := j.columns.Restore([]*ridge.Solution{&probe}, 0); err != nil {
			return false
		}
		for k, o := range probe.Targets {
			before, after := f.Targets[k].RelativeErrorBound, o.RelativeErrorBound
			if before <= j.goal && after > j.Tol {
				least = math.Min(least, j.Tol*(before/after)/2)
			}
		}
	}
	if math.IsInf(least, 1) {
		return false
	}
	j.goal, j.tightened = math.Max(least, ridge.LeastTol), true
	return true
}

// restore converts the solutions in r to the original columns.
func (j *job) restore(r *Result) error {
	all := r.Solutions
	if r.Choice != nil {
		all = append(all[:len(all):len(all)], r.Choice.Path...)
	}
	if err := j.columns.Restore(all, j.Tol); err != nil {
		return err
	}
	if j.columns.DependsOnRows() {
		for _, s := range r.Solutions {
			r.Status = r.Status.Worse(s.Status)
		}
	}
	return nil
}
