package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/ridge"
)

// A Record holds the outcome of the fit for one γ, and a certificate for each target. A certificate has proved
// bounds on the errors of a solution. If the columns were scaled, the certificates bound the errors of the
// coefficients of scaled columns. However, InterceptBound, CoefError and CoefRelative are for unscaled columns.
// TSS, an interval for the sum of squares ‖b‖² of a target b, is not saved.
//
// In JSON, each field of the certificates is a list with a value for each target. Status is omitted if Converged is
// true.
type Record struct {
	ridge.Outcome
	Certificates []ridge.Certificate
	// CoefError and CoefRelative are bounds on the error ‖w − w*‖ and on the relative error ‖w − w*‖/‖w*‖.
	// Here w are the coefficients in the units of the file, and w* are the exact ones; see
	// [Preparation.CoefficientError]. Both are nil in records of earlier programs.
	CoefError    PerTarget[Number]         `json:"coef_error_bound,omitempty"`
	CoefRelative PerTarget[Number]         `json:"coef_relative_error_bound,omitempty"`
	R2           PerTarget[Number]         `json:"r2"` // the midpoint of R2Bracket
	R2Bracket    PerTarget[ridge.Interval] `json:"r2_bracket"`
	Converged    bool                      `json:"converged"`
	Stop         string                    `json:"stop"` // the text of Status

	counts map[string]int // number of values read for each name; nil if the record was not read
}

// recordNames are the names of the JSON members of a record, in the order in which they are written.
var recordNames = []string{
	"gamma", "gammas", "method", "passes", "iterations", "rank", "dependent", "shrinkage", "contraction",
	"coef_error_bound", "coef_relative_error_bound", "error_bound", "relative_error_bound", "energy_bound",
	"intercept_bound", "effective_dimension", "objective", "rss", "gcv",
	"r2", "r2_bracket", "converged", "stop", "status",
}

// NewRecord returns the record of the solution f of rows prepared by prep. The record has the passes of f and, in
// addition, the given number of passes before the fit. If f has a Penalty, prep must include it, see
// [Preparation.Penalize].
func NewRecord(f *ridge.Solution, prep *Preparation, passes int) Record {
	f = f.Fitted()
	out := Record{
		Outcome:   f.Outcome,
		Converged: f.Status.Err() == nil,
		Stop:      f.Status.String(),
	}
	out.Passes += passes
	for j := range f.Targets {
		o := &f.Targets[j]
		c := o.Certificate
		c.RSS = o.RSSAfter(prep.interceptRounding(o))
		after := *o
		after.RSS = c.RSS
		r2 := after.R2()
		c.InterceptBound = prep.InterceptBound(o)
		c.TSS = ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
		bound, relative := prep.CoefficientError(o)
		out.CoefError = append(out.CoefError, Number(bound))
		out.CoefRelative = append(out.CoefRelative, Number(relative))
		out.Certificates = append(out.Certificates, c)
		out.R2 = append(out.R2, Number(r2.Mid()))
		out.R2Bracket = append(out.R2Bracket, r2)
	}
	return out
}

// MarshalJSON writes the record as JSON. It omits Status if the fit has converged.
func (r Record) MarshalJSON() ([]byte, error) { return r.MarshalWithout() }

// MarshalWithout is MarshalJSON without the named fields.
func (r Record) MarshalWithout(without ...string) ([]byte, error) {
	if r.Converged {
		without = append(without, "status")
	}
	names := slices.DeleteFunc(
		slices.Clone(recordNames),
		func(name string) bool { return slices.Contains(without, name) },
	)
	return jsonfields.MarshalEach(names, r, r.Certificates)
}

// UnmarshalJSON reads a record that MarshalJSON wrote. A bound that is null or missing becomes infinite.
func (r *Record) UnmarshalJSON(text []byte) error {
	var out Record
	var err error
	out.counts, err = jsonfields.UnmarshalEach(text, &out, &out.Certificates)
	if err == nil {
		*r = out
	}
	return err
}

// A Certificate holds a [Record] of proved error bounds in a model. The record is decoded only when it is needed. A
// model with a damaged certificate can therefore still predict without intervals.
type Certificate struct {
	record *Record         // nil if the certificate was read from a file
	text   json.RawMessage // the JSON, if the certificate was read from a file
}

// IsZero reports whether there is no certificate.
func (c Certificate) IsZero() bool {
	return c.record == nil && c.text == nil
}

// MarshalJSON writes the record. If the record was read from JSON and cannot be decoded, its text is written
// unchanged.
func (c Certificate) MarshalJSON() ([]byte, error) {
	if c.record != nil || c.text == nil {
		return json.Marshal(c.record)
	}
	r, err := c.Record()
	if err != nil || len(r.missing()) > 0 {
		return c.text, nil
	}
	return json.Marshal(r)
}

// neededNames are the names of the JSON members that a certificate must have to give intervals.
var neededNames = []string{"error_bound", "energy_bound", "objective"}

// missing returns the names in neededNames that do not have a value for every target in the JSON of the record.
func (r *Record) missing() (names []string) {
	for _, name := range neededNames {
		if r.counts != nil && r.counts[name] != len(r.Certificates) {
			names = append(names, name)
		}
	}
	return names
}

// UnmarshalJSON stores the text without decoding it.
func (c *Certificate) UnmarshalJSON(text []byte) error {
	*c = Certificate{text: bytes.Clone(text)}
	return nil
}

// Record returns the decoded record. If it cannot be decoded, or if there is none, the error is a
// *[CertificateError].
func (c *Certificate) Record() (*Record, error) {
	out := &Record{}
	switch {
	case c.record != nil:
		*out = *c.record
		out.Certificates = slices.Clone(out.Certificates)
	case c.text == nil:
		return nil, &CertificateError{errors.New("there is none")}
	default:
		if err := json.Unmarshal(c.text, out); err != nil {
			return nil, &CertificateError{jsonfields.Explain(err)}
		}
	}
	return out, nil
}

// Certificates returns a certificate for each target. If [Fitted] has coefficients, the certificates bound their
// errors, otherwise the errors of f.Coef. The error is a *[CertificateError] in these cases:
//
//   - The certificates cannot be read, or their number is wrong.
//   - A bound on the error, the energy or the objective is missing. Other missing bounds are infinite.
func (f *Fit) Certificates() ([]ridge.Certificate, error) {
	r, err := f.Certificate.Record()
	if err != nil {
		return nil, err
	}
	t := len(f.Coef)
	for _, name := range neededNames {
		n := len(r.Certificates)
		if r.counts != nil {
			n = r.counts[name]
		}
		if n != t {
			return nil, &CertificateError{
				fmt.Errorf("%d values of %s for %d targets cannot narrow intervals", n, name, t),
			}
		}
	}
	if len(r.Certificates) != t || len(r.R2Bracket) != 0 && len(r.R2Bracket) != t {
		return nil, &CertificateError{
			fmt.Errorf(
				"it is about %d targets and has %d brackets of R², but the model has %d targets",
				len(r.Certificates),
				len(r.R2Bracket),
				t,
			),
		}
	}
	return r.Certificates, nil
}
