package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// RowMap returns a map that prepares single rows as [Preparation.Apply] prepares many, with the same errors. If p
// has an encoding, the error is a *[PreparationError]; encode single rows with a [prepare.RowEncoder] instead.
func (p *Preparation) RowMap() (*dataset.RowMap, error) {
	if p.Encoding != nil {
		return nil, &PreparationError{
			errtext.BadInput(
				"model: missing values and categories are encoded by a prepare.RowEncoder, not by a map of rows",
			),
		}
	}
	return dataset.NewRowMap(p.Inputs, func(src dataset.Source) (dataset.Source, error) {
		return p.Apply(src, nil)
	})
}

// rowWork is the workspace for predicting single rows.
type rowWork struct {
	encode   *prepare.RowEncoder // nil without an encoding
	columns  []float64           // the encoded row
	prepare  *dataset.RowMap
	features []float64
}

// PredictRow prepares the row x and writes its predictions to yhat, of length t (see Dims). If intervals is not nil,
// it must have length t, and PredictRow writes the intervals of the predictions to it.
//
// If the model has an encoding, NaN is a missing value, and a number in a categorical column is a category. If the
// model leaves out rows with missing values, their predictions are NaN and the intervals unbounded.
//
// Only the first call allocates memory. It also draws random Fourier features.
//
// Errors:
//
//   - [ErrShape] if a length is wrong, or if p has no intervals and intervals is not nil
//   - [ErrInput] if the row is not finite, or has an unknown level ([dataset.ErrUnknownLevel]) that Encode
//     does not ignore
//   - an *[OverflowError] with row 0
func (p *Predictor) PredictRow(yhat []float64, intervals []ridge.Interval, x []float64) error {
	if err := p.readyRow(len(yhat), len(x), intervals); err != nil {
		return err
	}
	if p.row.encode == nil {
		return p.predictColumns(yhat, intervals, x, true)
	}
	complete, err := p.row.encode.Numbers(p.row.columns, x)
	if err != nil {
		return err
	}
	return p.predictColumns(yhat, intervals, p.row.columns, complete)
}

// PredictCells predicts as PredictRow does, but for a row of texts, for example from a form or a line of csv. A
// cell may be a number, True, False or a category. If the model allows missing values, it may be empty or a mark
// such as NA.
func (p *Predictor) PredictCells(yhat []float64, intervals []ridge.Interval, cells []string) error {
	if err := p.readyRow(len(yhat), len(cells), intervals); err != nil {
		return err
	}
	if p.row.encode == nil {
		e, err := prepare.NewEncoding(len(cells), p.prep.Names, prepare.RefuseMissing, nil)
		if err != nil {
			return err
		}
		if err := p.row.encodeBy(e, p.Encode, p.prep.Text); err != nil {
			return err
		}
	}
	complete, err := p.row.encode.Texts(p.row.columns, cells)
	if err != nil {
		return err
	}
	return p.predictColumns(yhat, intervals, p.row.columns, complete)
}

// readyRow returns an error if the length of an argument is wrong. The first call also allocates memory for single
// rows.
func (p *Predictor) readyRow(yhat, x int, intervals []ridge.Interval) error {
	t, d := p.Dims()
	switch {
	case p.fit == nil:
		return errZeroPredictor
	case x != d || yhat != t || intervals != nil && len(intervals) != t:
		return fmt.Errorf(
			"%w: a row of %d columns, %d predictions and %d intervals, of %d columns and %d targets",
			errShape,
			x,
			yhat,
			len(intervals),
			d,
			t,
		)
	case intervals != nil && p.bounds == nil:
		return fmt.Errorf("%w: intervals of a predictor that was made without", errShape)
	case p.row.prepare != nil:
		return nil
	}
	if p.prep.Encoding != nil {
		if err := p.row.encodeBy(p.prep.Encoding, p.Encode, p.prep.Text); err != nil {
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

func (w *rowWork) encodeBy(
	e *prepare.Encoding,
	o prepare.EncodeOptions,
	text *prepare.Text,
) (err error) {
	if text != nil && o.Text.IsZero() {
		o.Text = *text
	}
	w.encode, err = e.RowEncoder(o)
	if err != nil {
		return &PreparationError{err}
	}
	w.columns = make([]float64, e.Width())
	return nil
}

// setUnknown sets all predictions to NaN and all intervals to (−∞, ∞).
func setUnknown(yhat []float64, intervals []ridge.Interval) {
	for j := range yhat {
		yhat[j] = math.NaN()
	}
	for j := range intervals {
		intervals[j] = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
}

// predictColumns predicts the targets of a row whose categories are encoded. If complete is false, a value of the
// row is missing, and the predictions are NaN.
func (p *Predictor) predictColumns(
	yhat []float64,
	intervals []ridge.Interval,
	columns []float64,
	complete bool,
) error {
	if !complete {
		setUnknown(yhat, intervals)
		return nil
	}
	if err := p.row.prepare.Row(p.row.features, columns); err != nil {
		return err
	}
	if err := p.fit.PredictRow(yhat, p.row.features); err != nil {
		return err
	}
	if slices.ContainsFunc(yhat, func(v float64) bool { return !vec.IsFinite(v) }) {
		return &OverflowError{0}
	}
	if intervals == nil {
		return nil
	}
	b := dataset.Block{N: 1, X: p.row.features}
	if err := p.bounds.bracket(context.Background(), intervals, b); err != nil {
		return err
	}
	p.bounds.finish(intervals, yhat, b, 0)
	return nil
}
