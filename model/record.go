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

// A Record is what is known of the fit for one γ: its outcome and the certificate of each target. The
// certificates are about the weights as they were fitted, in scaled columns if the columns were scaled.
// Only InterceptBound is in the units of the file. TSS is not kept, and is unbounded.
//
// In JSON a field of the certificates is a list, or one value if there is one target. Status is written
// only if the fit has not Converged. A record that was read has no other.
type Record struct {
	ridge.Outcome
	Certificates []ridge.Certificate
	R2           PerTarget[Number]         `json:"r2"` // the middle of R2Bracket
	R2Bracket    PerTarget[ridge.Interval] `json:"r2_bracket"`
	Converged    bool                      `json:"converged"`
	Stop         string                    `json:"stop"` // Status in words

	counts map[string]int // of the values that were read by each name; nil: none was read
}

// recordNames are the names of a record in JSON, in their order.
var recordNames = []string{
	"gamma", "method", "passes", "iterations", "shrinkage", "contraction",
	"error_bound", "relative_error_bound", "energy_bound", "intercept_bound", "effective_dimension", "objective", "rss", "gcv",
	"r2", "r2_bracket", "converged", "stop", "status",
}

// NewRecord describes a fit to rows that were prepared by prep. passes is how many reads
// of the data preparing took, which are added to those of the fit. Where f has a Penalty prep is
// the one that has it already, see [Preparation.Penalize].
func NewRecord(f *ridge.Solution, prep *Preparation, passes int) Record {
	f = f.Fitted()
	out := Record{Outcome: f.Outcome, Converged: f.Status.Err() == nil, Stop: f.Status.String()}
	out.Passes += passes
	for j := range f.Targets {
		o := &f.Targets[j]
		c, r2 := o.Certificate, o.R2()
		c.InterceptBound, c.TSS = prep.InterceptBound(o), ridge.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
		out.Certificates = append(out.Certificates, c)
		out.R2, out.R2Bracket = append(out.R2, Number(r2.Mid())), append(out.R2Bracket, r2)
	}
	return out
}

// MarshalJSON writes the record. It writes a status only if the fit has not converged.
func (r Record) MarshalJSON() ([]byte, error) { return r.MarshalWithout() }

// MarshalWithout is MarshalJSON without some names.
func (r Record) MarshalWithout(without ...string) ([]byte, error) {
	if r.Converged {
		without = append(without, "status")
	}
	names := slices.DeleteFunc(slices.Clone(recordNames), func(name string) bool { return slices.Contains(without, name) })
	return jsonfields.MarshalEach(names, r, r.Certificates)
}

// UnmarshalJSON reads what MarshalJSON writes. Bounds that are null or absent promise nothing.
func (r *Record) UnmarshalJSON(text []byte) error {
	var out Record
	var err error
	if out.counts, err = jsonfields.UnmarshalEach(text, &out, &out.Certificates); err == nil {
		*r = out
	}
	return err
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

// Record returns the whole record. One that cannot be read is a *[CertificateError].
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
			return nil, &CertificateError{err}
		}
	}
	return out, nil
}

// Certificates returns the certificate of each target, about the weights as they were fitted
// (see [Fitted]). Bounds that the file does not have, such as the bracket of ‖b‖², are
// infinite. A certificate that cannot be read, is of another number of targets, or has no bounds on the
// error, the energy and the objective is a *[CertificateError].
func (f *Fit) Certificates() ([]ridge.Certificate, error) {
	r, err := f.Certificate.Record()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"error_bound", "energy_bound", "objective"} {
		n := len(r.Certificates)
		if r.counts != nil {
			n = r.counts[name]
		}
		if n != len(f.Coef) {
			return nil, &CertificateError{fmt.Errorf("%d values of %s for %d targets cannot narrow intervals", n, name, len(f.Coef))}
		}
	}
	return r.Certificates, nil
}
