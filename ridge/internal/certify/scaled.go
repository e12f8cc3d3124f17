package certify

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Rounded returns the Columns of the features before their entries were rounded. Every entry that was read differs
// from the exact entry by at most units[j]·roundoff.Unit times its magnitude, in column j, plus an underflow. norms
// has bounds on the norms of the columns after centring, and root is √Σw. If units is nil, or Scaled is known
// already, the result is c. docs/math.md §14, "Scaled columns", has the bounds.
func (c Columns) Rounded(units, norms []float64, root float64) Columns {
	if units == nil || c.Scaled != nil {
		return c
	}
	out := c
	out.Units, out.Scaled, out.reach = units, make([]float64, len(units)), make([]float64, len(units))
	out.Displaced, out.MeanErrors = slices.Clone(c.Displaced), slices.Clone(c.MeanErrors)
	for j, k := range units {
		reach := norms[j] + c.Displaced[j] // bounds √Σwa² for the entries a of the column
		if c.Means != nil {
			reach = math.Hypot(reach, root*(math.Abs(c.Means[j])+c.MeanErrors[j]))
		}
		out.reach[j] = reach * inflate
		if k == 0 {
			continue
		}
		off := (k*roundoff.Unit*reach + root*roundoff.Underflow) * inflate
		out.Scaled[j] = off
		out.Displaced[j] += off
		if c.Means != nil {
			out.MeanErrors[j] += off / root * inflate
		}
	}
	return out
}

// roundedFrom is like Rounded for the columns first, first+1, … of all columns. If units is nil, they are exact, and
// only columns before first were rounded. norms has bounds on the norms of all columns. Units and Scaled of the result
// have an element for each of all columns.
func (c Columns) roundedFrom(first int, units, norms []float64, root float64) Columns {
	if units == nil && c.Units == nil {
		return c
	}
	all := make([]float64, len(c.Displaced))
	copy(all, c.Units)
	copy(all[first:], units)
	before := c
	before.Units, before.Scaled = nil, nil
	out := before.Rounded(all, norms, root)
	if c.Scaled != nil { // Displaced and MeanErrors have the rounding of the columns before first
		copy(out.Displaced[:first], c.Displaced)
		if c.Means != nil {
			copy(out.MeanErrors[:first], c.MeanErrors)
		}
	}
	return out
}

// rounding returns element j of Scaled, or 0.
func (c *Columns) rounding(j int) float64 {
	if c.Scaled == nil {
		return 0
	}
	return c.Scaled[j]
}

// roundingOf returns a bound on the norm of the rounding of Zb for the first columns Z.
func (c *Columns) roundingOf(b []float64) float64 {
	if c.Scaled == nil {
		return 0
	}
	return vec.AbsDot(c.Scaled[:len(b)], b)
}

// entry returns the largest number in Units, in units of eps.
func (c *Columns) entry() float64 {
	if len(c.Units) == 0 {
		return 0
	}
	return slices.Max(c.Units) / 2 * inflate
}

// meanSize bounds the norm of the means of the features, if these were rounded. Otherwise it is 0.
func (c *Columns) meanSize() float64 {
	if c.Units == nil || c.Means == nil {
		return 0
	}
	d := len(c.Units)
	return (vec.Norm(c.Means[:d]) + vec.Norm(c.MeanErrors[:d])) * inflate
}

// Scattered returns a bound on ‖Fx‖, where F has the errors of the features that Rounded describes. The norm of
// column j of F is at most Scaled[j].
func (c *Columns) Scattered(x []float64) float64 {
	if c.Scaled == nil {
		return 0
	}
	return vec.AbsDot(c.Scaled, x) * inflate
}

// ofMean returns a bound on the mean of Fx, if scattered bounds ‖Fx‖ and root is √Σw. Without an intercept it
// is 0.
func (c *Columns) ofMean(scattered, root float64) float64 {
	if c.Means == nil || scattered == 0 {
		return 0
	}
	return scattered / root * inflate
}

// Unround turns a measurement at X + Low for the rows as read into a measurement for exact features. With the residual
// r, the exact gradient is the measured one minus Fᵀr + AᵀFx. The arguments are a [Corrected] without its step, and
// √Σw.
func (c *Columns) Unround(m *Corrected, root float64) {
	if c.Scaled == nil {
		return
	}
	scattered := c.Scattered(m.X) + c.Scattered(m.Low)
	r := math.Sqrt(m.RSS.Hi) * inflate // bounds the norm of the residual at X + Low
	if m.Low != nil {
		r += vec.AbsDot(c.reach, m.Low) * inflate
	}
	m.Bounds = slices.Clone(m.Bounds)
	for j, v := range c.Scaled {
		m.Bounds[j] += v * r * inflate
	}
	m.Residual += scattered
	m.RSS = widen(m.RSS, scattered)
	m.meanOff = c.ofMean(scattered, root)
}

// widen returns the squares of numbers within by of the roots of v.
func widen(v interval.Interval, by float64) interval.Interval {
	if by == 0 {
		return v
	}
	v = interval.WidenRoot(v, by)
	return interval.Interval{Lo: v.Lo * (1 - few*eps), Hi: v.Hi * (1 + few*eps)}
}
