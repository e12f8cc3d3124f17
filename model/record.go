package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/ridge"
)

// A Record is what is reported of the fit for one γ: the certificates of its targets, and
// what ran. It is about the weights as they were fitted, those of scaled columns where the
// columns were scaled. Only InterceptBound is in the units of the file.
type Record struct {
	Gamma              Number                    `json:"gamma"`
	Method             string                    `json:"method"`
	Passes             int                       `json:"passes"`
	Iterations         int                       `json:"iterations"`
	Shrinkage          Number                    `json:"shrinkage"`
	Contraction        Number                    `json:"contraction"`
	ErrorBound         PerTarget[Number]         `json:"error_bound"`
	RelativeErrorBound PerTarget[Number]         `json:"relative_error_bound"`
	EnergyBound        PerTarget[Number]         `json:"energy_bound"` // on ‖H^½(x̂ − x*)‖
	InterceptBound     PerTarget[Number]         `json:"intercept_bound"`
	EffectiveDimension ridge.Interval            `json:"effective_dimension"`
	Objective          PerTarget[ridge.Interval] `json:"objective"`
	RSS                PerTarget[ridge.Interval] `json:"rss"`
	GCV                PerTarget[ridge.Interval] `json:"gcv"`
	R2                 PerTarget[Number]         `json:"r2"` // the middle of R2Bracket
	R2Bracket          PerTarget[ridge.Interval] `json:"r2_bracket"`
	Converged          bool                      `json:"converged"`
	Stop               string                    `json:"stop"`
	Status             ridge.Status              `json:"status,omitzero"` // why the tolerance was not reached; zero where Converged
}

// NewRecord describes a fit to rows that were prepared by prep. passes is how many reads
// of the data preparing took, which are added to those of the fit. Where f has a Penalty prep is
// the one that has it already, see [Preparation.Penalize].
func NewRecord(f *ridge.Solution, prep *Preparation, passes int) Record {
	f = f.Fitted()
	out := Record{
		Gamma: Number(f.Gamma), Method: f.Method, Passes: f.Passes + passes, Iterations: f.Iterations,
		Shrinkage: Number(f.Shrinkage), Contraction: Number(f.Contraction), EffectiveDimension: f.EffectiveDimension,
		Converged: f.Status.Err() == nil, Stop: f.Status.String(),
	}
	if !out.Converged {
		out.Status = f.Status
	}
	for j := range f.Targets {
		o := &f.Targets[j]
		r2 := o.R2()
		out.ErrorBound = append(out.ErrorBound, Number(o.ErrorBound))
		out.RelativeErrorBound = append(out.RelativeErrorBound, Number(o.RelativeErrorBound))
		out.EnergyBound = append(out.EnergyBound, Number(o.EnergyBound))
		out.InterceptBound = append(out.InterceptBound, Number(prep.InterceptBound(o)))
		out.Objective, out.RSS, out.GCV = append(out.Objective, o.Objective), append(out.RSS, o.RSS), append(out.GCV, o.GCV)
		out.R2, out.R2Bracket = append(out.R2, Number(r2.Mid())), append(out.R2Bracket, r2)
	}
	return out
}

// A Certificate is a [Record] in a model. One that was read is not decoded before it is
// asked for, so that a model whose certificate is damaged still predicts without intervals.
type Certificate struct {
	record *Record         // nil: it was read
	text   json.RawMessage // what was read; nil: nothing was read
}

// IsZero reports whether there is none.
func (c Certificate) IsZero() bool { return c.record == nil && c.text == nil }

// MarshalJSON writes the record, or the text that was read.
func (c Certificate) MarshalJSON() ([]byte, error) {
	if c.record != nil || c.text == nil {
		return json.Marshal(c.record)
	}
	return c.text, nil
}

// UnmarshalJSON keeps the text.
func (c *Certificate) UnmarshalJSON(text []byte) error {
	*c = Certificate{text: bytes.Clone(text)}
	return nil
}

// decode reads the certificate into v.
func (c *Certificate) decode(v any) error {
	text, err := c.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return &CertificateError{err}
	}
	return nil
}

// Record returns the whole record. One that cannot be read is a *[CertificateError].
func (c *Certificate) Record() (*Record, error) {
	if c.IsZero() {
		return nil, &CertificateError{errNone}
	}
	var out Record
	if err := c.decode(&out); err != nil {
		return nil, err
	}
	return &out, nil
}

var errNone = errors.New("there is none")

// bounds are what a file keeps of the certificates of the targets.
type bounds struct {
	Error     PerTarget[Number]         `json:"error_bound"`
	Relative  PerTarget[Number]         `json:"relative_error_bound"`
	Energy    PerTarget[Number]         `json:"energy_bound"`
	Intercept PerTarget[Number]         `json:"intercept_bound"`
	Objective PerTarget[ridge.Interval] `json:"objective"`
	RSS       PerTarget[ridge.Interval] `json:"rss"`
	GCV       PerTarget[ridge.Interval] `json:"gcv"`
}

// bounds decodes the certificate. One without bounds on the error, the energy and the
// objective of each target is a *[CertificateError].
func (f *Fit) bounds() (*bounds, error) {
	if f.Certificate.IsZero() {
		return nil, &CertificateError{errNone}
	}
	var v bounds
	if err := f.Certificate.decode(&v); err != nil {
		return nil, err
	}
	if t := len(f.Coef); len(v.Error) != t || len(v.Energy) != t || len(v.Objective) != t {
		return nil, &CertificateError{fmt.Errorf("%d, %d and %d bounds for %d targets cannot narrow intervals", len(v.Error), len(v.Energy), len(v.Objective), t)}
	}
	return &v, nil
}

// Certificates returns the certificate of each target, about the weights as they were fitted
// (see [Fitted]). Bounds that the file does not have, such as the bracket of ‖b‖², are
// infinite. A certificate that cannot be read, or is of another number of targets, is a
// *[CertificateError].
func (f *Fit) Certificates() ([]ridge.Certificate, error) {
	v, err := f.bounds()
	if err != nil {
		return nil, err
	}
	t := len(f.Coef)
	bound := func(of PerTarget[Number], j int) float64 {
		if len(of) != t {
			return math.Inf(1)
		}
		return float64(of[j])
	}
	bracket := func(of PerTarget[ridge.Interval], j int) ridge.Interval {
		if len(of) != t {
			return ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
		}
		return of[j]
	}
	out := make([]ridge.Certificate, t)
	for j := range out {
		out[j] = ridge.Certificate{
			ErrorBound: float64(v.Error[j]), RelativeErrorBound: bound(v.Relative, j), EnergyBound: float64(v.Energy[j]), InterceptBound: bound(v.Intercept, j),
			Objective: v.Objective[j], TSS: bracket(nil, j), RSS: bracket(v.RSS, j), GCV: bracket(v.GCV, j),
		}
	}
	return out, nil
}
