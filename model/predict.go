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
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/digits"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// Intervals selects the intervals of predictions: ByModel, Summary, Coverage or Jackknife. An interval by one of the
// first two is proved to contain the prediction of the exact ridge solution at the model's γ. It does not account for
// the noise of observations. The other two are for new observations.
type Intervals struct {
	// Jackknife, from [Model.Jackknife], selects the jackknife+ intervals for new observations of [ridge.Jackknife]. They
	// need no held-out rows.
	Jackknife *ridge.Jackknife
	// Coverage selects the intervals for new observations of [Coverage]. They contain the target of a new row with the
	// probability of the model's Coverage.Level, if this row and the held-out rows are exchangeable. An interval also
	// contains the interval that the exact solution gives, if the certificate bounds the solution's error.
	Coverage bool

	// ByModel uses the certificate of the model alone. Models of an earlier version do not support this
	// ([ErrUnrecorded]).
	ByModel bool
	// Summary is a summary of the training rows, prepared as for the fit. If the certificate of the model gives
	// intervals, too, the predictor returns the intersections.
	Summary *ridge.Summary
	// Preparation describes the preparation of the rows of Summary; nil means [Model.FittedPreparation]. The
	// penalties After of [Penalty] may be missing from this preparation. Predictor then applies them to Summary.
	Preparation *Preparation
}

// A Basis names the data from which intervals were computed. "" means that there are no intervals.
type Basis string

const (
	BySummary Basis = "sketch" // the summary alone, see ErrUnrecorded
	ByModel   Basis = "model"
	ByBoth    Basis = "sketch and model"
	// ByCoverage are intervals for new observations, from held-out rows
	ByCoverage Basis = "held-out rows"
	// ByJackknife are jackknife+ intervals for new observations, from the training rows
	ByJackknife Basis = "training rows"
)

// A Predictor prepares rows and computes their predictions. Only one goroutine at a time may use it.
type Predictor struct {
	// Encode holds the options for encoding rows, if the model has an encoding. Set it before Predict; rows from
	// files require Encode.Cells. The prediction is NaN for rows that the model leaves out because of missing values.
	Encode prepare.EncodeOptions

	prep      Preparation
	fit       *ridge.Solution
	intervals *ridge.Predictor // nil without intervals
	basis     Basis
	coverage  *Coverage        // nil: intervals are about the exact solution, or by jackknife
	jackknife *ridge.Jackknife // nil: none
	row       rowWork
}

// A Prediction is the prediction for one row.
type Prediction struct {
	Row       int64            // row number in the source, from 0
	Y         []float64        // one for each target; NaN for a row with missing values, if the model leaves such rows out
	Intervals []ridge.Interval // one for each target; nil if the predictor has no intervals
	Observed  []float64        // the targets in the source, if any
	Last      bool             // the row is the last of its block; the next block of a [dataset.Pipe] may take time
}

// FittedPreparation returns the preparation of the training rows, including the scaling Folded. Rows of a summary for
// [Intervals] must be prepared in the same way.
func (m *Model) FittedPreparation() Preparation {
	p := m.Preparation
	if m.Folded != nil {
		p.Scaling = m.Folded
	}
	return p
}

// Prepare returns the rows of src, prepared for the coefficients. If this is impossible, for example because the
// number of columns is wrong, the error is a *[PreparationError].
func (m *Model) Prepare(src dataset.Source) (dataset.Source, error) {
	d := m.Features
	if len(m.Fits) > 0 && len(m.Fits[0].Coef) > 0 {
		d = len(m.Fits[0].Coef[0]) // all fits have as many
	}
	return m.Preparation.applyForWeights(src, d, prepare.EncodeOptions{})
}

// applyForWeights applies p, and requires a result with d features.
func (p *Preparation) applyForWeights(src dataset.Source, d int, o prepare.EncodeOptions) (dataset.Source, error) {
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

// Predictor returns a predictor for a model with a single γ, see [Model.At]. If by is nil, there are no intervals.
//
// Errors:
//   - *[GammaError] if the model has several γ, [ErrShape] if it has no fits
//   - [ErrInput] if by selects no intervals
//   - [ErrUncovered] if the model has no Coverage and by selects it
//   - *[SummaryError] if the summary does not belong to the fit
//   - *[CertificateError] if the certificate cannot be read
func (m *Model) Predictor(by *Intervals) (*Predictor, error) {
	if len(m.Fits) == 0 {
		return nil, fmt.Errorf("%w: a model without a fit", errShape)
	}
	if len(m.Fits) != 1 {
		return nil, &GammaError{math.NaN(), m.Gammas()}
	}
	p := &Predictor{prep: m.Preparation, fit: solution(&m.Fits[0], m.Fits[0].Coef, m.Fits[0].Intercept)}
	var err error
	switch {
	case by == nil:
	case by.Jackknife != nil:
		p.useFitted(m)
		p.basis, p.jackknife = ByJackknife, by.Jackknife
	case by.Coverage:
		err = p.useCoverage(m)
	case by.Summary != nil && m.Penalty.unpenalized():
		err = ErrUnpenalized
	case by.Summary != nil:
		err = p.useSummary(m, by)
	case by.ByModel:
		err = p.useCertificate(m)
	default:
		err = badinput.Errorf(
			"model: intervals need a summary or the model's certificate, and neither is given; pass nil for no intervals",
		)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// solution returns the solution of a fit with the given coefficients.
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

// Solution returns the coefficients of w in the units of the file. It has no certificates.
func (w *Fit) Solution() *ridge.Solution { return solution(w, w.Coef, w.Intercept) }

// useSummary prepares intervals from a summary and, if possible, the model's certificate. Both are for scaled columns,
// so p then predicts with coefficients of scaled columns.
func (p *Predictor) useSummary(m *Model, by *Intervals) error {
	t, _ := p.fit.Dims()
	sum, w := by.Summary, &m.Fits[0]
	if cfg := sum.Config(); cfg.Dim != m.Features || cfg.Targets != t {
		return &SummaryError{
			fmt.Errorf(
				"%w: the summary has %d features and %d targets, the model has %d and %d",
				ErrShape,
				cfg.Dim,
				cfg.Targets,
				m.Features,
				t,
			),
		}
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
	fitted := m.FittedPreparation()
	if fitted.unscales() {
		sum.WithErrors(ridge.RowErrors{Rounding: fitted.Scaling.Rounding()})
	}
	p.useFitted(m)
	gammas := p.fit.Gammas
	if gammas == nil {
		gammas = []float64{p.fit.Gamma}
	}
	p.intervals, err = sum.Predictor(gammas...)
	if err != nil {
		return err
	}
	p.basis = BySummary
	if w.Fitted == nil {
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

// useCertificate sets p to compute intervals from the model's certificate alone.
func (p *Predictor) useCertificate(m *Model) error {
	if m.Fits[0].Fitted == nil {
		return ErrUnrecorded
	}
	p.useFitted(m)
	err := p.certify(m)
	if err == nil && m.Penalty.unpenalized() {
		err = p.addUnpenalized(m)
	}
	if err != nil {
		return err
	}
	p.basis = ByModel
	p.intervals, err = p.fit.Predictor()
	return err
}

// addUnpenalized adds the errors of columns without penalty to the error bounds of p.fit. It returns ErrUnpenalized if
// the model has no bounds on these errors.
func (p *Predictor) addUnpenalized(m *Model) error {
	bounds := m.Fits[0].UnpenalizedBounds
	if len(bounds) != len(p.fit.Targets) {
		return ErrUnpenalized
	}
	for j := range p.fit.Targets {
		o := &p.fit.Targets[j]
		squares, at := o.ErrorBound*o.ErrorBound, 0
		for i := range o.Coef {
			if !m.Unpenalized(i) {
				continue
			}
			e := bounds[j][at] // in the units of the file
			at++
			if m.Folded != nil { // the coefficient of the scaled column is the product, rounded
				e = e*m.Folded.Scale[i] + 0x1p-51*math.Abs(o.Coef[i])
			}
			squares += e * e
		}
		terms := float64(len(o.Coef) + 8)
		o.ErrorBound = math.Sqrt(squares)*(1+terms*0x1p-52) + 0x1p-537
	}
	return nil
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

// certify copies the certificates of the model to p.fit. The model stores only the computed ‖b‖² of a target, so
// the bracket TSS contains only this number.
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
		if !m.Intercept { // the intercept bound in the file also includes the round-off of unscaling
			o.InterceptBound = 0
		}
		if len(w.TSS) == len(p.fit.Targets) {
			o.ComputedTSS, o.TSS = w.TSS[j], ridge.Interval{Lo: w.TSS[j], Hi: w.TSS[j]}
		}
	}
	return nil
}

// sameRows returns an error unless the number of rows, the intercept and the sums of squares agree.
func sameRows(sum *ridge.Summary, m *Model, tss []float64) error {
	if sum.Rows() != m.Rows || sum.Config().Intercept != m.Intercept {
		return fmt.Errorf(
			"%w: it has %d rows with intercept %v, the model %d with intercept %v",
			ridge.ErrOtherRows,
			sum.Rows(),
			sum.Config().Intercept,
			m.Rows,
			m.Intercept,
		)
	}
	f, err := sum.Fit(1)
	if err != nil {
		return err
	}
	for j, want := range tss {
		if got := f.Targets[j].ComputedTSS; !(math.Abs(got-want) <= 1e-6*want) {
			its, fitted := digits.Apart(got, want)
			return fmt.Errorf(
				"%w: its ‖b‖² of target %d is %s, but the model was fitted to %s",
				ridge.ErrOtherRows,
				j+1,
				its,
				fitted,
			)
		}
	}
	return nil
}

// Basis returns the data from which intervals are computed, or "" without intervals.
func (p *Predictor) Basis() Basis { return p.basis }

// Dims returns the number of targets, and the number of columns of a row before preparation.
func (p *Predictor) Dims() (t, d int) {
	if p.fit == nil { // the zero value
		return 0, 0
	}
	t, _ = p.fit.Dims()
	d, _ = p.prep.Columns()
	return t, d
}

// Predict makes one pass over src, prepares its rows, and yields a prediction for each row. A prediction is valid until
// the next prediction. The pass ends after an error:
//
//   - *[PreparationError], *[OverflowError] or an error of src
//   - [ridge.ErrOtherRows], if the intervals by the summary and by the model are disjoint
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

func (p *Predictor) predict(ctx context.Context, src dataset.Source, yield func(Prediction) bool) error {
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
		if p.basis != "" {
			within = slices.Grow(within[:0], b.N*k)[:b.N*k]
			if err := p.bracket(ctx, within, b); err != nil {
				return err
			}
		}
		step := max(1, mostPredicted/max(1, k))
		for i := range b.N {
			if i%step == 0 {
				all = slices.Grow(all[:0], min(step, b.N-i)*k)[:min(step, b.N-i)*k]
				if err := p.predictRows(all, b, i, k, d); err != nil {
					return err
				}
			}
			yhat := all[i%step*k:][:k:k]
			one := Prediction{Row: b.First + int64(i), Y: yhat, Observed: b.Y[i*t : (i+1)*t], Last: i == b.N-1}
			if p.basis != "" {
				one.Intervals = within[i*k : (i+1)*k]
			}
			if p.coverage != nil {
				p.cover(one.Intervals, yhat, b, i)
			}
			if incomplete.has(one.Row) {
				setUnknown(one.Y, one.Intervals)
			} else if slices.ContainsFunc(yhat, func(v float64) bool { return !vec.IsFinite(v) }) {
				return &OverflowError{one.Row}
			}
			if !yield(one) {
				return errEnough
			}
		}
	}
	return nil
}

// mostPredicted limits the number of predictions of a block that are computed together.
const mostPredicted = 1 << 20

// predictRows computes the predictions of the rows of b from row first on, k for each row, on all cores.
func (p *Predictor) predictRows(all []float64, b dataset.Block, first, k, d int) error {
	n := len(all) / max(1, k)
	return parallel.Do(64, len(all)*d, func(part int) error {
		for i := n * part / 64; i < n*(part+1)/64; i++ {
			if err := predictRow(p.fit, all[i*k:(i+1)*k], b, first+i, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// PredictMatrix returns the predictions (n×t) for the samples in x (n×d, each row is a sample). With intervals, it
// also returns the interval of sample i and target j at index i·t + j. Errors are as in Predict.
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

// Predict yields the predictions for the rows of src, without intervals, see [Predictor.Predict]. The model must have
// a single γ.
func (m *Model) Predict(ctx context.Context, src dataset.Source) iter.Seq2[Prediction, error] {
	p, err := m.Predictor(nil)
	if err != nil {
		return func(yield func(Prediction, error) bool) { yield(Prediction{}, err) }
	}
	return p.Predict(ctx, src)
}

// PredictMatrix returns the predictions for the samples in x, without intervals, see [Predictor.PredictMatrix]. The
// model must have a single γ.
func (m *Model) PredictMatrix(x mat.Matrix) (*mat.Dense, error) {
	p, err := m.Predictor(nil)
	if err != nil {
		return nil, err
	}
	out, _, err := p.PredictMatrix(x)
	return out, err
}
