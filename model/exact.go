package model

import (
	"context"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/digits"
	"github.com/fdridge/fdridge/ridge"
)

// ExactIntervals are proved to contain the prediction of the exact ridge solution. The zero value computes them
// from the certificate of the model alone, which has proved error bounds.
//
// Errors of [Model.Predictor]:
//   - [ErrUnrecorded] if Summary is nil and an earlier version of this package wrote the model
//   - [ErrUnpenalized] if some columns have no penalty, and Summary is given or the model has no bounds for them
//   - *[SummaryError] if the summary does not belong to the fit
//   - *[CertificateError] if the certificate cannot be read
type ExactIntervals struct {
	// Summary is nil, or a summary (a sketch with sums) of the training rows, prepared as for the fit. The
	// certificate of the model may give an interval for a prediction, too. The predictor then returns the
	// intersection of both intervals.
	Summary *ridge.Summary
	// Preparation describes how the rows of Summary were prepared; nil means [Model.FittedPreparation]. It may lack
	// the penalties After of the model's [Penalty]. Predictor then applies these penalties to Summary.
	Preparation *Preparation
}

// The bases of [ExactIntervals].
const (
	BySummary Basis = "sketch" // the summary alone, see ErrUnrecorded
	ByModel   Basis = "model"
	ByBoth    Basis = "sketch and model"
)

func (by ExactIntervals) of(m *Model, p *Predictor) error {
	switch {
	case by.Summary == nil:
		return p.useCertificate(m)
	case m.Penalty.unpenalized():
		return ErrUnpenalized
	}
	return p.useSummary(m, by)
}

// exactBounds are the intervals of the exact solution's predictions.
type exactBounds struct {
	within *ridge.Predictor
	from   Basis
}

func (e exactBounds) basis() Basis { return e.from }

func (e exactBounds) bracket(_ context.Context, dst []ridge.Interval, b dataset.Block) error {
	return e.within.Predict(dst, b)
}

func (exactBounds) finish([]ridge.Interval, []float64, dataset.Block, int) {}

// useSummary makes p compute intervals from a summary and, if possible, from the certificate of the model as well.
// Both are about scaled columns. Therefore p then predicts from scaled columns.
func (p *Predictor) useSummary(m *Model, by ExactIntervals) error {
	t, _ := p.fit.Dims()
	sum := by.Summary
	w := &m.Fits[0]
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
	within, err := sum.Predictor(gammas...)
	if err != nil {
		return err
	}
	if w.Fitted == nil {
		p.bounds = exactBounds{within, BySummary}
		return nil
	}
	p.bounds = exactBounds{within, ByBoth}
	if err := p.certify(m); err != nil {
		return err
	}
	if err := within.Narrow(p.fit); err != nil {
		return &SummaryError{err}
	}
	return nil
}

// useCertificate makes p compute intervals from the certificate of the model alone.
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
	within, err := p.fit.Predictor()
	p.bounds = exactBounds{within, ByModel}
	return err
}

// addUnpenalized enlarges the error bounds of p.fit by the errors of the coefficients of columns without penalty.
// If the model has no bounds on these errors, it returns ErrUnpenalized.
func (p *Predictor) addUnpenalized(m *Model) error {
	bounds := m.Fits[0].UnpenalizedBounds
	if len(bounds) != len(p.fit.Targets) {
		return ErrUnpenalized
	}
	for j := range p.fit.Targets {
		o := &p.fit.Targets[j]
		squares := o.ErrorBound * o.ErrorBound
		at := 0
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

// certify copies the certificates of the model to p.fit. For a target b, the model stores only the computed sum of
// squares ‖b‖². Therefore both ends of the interval TSS are this number.
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
			o.ComputedTSS = w.TSS[j]
			o.TSS = ridge.Interval{Lo: w.TSS[j], Hi: w.TSS[j]}
		}
	}
	return nil
}

// sameRows returns an error unless the summary and the model agree in the number of rows and the intercept. The
// sums of squares of the targets, tss for the model, must agree as well.
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
