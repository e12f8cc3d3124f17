package fdridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fdridge/fdridge/ridge"
)

// resultJSON is a [Result] as it is written.
type resultJSON struct {
	Method    ridge.Method      `json:"method"`
	Status    ridge.Status      `json:"status"`
	Passes    int               `json:"passes"`
	Trace     []stepJSON        `json:"trace,omitempty"`
	Solutions []*ridge.Solution `json:"solutions"`
}

// stepJSON is a [Step] as it is written.
type stepJSON struct {
	Stage  string       `json:"stage"`
	Method ridge.Method `json:"method"`
	Passes int          `json:"passes"`
	Reason ridge.Reason `json:"reason"`
	Error  string       `json:"error,omitempty"`
}

// MarshalJSON writes method, status, passes, trace (a list of stage, method, passes, reason and error) and solutions, each as
// [ridge.Solution.MarshalJSON] writes it. Choice and Bands have JSON of their own; the summary has formats of its own.
func (r Result) MarshalJSON() ([]byte, error) {
	out := resultJSON{Method: r.Method, Status: r.Status, Passes: r.Passes, Solutions: r.Solutions}
	for _, s := range r.Trace {
		step := stepJSON{Stage: s.Stage.String(), Method: s.Method, Passes: s.Passes, Reason: s.Reason}
		if s.Err != nil {
			step.Error = s.Err.Error()
		}
		out.Trace = append(out.Trace, step)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes. Choice, Bands and Summary are nil, and the errors of the trace are texts. A solution that is
// null is [ridge.ErrShape].
func (r *Result) UnmarshalJSON(text []byte) error {
	var in resultJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	out := Result{Method: in.Method, Status: in.Status, Passes: in.Passes, Solutions: in.Solutions}
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
		step := Step{Stage: Stage(stage), Method: s.Method, Passes: s.Passes, Reason: s.Reason}
		if s.Error != "" {
			step.Err = errors.New(s.Error)
		}
		out.Trace = append(out.Trace, step)
	}
	*r = out
	return nil
}
