package model

import (
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge"
)

// RowMap is the preparation for rows at hand, in place of those of a source: it makes of a row as
// it comes the features that the weights apply to. Errors are those of Apply; an encoding, which may
// leave rows out and make sparse ones, is for sources ([dataset.FromTable] makes one of a row) and
// a *[PreparationError] here.
func (p *Preparation) RowMap() (*dataset.RowMap, error) {
	if p.Encoding != nil {
		return nil, &PreparationError{badinput.Errorf("model: missing values and categories are encoded as rows of a source come, not in a row at hand: see dataset.FromTable")}
	}
	return dataset.NewRowMap(p.Inputs, func(src dataset.Source) (dataset.Source, error) { return p.Apply(src, nil) })
}

// rowWork is for predicting row by row.
type rowWork struct {
	prepare  *dataset.RowMap
	features []float64
}

// PredictRow predicts for one row x as it comes, which it prepares: it overwrites yhat, of length t
// as of Dims, and within, nil or of length t, with the intervals, which must have been asked for.
// What does not follow from the row, such as W of Fourier features, is made by the first call, and
// none after it allocates. Other lengths, and intervals that were not asked for, are [ErrShape]; a
// row that is not finite is [ErrInput], a prediction that is not an *[OverflowError] of row 0.
func (p *Predictor) PredictRow(yhat []float64, within []ridge.Interval, x []float64) error {
	t, d := p.Dims()
	switch {
	case p.fit == nil:
		return errUnmade
	case len(x) != d || len(yhat) != t || within != nil && len(within) != t:
		return fmt.Errorf("%w: a row of %d columns, %d predictions and %d intervals, of %d columns and %d targets", errShape, len(x), len(yhat), len(within), d, t)
	case within != nil && p.intervals == nil:
		return fmt.Errorf("%w: intervals of a predictor that was made without", errShape)
	}
	if p.row.prepare == nil {
		m, err := p.prep.RowMap()
		if err != nil {
			return err
		}
		_, made := m.Dims()
		p.row = rowWork{m, make([]float64, made)}
	}
	if err := p.row.prepare.Row(p.row.features, x); err != nil {
		return err
	}
	if err := p.fit.PredictRow(yhat, p.row.features); err != nil {
		return err
	}
	if slices.ContainsFunc(yhat, func(v float64) bool { return !isFinite(v) }) {
		return &OverflowError{0}
	}
	if within == nil {
		return nil
	}
	return p.intervals.Predict(within, dataset.Block{N: 1, X: p.row.features})
}
