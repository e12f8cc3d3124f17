package ridge

import (
	"encoding/json"
	"math"
)

// Interval is a closed interval known to hold a quantity. It is the JSON array
// [lo, hi]; an end that is not finite is null.
type Interval struct{ Lo, Hi float64 }

// MarshalJSON writes [lo, hi].
func (v Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]*float64{finite(v.Lo), finite(v.Hi)})
}

func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Mid is the interval's midpoint.
func (v Interval) Mid() float64 { return v.Lo + (v.Hi-v.Lo)/2 }
