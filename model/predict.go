package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// Intervals selects a kind of prediction intervals:
//
//   - [ExactIntervals] are proved to contain the prediction of the exact ridge solution at the model's γ. They do
//     not account for the noise of observations.
//   - [CoverageIntervals] and [JackknifeIntervals] are intervals for new observations, which have noise.
type Intervals interface {
	// of makes p compute intervals of this kind. p is a predictor of m that has no intervals yet.
	of(m *Model, p *Predictor) error
}

// bounds computes the intervals of a [Predictor].
type bounds interface {
	basis() Basis
	// bracket writes intervals for the rows of the block b to dst. For t targets, the interval for row i and target
	// j is dst[i·t + j]. The rows of b must be prepared as for the fit.
	bracket(ctx context.Context, dst []ridge.Interval, b dataset.Block) error
	// finish completes the intervals dst that bracket wrote for row i of b. yhat holds the predictions for this
	// row.
	finish(dst []ridge.Interval, yhat []float64, b dataset.Block, i int)
}

// A Basis names the data from which prediction intervals were computed. It is "" if there are no intervals.
type Basis string

// A Predictor prepares rows and predicts their targets. Only one goroutine at a time may use a Predictor.
type Predictor struct {
	// Encode holds options for a model that encodes rows. Set it before Predict is called. For rows from files,
	// Encode.Cells is required. The model may leave out rows with missing values; their predictions are NaN.
	Encode prepare.EncodeOptions

	prep   Preparation
	fit    *ridge.Solution
	bounds bounds // nil without intervals
	row    rowWork
}

// A Prediction is the prediction for one row.
type Prediction struct {
	Row       int64            // row number in the source, from 0
	Y         []float64        // one for each target; NaN for a row with missing values, if the model leaves such rows out
	Intervals []ridge.Interval // one for each target; nil if the predictor has no intervals
	Observed  []float64        // the targets in the source, if any
	Last      bool             // the row is the last of its block; the next block of a [dataset.Pipe] may take time
}

// FittedPreparation returns how the training rows were prepared for the fit. This includes the scaling m.Folded. If
// a sketch is used for [ExactIntervals], its rows must be prepared in the same way.
func (m *Model) FittedPreparation() Preparation {
	p := m.Preparation
	if m.Folded != nil {
		p.Scaling = m.Folded
	}
	return p
}

// Prepare returns the rows of src, prepared such that the coefficients of the model apply to them. If this is
// impossible, for example because the number of columns is wrong, the error is a *[PreparationError].
func (m *Model) Prepare(src dataset.Source) (dataset.Source, error) {
	d := m.Features
	if len(m.Fits) > 0 && len(m.Fits[0].Coef) > 0 {
		d = len(m.Fits[0].Coef[0]) // all fits have as many
	}
	return m.Preparation.applyForWeights(src, d, prepare.EncodeOptions{})
}

// applyForWeights returns the rows of src, prepared by p. It returns an error unless the result has d features.
func (p *Preparation) applyForWeights(
	src dataset.Source,
	d int,
	o prepare.EncodeOptions,
) (dataset.Source, error) {
	src, err := p.ApplyEncoded(src, nil, o)
	if err != nil {
		return nil, err
	}
	if _, made, _ := src.Dims(); made != d {
		return nil, &PreparationError{
			fmt.Errorf("%w: the model makes %d features, and has %d weights", errShape, made, d),
		}
	}
	return src, nil
}

// Predictor returns a predictor for a model with a single γ; see [Model.At] for a model with several. If by is nil,
// the predictor has no intervals.
//
// Errors:
//   - *[GammaError] if the model has several γ
//   - [ErrShape] if the model has no fits
//   - the errors that the documentation of the type of by lists
func (m *Model) Predictor(by Intervals) (*Predictor, error) {
	if len(m.Fits) == 0 {
		return nil, fmt.Errorf("%w: a model without a fit", errShape)
	}
	if len(m.Fits) != 1 {
		return nil, &GammaError{math.NaN(), m.Gammas()}
	}
	p := &Predictor{
		prep: m.Preparation,
		fit: solution(
			&m.Fits[0],
			m.Fits[0].Coef,
			m.Fits[0].Intercept,
		),
	}
	if by == nil {
		return p, nil
	}
	if err := by.of(m, p); err != nil {
		return nil, err
	}
	return p, nil
}

// solution returns a solution with the given coefficients and intercepts, and the penalty of the fit w. It has no
// certificates.
func solution(w *Fit, coef [][]float64, intercept []float64) *ridge.Solution {
	f := &ridge.Solution{
		Outcome: ridge.Outcome{Gamma: w.Gamma, Gammas: w.Gammas},
		Targets: make([]ridge.Target, len(coef)),
	}
	for j, c := range coef {
		f.Targets[j] = ridge.Target{
			Coef:         slices.Clone(c),
			Intercept:    intercept[j],
			ComputedTSS:  math.NaN(),
			GradientNorm: math.NaN(),
		}
	}
	return f
}

// Solution returns the coefficients and intercepts of w, in the units of the file, as a solution without
// certificates.
func (w *Fit) Solution() *ridge.Solution {
	return solution(w, w.Coef, w.Intercept)
}

// useFitted makes p predict from scaled columns by [Fit].Fitted.
func (p *Predictor) useFitted(m *Model) {
	if m.Folded == nil {
		return
	}
	p.prep = m.FittedPreparation()
	if w := &m.Fits[0]; w.Fitted != nil {
		p.fit = solution(w, w.Fitted.Coef, w.Fitted.Intercept)
		return
	}
	for j := range p.fit.Targets {
		o := &p.fit.Targets[j]
		for i := range o.Coef {
			o.Intercept += o.Coef[i] * m.Folded.Mean[i]
			o.Coef[i] *= m.Folded.Scale[i]
		}
	}
}

// Basis returns the name of the data from which p computes intervals. It returns "" if p computes no intervals.
func (p *Predictor) Basis() Basis {
	if p.bounds == nil {
		return ""
	}
	return p.bounds.basis()
}

// Dims returns the number of targets t, and the number of columns d that a row has before its preparation.
func (p *Predictor) Dims() (t, d int) {
	if p.fit == nil { // the zero value
		return 0, 0
	}
	t, _ = p.fit.Dims()
	d, _ = p.prep.Columns()
	return t, d
}

// Predict makes one pass over src, prepares its rows, and yields a prediction for each row. A prediction is valid
// only until the next one is yielded. The pass ends after an error:
//
//   - a *[PreparationError], an *[OverflowError] or an error of src
//   - [ridge.ErrOtherRows], if a summary and the model prove intervals for a prediction that are disjoint
func (p *Predictor) Predict(ctx context.Context, src dataset.Source) iter.Seq2[Prediction, error] {
	return func(yield func(Prediction, error) bool) {
		err := p.predict(ctx, src, func(one Prediction) bool { return yield(one, nil) })
		if err != nil && !errors.Is(err, errEnough) {
			yield(Prediction{}, err)
		}
	}
}

// errEnough ends a pass because the consumer has stopped.
var errEnough = errors.New("enough")

func (p *Predictor) predict(
	ctx context.Context,
	src dataset.Source,
	yield func(Prediction) bool,
) error {
	if p.fit == nil {
		return errZeroPredictor
	}
	k, weights := p.fit.Dims()
	var incomplete rowNumbers
	options := p.Encode
	options.KeepIncomplete, options.Incomplete = true, incomplete.add
	src, err := p.prep.applyForWeights(src, weights, options)
	if err != nil {
		return err
	}
	_, d, t := src.Dims()
	var all []float64 // the predictions of some rows of a block
	var within []ridge.Interval
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if p.bounds != nil {
			within = slices.Grow(within[:0], b.N*k)[:b.N*k]
			if err := p.bounds.bracket(ctx, within, b); err != nil {
				return err
			}
		}
		step := max(1, mostPredicted/max(1, k))
		for i := range b.N {
			if i%step == 0 {
				size := min(step, b.N-i) * k
				all = slices.Grow(all[:0], size)[:size]
				if err := p.predictRows(all, b, i, k, d); err != nil {
					return err
				}
			}
			yhat := all[i%step*k:][:k:k]
			one := Prediction{
				Row:      b.First + int64(i),
				Y:        yhat,
				Observed: b.Y[i*t : (i+1)*t],
				Last:     i == b.N-1,
			}
			if p.bounds != nil {
				one.Intervals = within[i*k : (i+1)*k]
				p.bounds.finish(one.Intervals, yhat, b, i)
			}
			if incomplete.has(one.Row) {
				setUnknown(one.Y, one.Intervals)
			} else if slices.ContainsFunc(yhat, func(v float64) bool {
				return !vec.IsFinite(v)
			}) {
				return &OverflowError{one.Row}
			}
			if !yield(one) {
				return errEnough
			}
		}
	}
	return nil
}

// mostPredicted limits how many predictions are computed together.
const mostPredicted = 1 << 20

// predictRows writes the predictions for rows of b to all, starting with the row first. Each row has k predictions
// and d features. It uses all cores.
func (p *Predictor) predictRows(all []float64, b dataset.Block, first, k, d int) error {
	n := len(all) / max(1, k)
	return parallel.Do(64, len(all)*d, func(part int) error {
		for i := n * part / 64; i < n*(part+1)/64; i++ {
			row := all[i*k : (i+1)*k]
			if err := predictRow(p.fit, row, b, first+i, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// PredictMatrix returns the predictions for the rows of x. If x has n rows and the model has t targets, the result
// is an n×t matrix. If p has intervals, element i·t + j of the list is the interval for row i and target j.
// Otherwise the list is nil. Errors are as in Predict.
func (p *Predictor) PredictMatrix(x mat.Matrix) (*mat.Dense, []ridge.Interval, error) {
	if p.fit == nil {
		return nil, nil, errZeroPredictor
	}
	if x == nil {
		return nil, nil, fmt.Errorf("%w: no matrix", errShape)
	}
	n, d := x.Dims()
	if n == 0 {
		return &mat.Dense{}, nil, nil
	}
	rows := mat.DenseCopyOf(x)
	from := dataset.FromDense
	if p.prep.Encoding != nil { // FromTable allows NaN as a missing value
		from = dataset.FromTable
	}
	src, err := from(n, d, 0, rows.RawMatrix().Data, nil)
	if err != nil {
		return nil, nil, err
	}
	t, _ := p.fit.Dims()
	out := mat.NewDense(n, t, nil)
	var within []ridge.Interval
	for one, err := range p.Predict(context.Background(), src) {
		if err != nil {
			return nil, nil, err
		}
		out.SetRow(int(one.Row), one.Y)
		within = append(within, one.Intervals...)
	}
	return out, within, nil
}

// Predict yields the predictions for the rows of src without intervals; see [Predictor.Predict]. The model must
// have a single γ.
func (m *Model) Predict(ctx context.Context, src dataset.Source) iter.Seq2[Prediction, error] {
	p, err := m.Predictor(nil)
	if err != nil {
		return func(yield func(Prediction, error) bool) { yield(Prediction{}, err) }
	}
	return p.Predict(ctx, src)
}

// PredictMatrix returns the predictions for the rows of x without intervals; see [Predictor.PredictMatrix]. The
// model must have a single γ.
func (m *Model) PredictMatrix(x mat.Matrix) (*mat.Dense, error) {
	p, err := m.Predictor(nil)
	if err != nil {
		return nil, err
	}
	out, _, err := p.PredictMatrix(x)
	return out, err
}
