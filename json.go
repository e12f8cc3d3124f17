package fdridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/reason"
)

// resultJSON is the JSON form of a [Result].
type resultJSON struct {
	Method    ridge.Method      `json:"method"`
	Status    ridge.Status      `json:"status"`
	Passes    int               `json:"passes"`
	Trace     []stepJSON        `json:"trace,omitempty"`
	Solutions []*ridge.Solution `json:"solutions"`
}

// stepJSON is the JSON form of a [Step].
type stepJSON struct {
	Stage  string        `json:"stage"`
	Method ridge.Method  `json:"method"`
	Passes int           `json:"passes"`
	Reason reason.Reason `json:"reason"`
	Error  string        `json:"error,omitempty"`
}

// MarshalJSON writes an object with the members method, status, passes, trace and solutions. Each item of trace has
// stage, method, passes, reason and error. See [ridge.Solution.MarshalJSON] for the solutions. Choice, Bands and
// Summary are not written, because they have formats of their own.
func (r Result) MarshalJSON() ([]byte, error) {
	out := resultJSON{
		Method:    r.Method,
		Status:    r.Status,
		Passes:    r.Passes,
		Solutions: r.Solutions,
	}
	for _, s := range r.Trace {
		step := stepJSON{
			Stage:  s.Stage.String(),
			Method: s.Method,
			Passes: s.Passes,
			Reason: s.Reason,
		}
		if s.Err != nil {
			step.Error = s.Err.Error()
		}
		out.Trace = append(out.Trace, step)
	}
	return jsonfields.Value(out)
}

// UnmarshalJSON reads the output of MarshalJSON. Choice, Bands and Summary become nil. Errors in the trace keep only
// their texts. A null solution causes the error [ridge.ErrShape].
func (r *Result) UnmarshalJSON(text []byte) error {
	var in resultJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	out := Result{
		Method:    in.Method,
		Status:    in.Status,
		Passes:    in.Passes,
		Solutions: in.Solutions,
	}
	for i, s := range out.Solutions {
		if s == nil {
			return fmt.Errorf("%w: solution %d of a result is null", ridge.ErrShape, i+1)
		}
	}
	for _, s := range in.Trace {
		stage := slices.Index(stageNames[:], s.Stage)
		if stage < 0 {
			return fmt.Errorf("%w: %q is not a stage", ridge.ErrInput, s.Stage)
		}
		step := Step{
			Stage:  Stage(stage),
			Method: s.Method,
			Passes: s.Passes,
			Reason: s.Reason,
		}
		if s.Error != "" {
			step.Err = errors.New(s.Error)
		}
		out.Trace = append(out.Trace, step)
	}
	*r = out
	return nil
}
