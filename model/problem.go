package model

import (
	"fmt"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// problem returns the problem that the fit of m solved: its rows, with scaled columns, and its options. The
// argument train must be prepared by [Model.Prepare] and have the targets of the fit.
func (m *Model) problem(train dataset.Source) (dataset.Source, ridge.NormalOptions, error) {
	w := &m.Fits[0]
	o := ridge.NormalOptions{Intercept: m.Intercept}
	if _, d, t := train.Dims(); d != len(w.Coef[0]) || t != len(w.Coef) {
		return nil, o, fmt.Errorf(
			"%w: rows of %d features and %d targets, the model has %d and %d",
			errShape, d, t, len(w.Coef[0]), len(w.Coef))
	}
	if m.Folded != nil { // the scaling includes the penalties that are not 0
		scaled, err := m.Folded.Apply(train)
		if err != nil {
			return nil, o, &PreparationError{err}
		}
		train = scaled
		o.Rounding = m.Folded.Rounding()
	}
	if m.Penalty.unpenalized() {
		o.Penalty = make([]float64, len(w.Coef[0]))
		for j := range o.Penalty {
			if !m.Unpenalized(j) {
				o.Penalty[j] = 1
			}
		}
	}
	return train, o, nil
}
