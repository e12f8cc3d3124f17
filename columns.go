package fdridge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/columns"
)

// tolShare is the part of Tol that a fit of projected rows has to reach. The errors of the projection use up the rest.
const tolShare = 0.9

// change returns rows with the change of columns that the request asks for: scaling by penalties, and a projection if
// some columns have no penalty. The argument rows has the columns before the change.
func (rows data) change(r *request) (data, error) {
	o := &r.opts
	switch {
	case o.Penalty != nil && len(o.Penalty) != rows.d:
		return data{}, &OptionError{[]string{"Penalty"}, "there must be one penalty for each feature"}
	case o.Rounding != nil && len(o.Rounding) != rows.d:
		return data{}, &OptionError{[]string{"Rounding"}, "there must be one number for each feature"}
	}
	m, err := columns.New(rows.d, o.Penalty, o.Unpenalized, o.Rounding)
	if err != nil {
		return data{}, &OptionError{[]string{"Unpenalized"}, errtext.Error(err)}
	}
	if m.DependsOnRows() && r.once {
		return data{}, &dataset.OnceError{What: "columns without penalty"}
	}
	rows.columns = m
	rows.d = m.Dim()
	rows.factors = m.Penalty()
	if o.Bands != nil {
		rows, err = rows.penalizeBands(o)
		if err != nil {
			return data{}, err
		}
	}
	if m.DependsOnRows() {
		return rows, nil
	}
	return rows.apply()
}

// penalizeBands returns rows with the penalties of Options.Bands. If the fit chooses the penalty of any band, all
// penalties are 1 until they are chosen.
func (rows data) penalizeBands(o *Options) (data, error) {
	bands, err := rows.place(o.Bands)
	if err != nil {
		return data{}, err
	}
	penalty, err := choose.Penalties(rows.d, rows.factors, bands)
	if err != nil {
		return data{}, err
	}
	if o.choosesBands() {
		penalty = nil
	} else {
		rows.bands = &choose.BandChoice{Bands: o.Bands, Choice: choose.Least(nil, nil)}
	}
	rows.columns, err = rows.columns.Penalize(penalty)
	return rows, err
}

// place returns the bands with the numbers that their columns have after the change of columns.
func (rows data) place(given []choose.Band) ([]choose.Band, error) {
	bands := slices.Clone(given)
	free := rows.columns.Unpenalized()
	for i, b := range bands {
		bands[i].Columns = slices.Clone(b.Columns)
		for k, c := range b.Columns {
			if slices.Contains(free, c) {
				return nil, &OptionError{
					[]string{"Unpenalized", "Bands"},
					fmt.Sprintf("column %d has no penalty, and is in a band", c+1),
				}
			}
			if at := rows.columns.Place(c); at >= 0 { // otherwise choose.Penalties returns the error
				bands[i].Columns[k] = at
			}
		}
	}
	return bands, nil
}

// apply returns rows with src, the rows with changed columns.
func (rows data) apply() (data, error) {
	if rows.before == nil {
		return rows, nil
	}
	var err error
	rows.src, err = rows.columns.Apply(rows.before)
	return rows, err
}

// changeRows returns the job with src, the rows with changed columns.
func (j job) changeRows() (job, error) {
	var err error
	j.data, err = j.data.apply()
	return j, err
}

// learn makes the pass that a change of columns needs.
func (j job) learn(ctx context.Context) (job, error) {
	var err error
	j.columns, err = j.columns.Learn(ctx, j.before, columns.Options{
		Intercept: !j.opts.NoIntercept,
		Backend:   j.opts.Backend,
		MaxBytes:  j.opts.MaxBytes,
		Progress:  j.progress(Projecting, 1),
		Gather:    j.opts.Gather,
	})
	if err != nil {
		return j, err
	}
	j.record(Step{Stage: Projecting, Passes: 1})
	j.n, _, _ = j.before.Dims()
	return j.changeRows()
}

// leaveOneOut returns the rows and options of a leave-one-out pass.
func (j job) leaveOneOut(
	gammas []float64,
	pass int,
	to decisions,
) (dataset.Source, ridge.LeaveOneOutOptions, error) {
	opts := ridge.LeaveOneOutOptions{
		Reducer:  j.opts.Reducer,
		Progress: j.progress(Choosing, pass),
		Left:     to.counter(j.opts.Classes, gammas),
	}
	src, err := j.columns.ApplyWithLeverages(j.before)
	return src, opts, err
}

// lacksLeverages reports whether method m has no leverages of the rows. Dual methods have none if columns without
// penalty were projected out.
func (j job) lacksLeverages(m ridge.Method) bool {
	return j.columns.DependsOnRows() && m.For(j.n, j.d, nil).IsDual()
}

// criterion returns the criterion by which the direct method m chooses γ. If m has no leverages, GCV replaces the
// default, leave-one-out errors. If the caller has asked for leave-one-out errors, a sketch chooses γ.
func (j job) criterion(m ridge.Method) choose.Criterion {
	if j.by.Needs().Pass && j.lacksLeverages(m) {
		return choose.GCV
	}
	return j.by
}

// goal returns the first goal of a fit.
func (j job) goal() goal {
	if j.columns.DependsOnRows() {
		return goal{tol: tolShare * j.opts.Tol}
	}
	return goal{tol: j.opts.Tol}
}

// tighten returns a lower goal if the solutions reached the goal but do not reach Tol in the original columns. Another
// solve with the lower goal may then reach Tol. tighten lowers the goal of a fit only once.
func (j job) tighten(fits []*ridge.Solution, reached goal) (lower goal, ok bool) {
	if !j.columns.DependsOnRows() || reached.isLow || j.opts.Journal != nil {
		return reached, false
	}
	tol := j.opts.Tol
	least := math.Inf(1)
	for _, f := range fits {
		probe := *f
		probe.Targets = slices.Clone(f.Targets)
		if err := j.columns.Restore([]*ridge.Solution{&probe}, 0); err != nil {
			return reached, false
		}
		for k, o := range probe.Targets {
			before := f.Targets[k].RelativeErrorBound
			after := o.RelativeErrorBound
			if before <= reached.tol && after > tol {
				least = math.Min(least, tol*(before/after)/2)
			}
		}
	}
	if math.IsInf(least, 1) {
		return reached, false
	}
	return goal{math.Max(least, ridge.LeastTol), true}, true
}
