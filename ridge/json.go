package ridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"

	"github.com/fdridge/fdridge/internal/badinput"
)

// solutionJSON is a [Solution] as it is written.
type solutionJSON struct {
	Gamma              float64   `json:"gamma"`
	Method             string    `json:"method"`
	Status             Status    `json:"status"`
	Backend            string    `json:"backend"`
	Rows               int64     `json:"n"`
	Passes             int       `json:"passes"`
	Iterations         int       `json:"iterations"`
	Shrinkage          *float64  `json:"shrinkage"`
	Contraction        *float64  `json:"contraction"`
	EffectiveDimension *Interval `json:"effective_dimension"`
	Penalty            weights   `json:"penalty,omitempty"`
	Targets            []Target  `json:"targets"`
}

// targetJSON is a [Target] as it is written.
type targetJSON struct {
	Coef         weights     `json:"coef"`
	Intercept    *float64    `json:"intercept"`
	Scaled       weights     `json:"scaled_coef,omitempty"`
	ComputedTSS  *float64    `json:"computed_tss"`
	GradientNorm *float64    `json:"gradient_norm"`
	Certificate  Certificate `json:"certificate"`
}

// certificateJSON is a [Certificate] as it is written.
type certificateJSON struct {
	ErrorBound         *float64  `json:"error_bound"`
	RelativeErrorBound *float64  `json:"relative_error_bound"`
	EnergyBound        *float64  `json:"energy_bound"`
	InterceptBound     *float64  `json:"intercept_bound"`
	Objective          *Interval `json:"objective"`
	TSS                *Interval `json:"tss"`
	RSS                *Interval `json:"rss"`
	GCV                *Interval `json:"gcv"`
}

// resultJSON is a [Result] as it is written.
type resultJSON struct {
	Method    string        `json:"method"`
	Reason    string        `json:"reason,omitempty"`
	Status    Status        `json:"status"`
	Tried     []attemptJSON `json:"tried,omitempty"`
	SizedFor  float64       `json:"sized_for,omitempty"`
	Passes    int           `json:"passes"`
	Solutions []*Solution   `json:"solutions"`
}

type attemptJSON struct {
	Method string `json:"method"`
	Error  string `json:"error"`
}

// weights are numbers of which none may be missing.
type weights []float64

// UnmarshalJSON refuses null among them, which encoding/json would read as zero.
func (w *weights) UnmarshalJSON(text []byte) error {
	if bytes.Contains(bytes.TrimSpace(text)[1:], []byte("null")) {
		return badinput.Errorf("ridge: a weight is null")
	}
	return json.Unmarshal(text, (*[]float64)(w))
}

// atMost is what an upper bound that was read stands for: nothing, or null, is no bound.
func atMost(v *float64) float64 { return or(v, math.Inf(1)) }

// value is a number that was read: nothing, or null, is one that is not known.
func value(v *float64) float64 { return or(v, math.NaN()) }

func or(v *float64, missing float64) float64 {
	if v == nil {
		return missing
	}
	return *v
}

// within is an interval that was read; none holds anything.
func within(v *Interval) Interval {
	if v == nil {
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	return *v
}

// MarshalJSON writes the bounds, error_bound, relative_error_bound, energy_bound and intercept_bound,
// null for +Inf, and the intervals objective, tss, rss and gcv, as [Interval] is written.
func (c Certificate) MarshalJSON() ([]byte, error) {
	return json.Marshal(certificateJSON{
		ErrorBound: finite(c.ErrorBound), RelativeErrorBound: finite(c.RelativeErrorBound), EnergyBound: finite(c.EnergyBound), InterceptBound: finite(c.InterceptBound),
		Objective: &c.Objective, TSS: &c.TSS, RSS: &c.RSS, GCV: &c.GCV,
	})
}

// UnmarshalJSON reads what MarshalJSON writes. A bound that is null or not there is +Inf, an
// interval that is not there reaches from -Inf to +Inf: they promise nothing.
func (c *Certificate) UnmarshalJSON(text []byte) error {
	var in certificateJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*c = Certificate{
		ErrorBound: atMost(in.ErrorBound), RelativeErrorBound: atMost(in.RelativeErrorBound), EnergyBound: atMost(in.EnergyBound), InterceptBound: atMost(in.InterceptBound),
		Objective: within(in.Objective), TSS: within(in.TSS), RSS: within(in.RSS), GCV: within(in.GCV),
	}
	return nil
}

// MarshalJSON writes coef, intercept, computed_tss and gradient_norm, null where they are NaN,
// scaled_coef where there is a penalty, and the certificate. Weights that are not finite are an
// error.
func (t Target) MarshalJSON() ([]byte, error) {
	return json.Marshal(targetJSON{
		Coef: t.Coef, Intercept: finite(t.Intercept), Scaled: t.Scaled,
		ComputedTSS: finite(t.ComputedTSS), GradientNorm: finite(t.GradientNorm), Certificate: t.Certificate,
	})
}

// UnmarshalJSON reads what MarshalJSON writes. A number that is null or not there is NaN, a
// certificate that is not there promises nothing. A weight that is null is [ErrInput].
func (t *Target) UnmarshalJSON(text []byte) error {
	var in targetJSON
	if err := in.Certificate.UnmarshalJSON([]byte("{}")); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*t = Target{
		Coef: in.Coef, Intercept: value(in.Intercept), Scaled: in.Scaled,
		ComputedTSS: value(in.ComputedTSS), GradientNorm: value(in.GradientNorm), Certificate: in.Certificate,
	}
	return nil
}

// MarshalJSON writes an object that UnmarshalJSON reads to the bit:
//
//	gamma                   γ
//	method, backend         what ran, and on what
//	status                  why it stopped, by its name, see [Status.MarshalText]
//	n, passes, iterations   rows, reads of them, iterations
//	shrinkage, contraction  η and q, null for +Inf
//	effective_dimension     [lo, hi]
//	penalty                 that of each column, where there is one
//	targets                 a list, of one target too, of objects as [Target.MarshalJSON] writes
//
// with targets of
//
//	coef, intercept         x̂ and its intercept
//	scaled_coef             ẑ, where there is a penalty
//	computed_tss, gradient_norm
//	certificate             error_bound, relative_error_bound, energy_bound, intercept_bound;
//	                        objective, tss, rss, gcv, each [lo, hi]
//
// Names are those of a saved model (package model), which keeps what is done to rows, too, and
// predicts from rows as they come; this is the solution alone. Null stands for what is not
// finite: of a bound no bound, of an end of an interval no end, of another number not known.
// Weights, penalties and a γ that are not finite are an error.
func (s Solution) MarshalJSON() ([]byte, error) {
	return json.Marshal(solutionJSON{
		Gamma: s.Gamma, Method: s.Method, Status: s.Status, Backend: s.Backend, Rows: s.Rows, Passes: s.Passes, Iterations: s.Iterations,
		Shrinkage: finite(s.Shrinkage), Contraction: finite(s.Contraction), EffectiveDimension: &s.EffectiveDimension, Penalty: s.Penalty, Targets: s.Targets,
	})
}

// UnmarshalJSON reads what MarshalJSON writes. What is not there is not known: bounds are +Inf,
// intervals without ends. Targets, or a penalty, of different lengths are [ErrShape], another
// status or a negative γ [ErrInput]; s is then as it was.
func (s *Solution) UnmarshalJSON(text []byte) error {
	var in solutionJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	out := Solution{
		Gamma: in.Gamma, Method: in.Method, Status: in.Status, Backend: in.Backend, Rows: in.Rows, Passes: in.Passes, Iterations: in.Iterations,
		Shrinkage: atMost(in.Shrinkage), Contraction: atMost(in.Contraction), EffectiveDimension: within(in.EffectiveDimension), Penalty: in.Penalty, Targets: in.Targets,
	}
	if out.Gamma < 0 {
		return badinput.Errorf("ridge: a solution at gamma = %v", out.Gamma)
	}
	t, d := out.Dims()
	if !out.hasShape(t, d) || out.Penalty != nil && len(out.Penalty) != d {
		return unfit("the targets of a solution, and its penalty, have different lengths")
	}
	for _, o := range out.Targets {
		if (o.Scaled != nil) != (out.Penalty != nil) || o.Scaled != nil && len(o.Scaled) != d {
			return unfit("a target has %d scaled weights, the solution %d penalties for %d features", len(o.Scaled), len(out.Penalty), d)
		}
	}
	*s = out
	return nil
}

// MarshalJSON writes method, reason, status (by its name), tried (a list of method and error),
// sized_for, passes and the list solutions, of one γ too, each as [Solution.MarshalJSON] says.
// How γ and the penalties of bands were chosen is not written, Choice and Bands are JSON of their
// own ([GammaChoice.MarshalJSON], [BandChoice.MarshalJSON]); nor is the summary, which has formats of
// its own ([Summary.WriteTo]).
func (r Result) MarshalJSON() ([]byte, error) {
	out := resultJSON{Method: r.Method, Reason: r.Reason, Status: r.Status, SizedFor: r.SizedFor, Passes: r.Passes, Solutions: r.Solutions}
	for _, a := range r.Tried {
		given := attemptJSON{Method: a.Method}
		if a.Err != nil {
			given.Error = a.Err.Error()
		}
		out.Tried = append(out.Tried, given)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes: Choice, Bands and Summary are nil, and the errors of
// what was tried are their words. Err is what it was. A solution that is null is [ErrShape].
func (r *Result) UnmarshalJSON(text []byte) error {
	var in resultJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	out := Result{Method: in.Method, Reason: in.Reason, Status: in.Status, SizedFor: in.SizedFor, Passes: in.Passes, Solutions: in.Solutions}
	for i, s := range out.Solutions {
		if s == nil {
			return unfit("solution %d of a result is null", i+1)
		}
	}
	for _, a := range in.Tried {
		out.Tried = append(out.Tried, Attempt{a.Method, errors.New(a.Error)})
	}
	*r = out
	return nil
}
