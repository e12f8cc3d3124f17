// Package columns changes the columns of a problem before a fit. A [Map] changes the rows that the fit reads. After
// the fit, it converts the solutions and all their bounds back to the original columns.
package columns

import (
	"context"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge"
)

// A Map turns the ridge problem with the penalty γ·Σ pⱼxⱼ² on the coefficients x into a problem with the
// penalty γ‖z‖² on other coefficients z. Each column j has a penalty pⱼ ≥ 0:
//
//   - A column with pⱼ > 0 is divided by √pⱼ. Then xⱼ = zⱼ/√pⱼ.
//   - Columns with pⱼ = 0 are projected out of the other columns and of the targets; see [Projection]. One pass over
//     the rows computes the projection.
//
// A Map does not change: Learn and Penalize return a new Map.
type Map struct {
	d       int
	free    []int     // the columns with pⱼ = 0, ascending
	penalty []float64 // pⱼ of the other columns; nil means 1
	// bounds on the relative rounding errors of all d columns, as in ridge.RowErrors; nil means that they are exact
	rounding   []float64
	projection *Projection // nil before Learn, and without columns in free
}

// New returns the Map of d columns with the given penalties, which may be nil (pⱼ = 1 for each column). The columns
// in unpenalized have pⱼ = 0, in addition to those with a penalty of 0. rounding is as in [ridge.RowErrors];
// nil means that the columns are exact.
//
// The error is [ridge.ErrInput] if a list has a wrong length, a penalty is negative or not finite, or a column does not
// exist. It is also [ridge.ErrInput] if no column is left with a positive penalty.
func New(d int, penalty []float64, unpenalized []int, rounding []float64) (*Map, error) {
	switch {
	case penalty != nil && len(penalty) != d:
		return nil, badinput.Errorf("columns: there must be one penalty for each feature")
	case rounding != nil && len(rounding) != d:
		return nil, badinput.Errorf("columns: the rounding of %d features, the rows have %d", len(rounding), d)
	}
	m := &Map{d: d, rounding: rounding, free: slices.Clone(unpenalized)}
	for j, p := range penalty {
		if p == 0 {
			m.free = append(m.free, j)
		}
	}
	slices.Sort(m.free)
	m.free = slices.Compact(m.free)
	if len(m.free) > 0 &&
		(m.free[0] < 0 || m.free[len(m.free)-1] >= d) {
		return nil, badinput.Errorf("columns: a column must be from 0 to %d", d-1)
	}
	for j, p := range penalty {
		if m.Place(j) >= 0 {
			m.penalty = append(m.penalty, p)
		}
	}
	if d > 0 && m.Dim() == 0 {
		return nil, badinput.Errorf(
			"columns: every column is without penalty: leave the penalty out and use gamma = 0",
		)
	}
	_, err := m.scaling()
	return m, err
}

// scaling returns the division of the columns by the square roots of their penalties, or nil if all penalties are 1.
func (m *Map) scaling() (*dataset.Scaling, error) {
	if m.penalty == nil {
		return nil, nil
	}
	return dataset.Penalty(m.penalty)
}

// Dim returns the number of columns after the change.
func (m *Map) Dim() int { return m.d - len(m.free) }

// Unpenalized returns the columns with pⱼ = 0, ascending.
func (m *Map) Unpenalized() []int { return slices.Clone(m.free) }

// DependsOnRows reports whether the Map has to be learned from the rows, because it projects columns out. A Map
// learned from other rows is then a different Map.
func (m *Map) DependsOnRows() bool { return len(m.free) > 0 }

// Penalty returns the penalties of the columns that remain after the change, for ridge.Summary.Penalize. nil means
// that all are 1.
func (m *Map) Penalty() []float64 { return slices.Clone(m.penalty) }

// Place returns the number that column j has after the change. It returns −1 if column j was removed, because it has
// no penalty, or does not exist.
func (m *Map) Place(j int) int {
	before, found := slices.BinarySearch(m.free, j)
	if found || j < 0 || j >= m.d {
		return -1
	}
	return j - before
}

// Penalize returns a Map that divides by the roots of other penalties. penalty has one positive number for each of the
// [Map.Dim] columns that remain after the change; nil means 1 for each. The projection stays the same, because it is
// applied before the division.
func (m *Map) Penalize(penalty []float64) (*Map, error) {
	if penalty != nil && len(penalty) != m.Dim() {
		return nil, badinput.Errorf("columns: %d penalties for %d columns", len(penalty), m.Dim())
	}
	out := *m
	out.penalty = slices.Clone(penalty)
	_, err := out.scaling()
	return &out, err
}

// Learn makes a pass over src if the Map depends on the rows, and returns the learned Map. Otherwise it returns m.
// opts.Rounding is ignored, because m has its own. The errors are the errors of [NewProjection].
func (m *Map) Learn(ctx context.Context, src dataset.Source, opts Options) (*Map, error) {
	if !m.DependsOnRows() {
		return m, nil
	}
	opts.Rounding = m.rounding
	projection, err := NewProjection(ctx, src, m.free, opts)
	if err != nil {
		return nil, err
	}
	out := *m
	out.projection = projection
	return &out, nil
}

// errUnlearned is returned if a Map that has to be learned from the rows is used before Learn.
var errUnlearned = fmt.Errorf("%w: a Map with columns without penalty, before Learn", ridge.ErrShape)

// Apply returns src with the changed columns. src must have the rows that Learn has read.
func (m *Map) Apply(src dataset.Source) (dataset.Source, error) {
	if m.projection == nil && m.DependsOnRows() {
		return nil, errUnlearned
	}
	if m.projection != nil {
		src = m.projection.Apply(src)
	}
	return m.divide(src)
}

// ApplyWithLeverages returns the rows of Apply with the additional targets that [ridge.LeaveOneOut] needs if columns
// were projected out; see [Projection.ApplyWithLeverages]. Otherwise it returns the same rows as Apply.
func (m *Map) ApplyWithLeverages(src dataset.Source) (dataset.Source, error) {
	if m.projection == nil {
		return m.Apply(src)
	}
	return m.divide(m.projection.ApplyWithLeverages(src))
}

// divide divides the columns by the roots of their penalties.
func (m *Map) divide(src dataset.Source) (dataset.Source, error) {
	scaling, err := m.scaling()
	if scaling == nil || err != nil {
		return src, err
	}
	return scaling.Apply(src)
}

// Errors returns bounds on the errors of the rows that Apply returns. If the Map has not been learned yet, it returns
// bounds on the errors of the original rows.
func (m *Map) Errors() ridge.RowErrors {
	switch {
	case m.projection != nil: // its bounds include the division
		return ridge.RowErrors{Projected: m.projection.Rounding(m.penalty)}
	case m.DependsOnRows():
		return ridge.RowErrors{Rounding: m.rounding}
	}
	return ridge.RowErrors{Rounding: ridge.AddRounding(m.rounding, dataset.PenaltyRounding(m.penalty))}
}

// Restore converts solutions for the rows of Apply to solutions for the original columns, in place. Afterwards, Coef
// has the coefficients of all d columns, and Penalty their penalties. The bounds of the solutions include the errors
// of the change of columns. If these errors raise the relative error bound of a target from at most tol to above tol,
// the status becomes [ridge.RoundOff]. A tol of 0 means no tolerance. Restore does not change a solution that already
// has a Penalty. If the Map does not change the columns, Restore changes no solution.
func (m *Map) Restore(fits []*ridge.Solution, tol float64) error {
	switch {
	case m.projection != nil:
		return m.projection.Restore(fits, m.penalty, tol)
	case m.DependsOnRows():
		return errUnlearned
	case m.penalty == nil:
		return nil
	}
	for _, s := range fits {
		s.Unscale(m.penalty)
	}
	return nil
}
