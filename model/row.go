package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge"
)

// RowMap is the preparation for rows at hand, in place of those of a source: it makes of a row as
// it comes the features that the weights apply to. Errors are those of Apply; an encoding, which may
// leave rows out, is a *[PreparationError]: a [dataset.RowEncoder] encodes them.
func (p *Preparation) RowMap() (*dataset.RowMap, error) {
	if p.Encoding != nil {
		return nil, &PreparationError{badinput.Errorf("model: missing values and categories are encoded by a dataset.RowEncoder, not by a map of rows")}
	}
	return dataset.NewRowMap(p.Inputs, func(src dataset.Source) (dataset.Source, error) { return p.Apply(src, nil) })
}

// rowWork is for predicting row by row.
type rowWork struct {
	encode   *dataset.RowEncoder // nil: rows are numbers
	columns  []float64           // what it makes
	prepare  *dataset.RowMap
	features []float64
}

// PredictRow predicts for one row x as it comes, which it prepares: it overwrites yhat, of length t
// as of Dims, and within, nil or of length t, with the intervals, which must have been asked for.
// Where the model has an encoding NaN is a missing value, and a number in a categorical column a
// level; of a model that leaves out rows with missing values, yhat of one that has some is NaN, and
// within all numbers.
//
// What does not follow from the row, such as W of Fourier features, is made by the first call, and
// none after it allocates. Other lengths, and intervals that were not asked for, are [ErrShape]; a
// row that is not finite, and a level that the model does not know ([dataset.ErrUnknownLevel]) where
// Encode does not ignore it, are [ErrInput], a prediction that is not finite an *[OverflowError] of
// row 0.
func (p *Predictor) PredictRow(yhat []float64, within []ridge.Interval, x []float64) error {
	if err := p.readyRow(len(yhat), len(x), within); err != nil {
		return err
	}
	columns := x
	if p.row.encode != nil {
		complete, err := p.row.encode.Numbers(p.row.columns, x)
		if err != nil {
			return err
		}
		if !complete {
			return unknownRow(yhat, within)
		}
		columns = p.row.columns
	}
	return p.predictColumns(yhat, within, columns)
}

// PredictCells is PredictRow for a row of cells as text, as a form or a line of csv has them: numbers,
// True and False, the levels of categorical columns, and where the model allows for missing values
// an empty cell or one of their marks.
func (p *Predictor) PredictCells(yhat []float64, within []ridge.Interval, cells []string) error {
	if err := p.readyRow(len(yhat), len(cells), within); err != nil {
		return err
	}
	if p.row.encode == nil {
		e, err := dataset.NewEncoding(len(cells), p.prep.Names, dataset.RefuseMissing, nil)
		if err != nil {
			return err
		}
		if err := p.row.encodeBy(e, p.Encode); err != nil {
			return err
		}
	}
	complete, err := p.row.encode.Texts(p.row.columns, cells)
	if err != nil {
		return err
	}
	if !complete {
		return unknownRow(yhat, within)
	}
	return p.predictColumns(yhat, within, p.row.columns)
}

// readyRow checks the lengths of a row's prediction, and prepares for the first.
func (p *Predictor) readyRow(yhat, x int, within []ridge.Interval) error {
	t, d := p.Dims()
	switch {
	case p.fit == nil:
		return errUnmade
	case x != d || yhat != t || within != nil && len(within) != t:
		return fmt.Errorf("%w: a row of %d columns, %d predictions and %d intervals, of %d columns and %d targets", errShape, x, yhat, len(within), d, t)
	case within != nil && p.intervals == nil:
		return fmt.Errorf("%w: intervals of a predictor that was made without", errShape)
	case p.row.prepare != nil:
		return nil
	}
	if p.prep.Encoding != nil {
		if err := p.row.encodeBy(p.prep.Encoding, p.Encode); err != nil {
			return err
		}
	}
	encoded := p.prep
	encoded.Encoding = nil
	m, err := encoded.RowMap()
	if err != nil {
		return err
	}
	_, made := m.Dims()
	p.row.prepare, p.row.features = m, make([]float64, made)
	return nil
}

func (w *rowWork) encodeBy(e *dataset.Encoding, o dataset.EncodeOptions) (err error) {
	if w.encode, err = e.RowEncoder(o); err != nil {
		return &PreparationError{err}
	}
	w.columns = make([]float64, e.Width())
	return nil
}

// unknownRow says that nothing is predicted for a row.
func unknownRow(yhat []float64, within []ridge.Interval) error {
	for j := range yhat {
		yhat[j] = math.NaN()
	}
	for j := range within {
		within[j] = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	return nil
}

// predictColumns predicts for a row that is encoded.
func (p *Predictor) predictColumns(yhat []float64, within []ridge.Interval, columns []float64) error {
	if err := p.row.prepare.Row(p.row.features, columns); err != nil {
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
