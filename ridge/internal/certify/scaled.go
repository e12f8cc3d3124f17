package certify

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Rounded returns the bounds of c for the exact features, before scaling rounded their entries. In column j, a
// scaled entry has a relative error of at most units[j]·roundoff.Unit, apart from underflow. The argument norms
// holds bounds on the norms of the centred columns, and root is the square root of the total weight. If units is
// nil, or c already includes the rounding, the result is c. docs/math.md §14, "Scaled columns", has the bounds.
func (c Columns) Rounded(units, norms []float64, root float64) Columns {
	if units == nil || c.Scaled != nil {
		return c
	}
	out := c
	out.Units = units
	out.Scaled = make([]float64, len(units))
	out.reach = make([]float64, len(units))
	out.Displaced = slices.Clone(c.Displaced)
	out.MeanErrors = slices.Clone(c.MeanErrors)
	for j, k := range units {
		reach := norms[j] + c.Displaced[j] // bounds √Σwa² for the entries a of the column
		if c.Means != nil {
			mean := math.Abs(c.Means[j]) + c.MeanErrors[j]
			reach = math.Hypot(reach, root*mean)
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

// roundedFrom adds to c the rounding of the columns from index first on, as Rounded does. The argument units has an
// element for each of these columns, or is nil if they are exact. c must already contain the rounding of the
// columns before first. The argument norms holds bounds on the norms of all columns. Units and Scaled of the result
// have an element for each column.
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
	if c.Scaled != nil { // Displaced and MeanErrors already include the rounding of the columns before first
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

// roundingOf returns a bound on the norm of the error of Zb from the rounding of Z, the first len(b) columns.
func (c *Columns) roundingOf(b []float64) float64 {
	if c.Scaled == nil {
		return 0
	}
	return vec.AbsDot(c.Scaled[:len(b)], b)
}

// entry returns the largest relative error of an entry that Units states, in units of eps.
func (c *Columns) entry() float64 {
	if len(c.Units) == 0 {
		return 0
	}
	return slices.Max(c.Units) / 2 * inflate
}

// meanSize returns a bound on the norm of the means of the features. It returns 0 if scaling has not rounded the
// features, or if there is no intercept.
func (c *Columns) meanSize() float64 {
	if c.Units == nil || c.Means == nil {
		return 0
	}
	d := len(c.Units)
	return (vec.Norm(c.Means[:d]) + vec.Norm(c.MeanErrors[:d])) * inflate
}

// Scattered returns a bound on ‖Fx‖, where F is the matrix of rounding errors of the scaled features
// ([Columns.Rounded]). The norm of column j of F is at most Scaled[j].
func (c *Columns) Scattered(x []float64) float64 {
	if c.Scaled == nil {
		return 0
	}
	return vec.AbsDot(c.Scaled, x) * inflate
}

// ofMean returns a bound on the weighted mean of the elements of a vector with a norm of at most scattered. root is
// the square root of the total weight. Without an intercept, ofMean returns 0.
func (c *Columns) ofMean(scattered, root float64) float64 {
	if c.Means == nil || scattered == 0 {
		return 0
	}
	return scattered / root * inflate
}

// Unround widens the bounds in m, which was measured with rounded features at x = X + Low, to hold for the exact
// features. Let F be the rounding errors of the features, and r the residual. The exact gradient is the measured
// gradient minus Fᵀr and minus AᵀFx. The step in m is not used. root is the square root of the total weight.
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

// widen returns a bracket of the squares of all numbers that differ from some square root of a number in v by at
// most by.
func widen(v interval.Interval, by float64) interval.Interval {
	if by == 0 {
		return v
	}
	v = interval.WidenRoot(v, by)
	return interval.Interval{Lo: v.Lo * downward, Hi: v.Hi * upward}
}
