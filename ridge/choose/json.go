package choose

import (
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// MarshalJSON writes the fields by their tags. An excess of +Inf is null.
func (c Choice) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(c) }

// UnmarshalJSON reads what MarshalJSON writes. An absent index is -1, as if there was no candidate. An
// absent excess is +Inf, an absent score reaches from -Inf to +Inf.
func (c *Choice) UnmarshalJSON(text []byte) error { return jsonfields.Unmarshal(text, c) }

// MarshalJSON writes the fields by their tags, those of the [Choice] first.
func (c GammaChoice) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(c) }

// UnmarshalJSON reads what MarshalJSON writes. A solution that is null is [ridge.ErrShape], as are scores
// of another number of γ.
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

// MarshalJSON writes the fields by their tags.
func (c BandChoice) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(c) }

// UnmarshalJSON reads what MarshalJSON writes. An absent choice has the index -1.
func (c *BandChoice) UnmarshalJSON(text []byte) error { return jsonfields.Unmarshal(text, c) }

// MarshalJSON writes the fields by their tags. A γ or a least GCV that is not finite is null.
func (b BandTrial) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(b) }

// UnmarshalJSON reads what MarshalJSON writes. A γ that is null or absent is NaN, the least GCV is -Inf
// then. A penalty that is null is [ridge.ErrInput].
func (b *BandTrial) UnmarshalJSON(text []byte) error { return jsonfields.Unmarshal(text, b) }

// MarshalJSON writes the fields by their tags. The summary is not written: it has formats of its own
// ([ridge.Summary.WriteTo]).
func (r CVResult) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(r) }

// UnmarshalJSON reads what MarshalJSON writes; Summary is nil. A γ that is null is [ridge.ErrInput],
// brackets of another number of γ are [ridge.ErrShape].
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
