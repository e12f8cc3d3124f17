package model

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A Penalty is what columns were penalised by, γ·Σ pⱼxⱼ² in place of γ‖x‖²: pⱼ is the product of
// what Before and After have of column j. It is in the scaling of the columns already, by which rows
// are prepared; here it is on record.
type Penalty struct {
	// Before is what the rows were penalised by as they came, After what was put on their sketch,
	// which was made without it ([ridge.Summary.Penalize]); nil is 1 for each column.
	Before []float64 `json:"before,omitempty"`
	After  []float64 `json:"after,omitempty"`
	Bands  []Band    `json:"bands,omitempty"` // the groups of columns that it was given by, or chosen for
}

// A Band is a group of columns with a penalty in common, as it was named.
type Band struct {
	Columns string  `json:"columns"`
	Penalty float64 `json:"penalty"`
}

// Bands are those of a fit.
func Bands(of []choose.Band) []Band {
	var out []Band
	for _, b := range of {
		out = append(out, Band{b.Name, b.Penalty})
	}
	return out
}

// valid checks that there is a positive number for each of d columns.
func (p *Penalty) valid(d int) error {
	if p == nil {
		return nil
	}
	for _, list := range [][]float64{p.Before, p.After} {
		if list != nil && len(list) != d {
			return fmt.Errorf("%d penalties for %d columns", len(list), d)
		}
		if i := slices.IndexFunc(list, func(v float64) bool { return !(v > 0) || !isFinite(v) }); i >= 0 {
			return fmt.Errorf("penalty %d is %v", i+1, list[i])
		}
	}
	return nil
}

// errExpanded refuses penalties of features.
var errExpanded = errors.New("a penalty is of columns, and features are computed of these: fit without features, or without a penalty")

// Penalize is the preparation of rows whose columns are divided by √pⱼ besides, see
// [dataset.Penalty]; nil is p as it is. Where features are computed, or p is of another number of
// columns, it is a *[PreparationError].
func (p Preparation) Penalize(penalty []float64) (Preparation, error) {
	if penalty == nil {
		return p, nil
	}
	var err error
	switch {
	case p.Expansion() != nil:
		err = fmt.Errorf("%w: %w", errShape, errExpanded)
	case p.Scaling == nil:
		p.Scaling, err = dataset.Penalty(penalty)
	default:
		p.Scaling, err = p.Scaling.Penalize(penalty)
	}
	if err != nil {
		return p, &PreparationError{err}
	}
	return p, nil
}

// penaltyOf is what the solutions were penalised by, which must be the same for all.
func penaltyOf(solutions []*ridge.Solution) ([]float64, error) {
	p := solutions[0].Penalty
	if slices.ContainsFunc(solutions, func(f *ridge.Solution) bool { return !slices.Equal(f.Penalty, p) }) {
		return nil, fmt.Errorf("%w: solutions of different penalties", errShape)
	}
	return p, nil
}

// asPrepared returns a summary of rows that were prepared by prep as one of the model's: with the
// penalty that came after, where the model has one and the rows were prepared without it. ok is
// false where they were prepared in any other way.
func (m *Model) asPrepared(sum *ridge.Summary, prep *Preparation) (of *ridge.Summary, ok bool, err error) {
	if prep == nil || reflect.DeepEqual(*prep, m.FittedPreparation()) {
		return sum, true, nil
	}
	if m.Penalty == nil || m.Penalty.After == nil {
		return nil, false, nil
	}
	penalised, err := prep.Penalize(m.Penalty.After)
	if err != nil || !reflect.DeepEqual(penalised, m.FittedPreparation()) {
		return nil, false, nil
	}
	of, err = sum.Penalize(m.Penalty.After)
	return of, err == nil, err
}
