package ridge

import (
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/jsonfields"
)

// MarshalJSON writes the fields by their tags. A bound of +Inf is null, and so is an infinite end of an
// interval.
func (c Certificate) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(c) }

// UnmarshalJSON reads what MarshalJSON writes. A bound that is null or absent is +Inf, and an interval
// that is absent reaches from -Inf to +Inf: they promise nothing.
func (c *Certificate) UnmarshalJSON(text []byte) error { return jsonfields.Unmarshal(text, c) }

// MarshalJSON writes the fields by their tags. An intercept, ComputedTSS or GradientNorm that is NaN is
// null. Weights that are not finite are an error.
func (t Target) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(t) }

// UnmarshalJSON reads what MarshalJSON writes. A number that is null or absent is NaN. An absent
// certificate promises nothing. A weight that is null is [ErrInput].
func (t *Target) UnmarshalJSON(text []byte) error { return jsonfields.Unmarshal(text, t) }

// MarshalJSON writes the fields by their tags, so that UnmarshalJSON reads them to the bit. The names
// are those of a saved model (package model), which also keeps how rows are prepared. Here the solution
// is written alone.
//
// A bound or an end of an interval that is infinite is null, and so is a number that is not known.
// Weights, penalties and a γ that are not finite are an error.
func (s Solution) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(s) }

// UnmarshalJSON reads what MarshalJSON writes. Absent bounds are +Inf, absent intervals reach from -Inf
// to +Inf. Targets, or a penalty, of different lengths are [ErrShape]. An unknown status and a negative
// γ are [ErrInput]. After an error s is unchanged.
func (s *Solution) UnmarshalJSON(text []byte) error {
	var out Solution
	if err := jsonfields.Unmarshal(text, &out); err != nil {
		return err
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
