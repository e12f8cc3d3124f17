package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// A Penalty holds a factor pⱼ = Before[j]·After[j] for each column j. If the coefficients are xⱼ, the penalty term
// of the fit is γ·Σ pⱼxⱼ² instead of γ·Σ xⱼ². The scaling in the [Preparation] of the rows includes both
// factors. If pⱼ is 0, column j has no penalty and is not scaled by it.
type Penalty struct {
	// Before are the penalties by which the columns were scaled before the sketch was made. After are the penalties
	// by which the columns of the sketch were scaled later, see [ridge.Summary.Penalize]. A nil list stands for
	// penalties 1.
	Before []float64 `json:"before,omitempty"`
	After  []float64 `json:"after,omitempty"`
	Bands  []Band    `json:"bands,omitempty"` // the groups of columns whose penalties were given or chosen
}

// A Band is a group of columns that share a penalty. Columns describes the group in the words of the user.
type Band struct {
	Columns string  `json:"columns"`
	Penalty float64 `json:"penalty"`
}

// Bands converts groups of columns that share a penalty to the type [Band].
func Bands(bands []choose.Band) []Band {
	var out []Band
	for _, b := range bands {
		out = append(out, Band{b.Name, b.Penalty})
	}
	return out
}

// unpenalized reports whether any column has no penalty.
func (p *Penalty) unpenalized() bool {
	return p != nil && (slices.Contains(p.Before, 0) || slices.Contains(p.After, 0))
}

// Unpenalized reports whether column j has no penalty.
func (m *Model) Unpenalized(j int) bool {
	p := m.Penalty
	return p != nil &&
		(len(p.Before) > 0 && p.Before[j] == 0 || len(p.After) > 0 && p.After[j] == 0)
}

// check returns an error unless each list of penalties is nil, or has d finite numbers that are not negative.
func (p *Penalty) check(d int) error {
	if p == nil {
		return nil
	}
	for _, list := range [][]float64{p.Before, p.After} {
		if list != nil && len(list) != d {
			return fmt.Errorf("%d penalties for %d columns", len(list), d)
		}
		i := slices.IndexFunc(list, func(v float64) bool {
			return !(v >= 0) ||
				!vec.IsFinite(v)
		})
		if i >= 0 {
			return fmt.Errorf("penalty %d is %v", i+1, list[i])
		}
	}
	return nil
}

// errExpanded reports penalties together with computed features.
var errExpanded = errors.New(
	"penalties apply to columns, and features are computed from them: fit without features, or without a penalty",
)

// Penalize returns a preparation that applies p and then divides each column j by √penalty[j], see
// [dataset.Penalty]. A column with penalty 0 is not divided. If penalty is nil, the result is p. If p computes
// features, if p scales another number of columns, or if a penalty is negative or not finite, the error is a
// *[PreparationError].
func (p Preparation) Penalize(penalty []float64) (Preparation, error) {
	if penalty == nil {
		return p, nil
	}
	penalty = slices.Clone(penalty)
	for j, v := range penalty {
		if v == 0 {
			penalty[j] = 1
		}
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

// penaltyOf returns the penalties of the columns that all solutions have in common. It returns an error if the
// solutions have different penalties.
func penaltyOf(solutions []*ridge.Solution) ([]float64, error) {
	p := solutions[0].Penalty
	if slices.ContainsFunc(solutions, func(f *ridge.Solution) bool {
		return !slices.Equal(f.Penalty, p)
	}) {
		return nil, fmt.Errorf("%w: the solutions have different penalties", errShape)
	}
	return p, nil
}

// asPrepared returns the summary sum of a sketch if its rows were prepared like the training rows. The argument
// prep is the preparation of its rows, and nil means that it is the same. If prep lacks only the penalties
// m.Penalty.After, asPrepared returns sum with these penalties applied. If prep differs otherwise, ok is false.
func (m *Model) asPrepared(sum *ridge.Summary, prep *Preparation) (of *ridge.Summary, ok bool, err error) {
	if prep == nil || prep.Equals(m.FittedPreparation()) {
		return sum, true, nil
	}
	if m.Penalty == nil || m.Penalty.After == nil {
		return nil, false, nil
	}
	penalised, err := prep.Penalize(m.Penalty.After)
	if err != nil || !penalised.Equals(m.FittedPreparation()) {
		return nil, false, nil
	}
	of, err = sum.Penalize(m.Penalty.After)
	return of, err == nil, err
}
