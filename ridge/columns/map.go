// Package columns changes the columns of a ridge regression before a fit. It divides columns by the square roots of
// their penalties, and projects columns without penalty out of the other columns. A [Map] changes the rows that the
// fit reads. After the fit, the Map converts the solutions and all their bounds back to the original columns.
package columns

import (
	"context"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// A Map changes the penalty of a ridge problem. The problem has the penalty γ·Σ pⱼxⱼ² on the coefficients x.
// The Map turns it into a problem with the penalty γ‖z‖² on other coefficients z. Each column j has a penalty
// pⱼ ≥ 0:
//
//   - A column with pⱼ > 0 is divided by √pⱼ. Then xⱼ = zⱼ/√pⱼ.
//   - Columns with pⱼ = 0 are projected out of the other columns and of the targets; see [Projection]. One pass
//     over the rows computes the projection.
//
// No method changes a Map: Learn and Penalize return a new Map.
type Map struct {
	d       int
	free    []int     // the columns with pⱼ = 0, ascending
	penalty []float64 // pⱼ of the other columns; nil means 1
	// bounds on the relative rounding errors of all d columns, as in ridge.RowErrors; nil means exact columns
	rounding   []float64
	projection *Projection // nil before Learn, and without columns in free
}

// New returns the Map of d columns with the given penalties. A nil penalty means 1 for each column. The columns in
// unpenalized have penalty 0, whatever penalty says. rounding bounds the rounding errors of the columns, as in
// [ridge.RowErrors]; nil means that the columns are exact.
//
// The error is [ridge.ErrInput] if a list has a wrong length, a penalty is negative or not finite, or a column does
// not exist. It is also [ridge.ErrInput] if no column has a positive penalty.
func New(
	d int,
	penalty []float64,
	unpenalized []int,
	rounding []float64,
) (*Map, error) {
	switch {
	case penalty != nil && len(penalty) != d:
		return nil, errtext.BadInput("columns: there must be one penalty for each feature")
	case rounding != nil && len(rounding) != d:
		return nil, errtext.BadInput("columns: the rounding of %d features, the rows have %d", len(rounding), d)
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
		return nil, errtext.BadInput("columns: a column must be from 0 to %d", d-1)
	}
	for j, p := range penalty {
		if m.Place(j) >= 0 {
			m.penalty = append(m.penalty, p)
		}
	}
	if d > 0 && m.Dim() == 0 {
		return nil, errtext.BadInput(
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
// that is learned from other rows changes the columns differently.
func (m *Map) DependsOnRows() bool { return len(m.free) > 0 }

// Penalty returns the penalties of the columns that remain after the change of columns, for ridge.Summary.Penalize.
// A nil result means that all penalties are 1.
func (m *Map) Penalty() []float64 { return slices.Clone(m.penalty) }

// Place returns the number of column j after the change of columns. It returns −1 if column j does not exist, or if
// it was removed because it has no penalty.
func (m *Map) Place(j int) int {
	before, found := slices.BinarySearch(m.free, j)
	if found || j < 0 || j >= m.d {
		return -1
	}
	return j - before
}

// Penalize returns a Map with other penalties. penalty has one positive number for each of the [Map.Dim] columns
// that remain after the change of columns; nil means 1 for each. The projection stays the same, because it is
// applied before the columns are divided by the roots of their penalties.
func (m *Map) Penalize(penalty []float64) (*Map, error) {
	if penalty != nil && len(penalty) != m.Dim() {
		return nil, errtext.BadInput("columns: %d penalties for %d columns", len(penalty), m.Dim())
	}
	out := *m
	out.penalty = slices.Clone(penalty)
	_, err := out.scaling()
	return &out, err
}

// Learn makes a pass over src if the Map depends on the rows, and returns the learned Map. If the Map does not
// depend on the rows, Learn returns m. opts.Rounding is ignored, because m has its own bounds on rounding errors.
// Errors are the errors of [NewProjection].
func (m *Map) Learn(
	ctx context.Context,
	src dataset.Source,
	opts Options,
) (*Map, error) {
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

// errUnlearned is returned if a Map is used before Learn, although it has to be learned from the rows.
var errUnlearned = fmt.Errorf("%w: a Map with columns without penalty, before Learn", ridge.ErrShape)

// Apply returns src with the changed columns. src must have the same rows that Learn has read.
func (m *Map) Apply(src dataset.Source) (dataset.Source, error) {
	if m.projection == nil && m.DependsOnRows() {
		return nil, errUnlearned
	}
	if m.projection != nil {
		src = m.projection.Apply(src)
	}
	return m.divide(src)
}

// ApplyWithLeverages returns the rows of Apply. If columns were projected out, the rows have the additional targets
// that [ridge.LeaveOneOut] needs; see [Projection.ApplyWithLeverages].
func (m *Map) ApplyWithLeverages(src dataset.Source) (dataset.Source, error) {
	if m.projection == nil {
		return m.Apply(src)
	}
	return m.divide(m.projection.ApplyWithLeverages(src))
}

// divide returns src with each column divided by the square root of its penalty.
func (m *Map) divide(src dataset.Source) (dataset.Source, error) {
	scaling, err := m.scaling()
	if scaling == nil || err != nil {
		return src, err
	}
	return scaling.Apply(src)
}

// Errors returns bounds on the errors of the rows that Apply returns. If the Map has to be learned from the rows
// but has not been, it returns bounds on the errors of the original rows.
func (m *Map) Errors() ridge.RowErrors {
	switch {
	case m.projection != nil: // its bounds include the division
		return ridge.RowErrors{Projected: m.projection.Rounding(m.penalty)}
	case m.DependsOnRows():
		return ridge.RowErrors{Rounding: m.rounding}
	}
	return ridge.RowErrors{Rounding: ridge.AddRounding(m.rounding, dataset.PenaltyRounding(m.penalty))}
}

// Restore converts solutions for the rows of Apply to solutions for the original columns, in place. Afterwards,
// Coef has the coefficients of all d columns, and Penalty their penalties. The bounds of the solutions include the
// errors of the change of columns. These errors may raise the relative error bound of a target from at most tol to
// above tol. The status then becomes [ridge.RoundOff]. A tol of 0 means no tolerance.
//
// Restore does not change a solution that already has a Penalty. If the Map does not change the columns, Restore
// changes no solution.
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
