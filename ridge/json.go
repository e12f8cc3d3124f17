package ridge

import (
	"slices"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
)

// MarshalJSON writes the fields under the names in their struct tags. It writes null for a bound of +Inf and for an
// infinite end of an interval.
func (c Certificate) MarshalJSON() ([]byte, error) {
	return jsonfields.Marshal(c)
}

// UnmarshalJSON reads the output of MarshalJSON. A null or absent bound becomes +Inf. An absent interval becomes
// (−Inf, +Inf).
func (c *Certificate) UnmarshalJSON(text []byte) error {
	return jsonfields.Unmarshal(text, c)
}

// MarshalJSON writes the fields under the names in their struct tags. It writes null for an Intercept, ComputedTSS
// or GradientNorm that is NaN. It returns an error for coefficients that are not finite.
func (t Target) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(t) }

// UnmarshalJSON reads the output of MarshalJSON. An Intercept, ComputedTSS or GradientNorm that is null or absent
// becomes NaN. The bounds of an absent certificate become infinite. If a coefficient is null, the error is [ErrInput].
func (t *Target) UnmarshalJSON(text []byte) error {
	return jsonfields.Unmarshal(text, t)
}

// MarshalJSON writes the fields under the names in their struct tags, without loss of precision. The file of a
// saved model (package model) uses the same names for these fields.
//
// An infinite bound, an infinite end of an interval and an unknown number are written as null. MarshalJSON returns
// an error if coefficients, penalties or γ are not finite.
func (s Solution) MarshalJSON() ([]byte, error) { return jsonfields.Marshal(s) }

// UnmarshalJSON reads the output of MarshalJSON. Absent bounds become +Inf, and absent intervals become (−Inf,
// +Inf). The error is [ErrShape] if the coefficients of two targets, or the coefficients and the penalties, differ
// in length. The error is [ErrInput] if the status is unknown or the penalty γ is negative. After an error, s is
// unchanged.
func (s *Solution) UnmarshalJSON(text []byte) error {
	var out Solution
	if err := jsonfields.Unmarshal(text, &out); err != nil {
		return err
	}
	if out.Gamma < 0 {
		return errtext.BadInput("ridge: a solution at gamma = %v", out.Gamma)
	}
	t, d := out.Dims()
	if out.Gammas != nil &&
		(len(out.Gammas) != t || out.Gamma != slices.Min(out.Gammas)) {
		return unfit("%d gammas for %d targets, or gamma is not the smallest", len(out.Gammas), t)
	}
	if !out.hasShape(t, d) || out.Penalty != nil && len(out.Penalty) != d && d > 0 {
		return unfit("the targets of a solution, and its penalty, have different lengths")
	}
	for _, o := range out.Targets {
		if (o.Scaled != nil) != (out.Penalty != nil && d > 0) ||
			o.Scaled != nil && len(o.Scaled) != d {
			return unfit(
				"a target has %d scaled coefficients, but the solution has %d penalties for %d features",
				len(o.Scaled),
				len(out.Penalty),
				d,
			)
		}
	}
	*s = out
	return nil
}
