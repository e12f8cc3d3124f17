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
	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/digits"
	"github.com/fdridge/fdridge/ridge"
)

// Intervals say what the intervals of predictions follow from: ByModel or Summary is required. An
// interval is certain to hold what the exact ridge solution at the model's γ
// predicts; it says nothing of the noise of a future observation.
type Intervals struct {
	// ByModel takes the model's certificate alone. The model must have no intercept
	// ([ErrMeans]) and keep the weights that its certificate is about ([ErrUnrecorded]).
	ByModel bool
	// Summary is of the rows of the fit, prepared as they were for it. Intervals follow from
	// it and from the model's certificate; of the two intervals the intersection is taken.
	Summary *ridge.Summary
	// Preparation is how the rows of Summary were prepared; nil means as
	// [Model.FittedPreparation] says. It may be without the penalty that the model's fit has put on
	// such a summary afterwards: it is put on this one, too.
	Preparation *Preparation
}

// A Basis is what intervals follow from, "" where there are none.
type Basis string

const (
	BySummary Basis = "sketch" // alone: the model does not keep the weights that its certificate is about
	ByModel   Basis = "model"
	ByBoth    Basis = "sketch and model"
)

// A Predictor predicts for rows as they come, which it prepares. It keeps workspace: one
// goroutine at a time may use it.
type Predictor struct {
	// Encode says how rows are encoded, where the model has an encoding: by what [dataset.Cells] they
	// were read, which is of rows from files alone, and what an unknown level is. It is set before Predict.
	// Of a model that leaves out rows with missing values, a row that has one is predicted to be NaN.
	Encode dataset.EncodeOptions

	prep      Preparation
	fit       *ridge.Solution
	intervals *ridge.Predictor // nil: none are asked for
	basis     Basis
	row       rowWork
}

// A Prediction is that for one row.
type Prediction struct {
	Row       int64            // from 0, in its source
	Y         []float64        // one for each target of the model; NaN where a model that leaves out rows with missing values meets one
	Intervals []ridge.Interval // of each, nil where none are asked for
	Observed  []float64        // the targets that the source has, as many as it has
	Last      bool             // of its block: of a [dataset.Pipe], there may be none for some time
}

// FittedPreparation is how the rows of the fit were prepared, the scaling that is folded
// into the weights included. The rows of a summary for [Intervals] are prepared in this way.
func (m *Model) FittedPreparation() Preparation {
	p := m.Preparation
	if m.Folded != nil {
		p.Scaling = m.Folded
	}
	return p
}

// Prepare returns the rows that the weights apply to: those of src, scaled or with Fourier
// or polynomial features. Rows that cannot be prepared, such as those of another number of
// features, are a *[PreparationError].
func (m *Model) Prepare(src dataset.Source) (dataset.Source, error) {
	d := m.Features
	if len(m.Fits) > 0 && len(m.Fits[0].Coef) > 0 {
		d = len(m.Fits[0].Coef[0]) // as have all
	}
	return prepare(&m.Preparation, src, d, dataset.EncodeOptions{})
}

// prepare is Preparation.Apply; the features it makes must be as many as the d weights.
func prepare(p *Preparation, src dataset.Source, d int, o dataset.EncodeOptions) (dataset.Source, error) {
	src, err := p.ApplyEncoded(src, nil, o)
	if err != nil {
		return nil, err
	}
	if _, made, _ := src.Dims(); made != d {
		return nil, &PreparationError{fmt.Errorf("%w: the model makes %d features, and has %d weights", errShape, made, d)}
	}
	return src, nil
}

// Predictor returns a predictor by a model of one γ (see [Model.At]). If by is nil it predicts without
// intervals; Intervals that follow from nothing are [ErrInput]. A model of several γ is
// a *[GammaError], one without a fit [ErrShape], a summary that isn't of the rows of the fit a *[SummaryError], a
// certificate that cannot be read a *[CertificateError].
func (m *Model) Predictor(by *Intervals) (*Predictor, error) {
	if len(m.Fits) == 0 {
		return nil, fmt.Errorf("%w: a model without a fit", errShape)
	}
	if len(m.Fits) != 1 {
		return nil, &GammaError{math.NaN(), m.Gammas()}
	}
	p := &Predictor{prep: m.Preparation, fit: solution(m.Fits[0].Gamma, m.Fits[0].Coef, m.Fits[0].Intercept)}
	var err error
	switch {
	case by == nil:
	case by.Summary != nil:
		err = p.bySummary(m, by)
	case by.ByModel:
		err = p.byModel(m)
	default:
		err = badinput.Errorf("model: intervals follow from a summary or from the model, and neither is given; nil asks for none")
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func solution(gamma float64, coef [][]float64, intercept []float64) *ridge.Solution {
	f := &ridge.Solution{Outcome: ridge.Outcome{Gamma: gamma}, Targets: make([]ridge.Target, len(coef))}
	for j, c := range coef {
		f.Targets[j] = ridge.Target{Coef: slices.Clone(c), Intercept: intercept[j], ComputedTSS: math.NaN(), GradientNorm: math.NaN()}
	}
	return f
}

// bySummary prepares for intervals by a summary and by the model's certificate. Both are
// about scaled rows: so these are predicted from.
func (p *Predictor) bySummary(m *Model, by *Intervals) error {
	t, _ := p.fit.Dims()
	sum, w := by.Summary, &m.Fits[0]
	if cfg := sum.Config(); cfg.Dim != m.Features || cfg.Targets != t {
		return &SummaryError{fmt.Errorf("%w: it is of %d features and %d targets, the model of %d and %d", ErrShape, cfg.Dim, cfg.Targets, m.Features, t)}
	}
	sum, alike, err := m.asPrepared(sum, by.Preparation)
	switch {
	case err != nil:
		return &SummaryError{err}
	case !alike:
		return &SummaryError{ErrPreparation}
	}
	if err := sameRows(sum, m, w.TSS); err != nil {
		return &SummaryError{err}
	}
	p.asFitted(m)
	if p.intervals, err = sum.Predictor(p.fit.Gamma); err != nil {
		return err
	}
	if p.basis = BySummary; w.Fitted == nil {
		return nil
	}
	p.basis = ByBoth
	if err := p.certify(m); err != nil {
		return err
	}
	if err := p.intervals.Narrow(p.fit); err != nil {
		return &SummaryError{err}
	}
	return nil
}

// byModel prepares for intervals by the model's certificate alone.
func (p *Predictor) byModel(m *Model) error {
	switch {
	case m.Fits[0].Fitted == nil:
		return ErrUnrecorded
	case m.Intercept:
		return ErrMeans
	}
	p.asFitted(m)
	if err := p.certify(m); err != nil {
		return err
	}
	var err error
	p.basis = ByModel
	p.intervals, err = p.fit.Predictor()
	return err
}

// asFitted makes p predict from scaled columns, with the weights that were fitted to them.
func (p *Predictor) asFitted(m *Model) {
	if m.Folded == nil {
		return
	}
	p.prep = m.FittedPreparation()
	if w := &m.Fits[0]; w.Fitted != nil {
		p.fit = solution(w.Gamma, w.Fitted.Coef, w.Fitted.Intercept)
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

// certify adds to the fit what the model says of it. The file has no bracket of ‖b‖²: the
// computed value is taken as it is.
func (p *Predictor) certify(m *Model) error {
	w := &m.Fits[0]
	certificates, err := w.Certificates()
	if err != nil {
		return err
	}
	p.fit.Rows = m.Rows
	for j := range p.fit.Targets {
		o := &p.fit.Targets[j]
		o.Certificate = certificates[j]
		o.TSS = ridge.Interval{}
		if !m.Intercept { // its bound is that of the means of --standardize
			o.InterceptBound = 0
		}
		if len(w.TSS) == len(p.fit.Targets) {
			o.ComputedTSS, o.TSS = w.TSS[j], ridge.Interval{Lo: w.TSS[j], Hi: w.TSS[j]}
		}
	}
	return nil
}

// sameRows refuses a summary whose rows are not those of the model's fit, as far as their
// number, the intercept and the sums of squares of the targets tell.
func sameRows(sum *ridge.Summary, m *Model, tss []float64) error {
	if sum.Rows() != m.Rows || sum.Config().Intercept != m.Intercept {
		return fmt.Errorf("%w: it is of %d rows with intercept %v, the model of %d with intercept %v", ridge.ErrOtherRows, sum.Rows(), sum.Config().Intercept, m.Rows, m.Intercept)
	}
	f, err := sum.Fit(1)
	if err != nil {
		return err
	}
	for j, want := range tss {
		if got := f.Targets[j].ComputedTSS; !(math.Abs(got-want) <= 1e-6*want) {
			its, fitted := digits.Apart(got, want)
			return fmt.Errorf("%w: its ‖b‖² of target %d is %s, the model was fitted to one of %s", ridge.ErrOtherRows, j+1, its, fitted)
		}
	}
	return nil
}

// Basis is what the intervals follow from, "" where there are none.
func (p *Predictor) Basis() Basis { return p.basis }

// Dims returns the number of targets that are predicted, and of columns of the rows they
// are predicted from.
func (p *Predictor) Dims() (t, d int) {
	if p.fit == nil { // the zero value
		return 0, 0
	}
	t, _ = p.fit.Dims()
	d, _ = p.prep.Columns()
	return t, d
}

// Predict makes a pass over src and yields the prediction for each row, in order. The rows
// are not prepared: Predict does so. A prediction is valid until the next is asked for. An
// error ends the pass: a *[PreparationError], an *[OverflowError], one of src, or
// [ridge.ErrOtherRows] where the intervals by the summary and by the model contradict each
// other.
func (p *Predictor) Predict(ctx context.Context, src dataset.Source) iter.Seq2[Prediction, error] {
	ctx = background.IfNil(ctx)
	return func(yield func(Prediction, error) bool) {
		if err := p.predict(ctx, src, func(one Prediction) bool { return yield(one, nil) }); err != nil && !errors.Is(err, errEnough) {
			yield(Prediction{}, err)
		}
	}
}

// errEnough says that no more predictions are wanted.
var errEnough = errors.New("enough")

func (p *Predictor) predict(ctx context.Context, src dataset.Source, yield func(Prediction) bool) error {
	if p.fit == nil {
		return errUnmade
	}
	k, weights := p.fit.Dims()
	var incomplete rowNumbers
	options := p.Encode
	options.KeepIncomplete, options.Incomplete = true, incomplete.add
	src, err := prepare(&p.prep, src, weights, options)
	if err != nil {
		return err
	}
	_, d, t := src.Dims()
	yhat := make([]float64, k)
	var within []ridge.Interval
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if p.intervals != nil {
			within = slices.Grow(within[:0], b.N*k)[:b.N*k]
			if err := p.intervals.Predict(within, b); err != nil {
				return err
			}
		}
		for i := range b.N {
			var err error
			if b.Sparse != nil {
				idx, val := b.Sparse.Row(i)
				err = p.fit.PredictSparse(yhat, idx, val)
			} else {
				err = p.fit.PredictRow(yhat, b.X[i*d:(i+1)*d])
			}
			if err != nil {
				return err
			}
			if incomplete.has(b.First + int64(i)) {
				if !yield(p.unknown(b, i, t, yhat)) {
					return errEnough
				}
				continue
			}
			one := Prediction{Row: b.First + int64(i), Y: yhat, Observed: b.Y[i*t : (i+1)*t], Last: i == b.N-1}
			if slices.ContainsFunc(yhat, func(v float64) bool { return !isFinite(v) }) {
				return &OverflowError{one.Row}
			}
			if p.intervals != nil {
				one.Intervals = within[i*k : (i+1)*k]
			}
			if !yield(one) {
				return errEnough
			}
		}
	}
	return nil
}

// PredictMatrix predicts for the samples in x (n×d, each row is one), which are not prepared.
// It returns the predictions (n×t) and, where intervals are asked for, the interval of
// sample i and target j at i·t + j. The errors are those of Predict; where x has another
// number of columns it is a *[PreparationError].
func (p *Predictor) PredictMatrix(x mat.Matrix) (*mat.Dense, []ridge.Interval, error) {
	if p.fit == nil {
		return nil, nil, errUnmade
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
	if p.prep.Encoding != nil { // NaN is a missing value
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

// Predict is [Predictor.Predict] without intervals, by a model of one γ.
func (m *Model) Predict(ctx context.Context, src dataset.Source) iter.Seq2[Prediction, error] {
	ctx = background.IfNil(ctx)
	p, err := m.Predictor(nil)
	if err != nil {
		return func(yield func(Prediction, error) bool) { yield(Prediction{}, err) }
	}
	return p.Predict(ctx, src)
}

// PredictMatrix is [Predictor.PredictMatrix] without intervals, by a model of one γ.
func (m *Model) PredictMatrix(x mat.Matrix) (*mat.Dense, error) {
	p, err := m.Predictor(nil)
	if err != nil {
		return nil, err
	}
	out, _, err := p.PredictMatrix(x)
	return out, err
}
