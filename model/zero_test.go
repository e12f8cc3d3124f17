package model_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/zerovalues"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// TestZeroValues: no method of a zero value panics, nor do errors without a cause.
func TestZeroValues(t *testing.T) {
	src, err := dataset.FromDense(2, 1, 1, []float64{1, 2}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	sum, err := ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := sum.Fit(1)
	if err != nil {
		t.Fatal(err)
	}
	zerovalues.Check(t, zerovalues.Package{
		Types: []any{
			new(model.Model), new(model.PerTarget[float64]),
			new(model.FormatError), new(model.VersionError), new(model.GammaError), new(model.PreparationError), new(model.CertificateError),
			new(model.SummaryError), new(model.OverflowError), new(model.ShortfallError), new(model.Evaluation), new(model.Number),
			new(model.Preparation), new(model.Predictor), new(model.Certificate), new(model.Record), new(model.Fit), new(model.Score),
		},
		Arguments: func() []any {
			return []any{
				1, int64(1), 1.0, true, "a", []float64{1}, []byte("{}"), []string{"1"}, sum, fit, &fit.Targets[0], &model.Intervals{}, model.Score{}, []ridge.Interval{{}}, new(dataset.Encoding), dataset.EncodeOptions{},
				dataset.Share{}, zerovalues.Interface[dataset.Link](nil), zerovalues.Interface[dataset.Features](dataset.Polynomial{Degree: 2}),
				zerovalues.Interface[context.Context](t.Context()), zerovalues.Interface[dataset.Source](src), zerovalues.Interface(be), zerovalues.Interface(io.EOF),
				zerovalues.Interface[mat.Matrix](mat.NewDense(1, 1, []float64{1})), zerovalues.Interface[io.Writer](io.Discard), zerovalues.Interface[io.Reader](bytes.NewReader([]byte("{}"))),
			}
		},
	})
	// A bound of nothing promises nothing, nor does one of weights that are not those of the columns.
	scaled := model.Preparation{Inputs: 2, Scaling: &dataset.Scaling{Mean: []float64{1, 2}, Scale: []float64{1, 1}}}
	for _, bound := range []float64{new(model.Preparation).InterceptBound(nil), scaled.InterceptBound(nil), scaled.InterceptBound(&ridge.Target{Coef: []float64{1}})} {
		if !math.IsInf(bound, 1) {
			t.Errorf("an intercept of nothing to %v", bound)
		}
	}
}

// TestSmallMeans: what the error of weights does to the intercept counts where squares of means underflow.
func TestSmallMeans(t *testing.T) {
	p := model.Preparation{Inputs: 1, Scaling: &dataset.Scaling{Mean: []float64{0x1p-600}, Scale: []float64{1}}}
	o := &ridge.Target{Coef: []float64{0}, Certificate: ridge.Certificate{ErrorBound: 0x1p620}}
	if bound := p.InterceptBound(o); !(bound >= 0x1p20 && bound <= 0x1.1p20) {
		t.Errorf("weights off by 2⁶²⁰ where means are 2⁻⁶⁰⁰: an intercept off by %v", bound)
	}
}
