package choose

import (
	"encoding/json"
	"math"

	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// MarshalJSON writes the fields under the names in their tags. An Excess of +Inf is written as null.
func (c Choice) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(c) }

// UnmarshalJSON reads the output of MarshalJSON. A missing Index becomes −1 (no candidate), and a missing Excess
// becomes +Inf. A missing Score becomes [−Inf, +Inf].
func (c *Choice) UnmarshalJSON(text []byte) error {
	return jsonfields.Unmarshal(text, c)
}

// MarshalJSON writes the fields under the names in their tags, beginning with the fields of the embedded [Choice].
func (c GammaChoice) MarshalJSON() ([]byte, error) {
	return jsonfields.Marshal(c)
}

// UnmarshalJSON reads the output of MarshalJSON. The error is [ridge.ErrShape] if a solution is null, or if the
// numbers of scores and solutions differ.
func (c *GammaChoice) UnmarshalJSON(text []byte) error {
	var out GammaChoice
	if err := jsonfields.Unmarshal(text, &out); err != nil {
		return err
	}
	for i, s := range out.Path {
		if s == nil {
			return rows.Unfit("solution %d of a choice is null", i+1)
		}
	}
	if out.Scores != nil && len(out.Scores) != len(out.Path) {
		return rows.Unfit("a choice has scores of %d candidates, and solutions of %d", len(out.Scores), len(out.Path))
	}
	*c = out
	return nil
}

// MarshalJSON writes the fields under the names in their tags.
func (c BandChoice) MarshalJSON() ([]byte, error) {
	return jsonfields.Marshal(c)
}

// UnmarshalJSON reads the output of MarshalJSON. If Choice is missing, Choice.Index becomes −1.
func (c *BandChoice) UnmarshalJSON(text []byte) error {
	return jsonfields.Unmarshal(text, c)
}

// MarshalJSON writes the fields under the names in their tags. A Gamma or Least that is not finite is written as null.
func (b BandTrial) MarshalJSON() ([]byte, error) {
	return jsonfields.Marshal(b)
}

// UnmarshalJSON reads the output of MarshalJSON. A null or missing Gamma becomes NaN. A null or missing Least becomes
// −Inf. The error is [ridge.ErrInput] if a penalty is null.
func (b *BandTrial) UnmarshalJSON(text []byte) error {
	return jsonfields.Unmarshal(text, b)
}

// targetChoiceJSON is the JSON form of a [TargetChoice]. In Excess, nil stands for +Inf.
type targetChoiceJSON struct {
	targetChoiceFields
	Excess []*float64 `json:"excess"`
}

type targetChoiceFields TargetChoice

// MarshalJSON writes the fields under the names in their tags. An Excess of +Inf is written as null.
func (c TargetChoice) MarshalJSON() ([]byte, error) {
	out := targetChoiceJSON{targetChoiceFields: targetChoiceFields(c)}
	for i, v := range c.Excess {
		out.Excess = append(out.Excess, nil)
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			out.Excess[i] = &c.Excess[i]
		}
	}
	return jsonfields.Value(out)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (c *TargetChoice) UnmarshalJSON(text []byte) error {
	var in targetChoiceJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	out := TargetChoice(in.targetChoiceFields)
	out.Excess = nil
	for _, v := range in.Excess {
		excess := math.Inf(1)
		if v != nil {
			excess = *v
		}
		out.Excess = append(out.Excess, excess)
	}
	*c = out
	return nil
}

// MarshalJSON writes the fields under the names in their tags. It omits the field Summary, which
// [ridge.Summary.WriteTo] can write in a format of its own.
func (r CVResult) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(r) }

// UnmarshalJSON reads the output of MarshalJSON. The field Summary becomes nil. If a γ is null, the error is
// [ridge.ErrInput]. If the numbers of brackets and γ differ, the error is [ridge.ErrShape].
func (r *CVResult) UnmarshalJSON(text []byte) error {
	var out CVResult
	if err := jsonfields.Unmarshal(text, &out); err != nil {
		return err
	}
	for _, scores := range [][][]ridge.Interval{out.Fitted, out.Ridge} {
		if scores != nil && len(scores) != len(out.Gammas) {
			return rows.Unfit("a cross-validation of %d gamma has scores of %d", len(out.Gammas), len(scores))
		}
	}
	*r = out
	return nil
}
