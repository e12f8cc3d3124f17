package ridge

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/internal/jsonfields"
)

// Interval is a closed interval that is proved to contain a quantity. In JSON it is an array [lo, hi], in which
// null stands for an end that is not finite.
type Interval struct {
	Lo float64 `null:"-Inf"`
	Hi float64 `null:"+Inf"`
}

// MarshalJSON writes [lo, hi].
func (v Interval) MarshalJSON() ([]byte, error) {
	return jsonfields.Value([2]*float64{finite(v.Lo), finite(v.Hi)})
}

func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// UnmarshalJSON reads the output of MarshalJSON. A null at an end becomes −Inf or +Inf.
func (v *Interval) UnmarshalJSON(text []byte) error {
	var ends []*float64
	if err := json.Unmarshal(text, &ends); err != nil {
		return jsonfields.Explain(err)
	}
	if len(ends) != 2 {
		return fmt.Errorf("ridge: an interval has two ends, not %d", len(ends))
	}
	*v = Interval{math.Inf(-1), math.Inf(1)}
	if ends[0] != nil {
		v.Lo = *ends[0]
	}
	if ends[1] != nil {
		v.Hi = *ends[1]
	}
	return nil
}

// Mid returns the midpoint.
func (v Interval) Mid() float64 {
	return v.Lo + (v.Hi-v.Lo)/2
}
