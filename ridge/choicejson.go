package ridge

import (
	"encoding/json"
	"math"
)

// choiceJSON is a [Choice] as it is written.
type choiceJSON struct {
	Index    *int      `json:"index"`
	Score    *Interval `json:"score"`
	Certain  bool      `json:"certain"`
	Possible []int     `json:"possible"`
	Excess   *float64  `json:"excess"`
}

// gammaChoiceJSON is a [GammaChoice] as it is written.
type gammaChoiceJSON struct {
	choiceJSON
	By      Criterion    `json:"by"`
	Path    []*Solution  `json:"path"`
	Scores  [][]Interval `json:"scores"`
	CV      *CVResult    `json:"cv,omitempty"`
	Passes  int          `json:"passes"`
	Whole   bool         `json:"whole"`
	Spent   string       `json:"spent,omitempty"`
	Unknown weights      `json:"unknown,omitempty"`
}

// bandChoiceJSON is a [BandChoice] as it is written.
type bandChoiceJSON struct {
	Bands  []Band      `json:"bands"`
	Choice *Choice     `json:"choice"`
	Tried  []BandTrial `json:"tried"`
	AtEnd  bool        `json:"at_end"`
	Passes int         `json:"passes"`
	Whole  bool        `json:"whole"`
	Spent  string      `json:"spent,omitempty"`
}

// bandTrialJSON is a [BandTrial] as it is written.
type bandTrialJSON struct {
	Penalties weights   `json:"penalties"`
	Gamma     *float64  `json:"gamma"`
	GCV       *Interval `json:"gcv"`
	Least     *float64  `json:"least"`
}

// cvJSON is a [CVResult] as it is written.
type cvJSON struct {
	Gammas weights      `json:"gammas"`
	Fitted [][]Interval `json:"fitted"`
	Ridge  [][]Interval `json:"ridge"`
	Passes int          `json:"passes"`
}

func (c Choice) written() choiceJSON {
	return choiceJSON{Index: &c.Index, Score: &c.Score, Certain: c.Certain, Possible: c.Possible, Excess: finite(c.Excess)}
}

func (in choiceJSON) read() Choice {
	c := Choice{Index: -1, Score: within(in.Score), Certain: in.Certain, Possible: in.Possible, Excess: atMost(in.Excess)}
	if in.Index != nil {
		c.Index = *in.Index
	}
	return c
}

// MarshalJSON writes index, score as [Interval] is written, certain, possible, and excess, null
// for +Inf.
func (c Choice) MarshalJSON() ([]byte, error) { return json.Marshal(c.written()) }

// UnmarshalJSON reads what MarshalJSON writes. What is not there is not known: the excess is +Inf,
// the score without ends, and an index that is missing is -1, as where there was no candidate.
func (c *Choice) UnmarshalJSON(text []byte) error {
	var in choiceJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*c = in.read()
	return nil
}

// MarshalJSON writes the fields of the choice, as [Choice.MarshalJSON] does, and beside them by (the
// criterion by its name), path (a list of what [Solution.MarshalJSON] writes), scores, cv where
// there is one, passes, whole, spent, and unknown where γ were left out.
func (c GammaChoice) MarshalJSON() ([]byte, error) {
	return json.Marshal(gammaChoiceJSON{
		choiceJSON: c.written(), By: c.By, Path: c.Path, Scores: c.Scores, CV: c.CV, Passes: c.Passes, Whole: c.Whole, Spent: c.Spent,
		Unknown: c.Unknown,
	})
}

// UnmarshalJSON reads what MarshalJSON writes. A solution that is null is [ErrShape], as are scores
// of another number of γ.
func (c *GammaChoice) UnmarshalJSON(text []byte) error {
	var in gammaChoiceJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	for i, s := range in.Path {
		if s == nil {
			return unfit("solution %d of a choice is null", i+1)
		}
	}
	if in.Scores != nil && len(in.Scores) != len(in.Path) {
		return unfit("a choice has scores of %d candidates, and solutions of %d", len(in.Scores), len(in.Path))
	}
	*c = GammaChoice{
		Choice: in.read(), By: in.By, Path: in.Path, Scores: in.Scores, CV: in.CV, Passes: in.Passes, Whole: in.Whole, Spent: in.Spent,
		Unknown: in.Unknown,
	}
	return nil
}

// MarshalJSON writes bands (name, columns, penalty), choice as [Choice.MarshalJSON] does, tried,
// at_end, passes, whole and spent.
func (c BandChoice) MarshalJSON() ([]byte, error) {
	return json.Marshal(bandChoiceJSON{
		Bands: c.Bands, Choice: &c.Choice, Tried: c.Tried, AtEnd: c.AtEnd, Passes: c.Passes, Whole: c.Whole, Spent: c.Spent,
	})
}

// UnmarshalJSON reads what MarshalJSON writes. A choice that is not there is one of nothing.
func (c *BandChoice) UnmarshalJSON(text []byte) error {
	nothing := Choose(nil)
	in := bandChoiceJSON{Choice: &nothing}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if in.Choice == nil { // it was null
		in.Choice = &nothing
	}
	*c = BandChoice{Bands: in.Bands, Choice: *in.Choice, Tried: in.Tried, AtEnd: in.AtEnd, Passes: in.Passes, Whole: in.Whole, Spent: in.Spent}
	return nil
}

// MarshalJSON writes penalties, gamma and least, null where they are not finite, and gcv as
// [Interval] is written.
func (b BandTrial) MarshalJSON() ([]byte, error) {
	return json.Marshal(bandTrialJSON{Penalties: b.Penalties, Gamma: finite(b.Gamma), GCV: &b.GCV, Least: finite(b.Least)})
}

// UnmarshalJSON reads what MarshalJSON writes: a γ that is null or not there is NaN, the least GCV
// then -Inf. A penalty that is null is [ErrInput].
func (b *BandTrial) UnmarshalJSON(text []byte) error {
	var in bandTrialJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*b = BandTrial{Penalties: in.Penalties, Gamma: value(in.Gamma), GCV: within(in.GCV), Least: or(in.Least, math.Inf(-1))}
	return nil
}

// MarshalJSON writes gammas, the brackets fitted and ridge, a list of targets for each γ, as
// [Interval] is written, and passes. The summary is not written; it has formats of its own
// ([Summary.WriteTo]).
func (r CVResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(cvJSON{Gammas: r.Gammas, Fitted: r.Fitted, Ridge: r.Ridge, Passes: r.Passes})
}

// UnmarshalJSON reads what MarshalJSON writes; Summary is nil. A γ that is null is [ErrInput],
// brackets of another number of γ are [ErrShape].
func (r *CVResult) UnmarshalJSON(text []byte) error {
	var in cvJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	for _, scores := range [][][]Interval{in.Fitted, in.Ridge} {
		if scores != nil && len(scores) != len(in.Gammas) {
			return unfit("a cross-validation of %d gamma has scores of %d", len(in.Gammas), len(scores))
		}
	}
	*r = CVResult{Gammas: in.Gammas, Fitted: in.Fitted, Ridge: in.Ridge, Passes: in.Passes}
	return nil
}
