// Package interval implements arithmetic with closed intervals. Each interval brackets a number that is not known
// exactly. This means that the interval is proved to contain the number.
package interval

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// An Interval contains the numbers from Lo to Hi.
type Interval struct{ Lo, Hi float64 }

// Around returns the interval from max(0, x−radius) to x+radius. It contains every nonnegative number that differs
// from x by at most radius.
func Around(x, radius float64) Interval {
	return Interval{math.Max(0, x-radius), x + radius}
}

// Outward returns the interval from max(0, x−radius) to x+radius, with both ends rounded outward to the next
// float64. If |x| + radius is not finite, it returns [0, ∞).
func Outward(x, radius float64) Interval {
	if !(math.Abs(x)+radius <= math.MaxFloat64) {
		return Nonnegative()
	}
	lo := math.Nextafter(x-radius, math.Inf(-1))
	hi := math.Nextafter(x+radius, math.Inf(1))
	return Interval{math.Max(0, lo), hi}
}

// Nonnegative returns [0, ∞).
func Nonnegative() Interval {
	return Interval{0, math.Inf(1)}
}

// Unknown returns (−∞, ∞).
func Unknown() Interval {
	return Interval{math.Inf(-1), math.Inf(1)}
}

// IsNaN reports whether the lower or the upper end of v is NaN. Such an interval carries no information.
func (v Interval) IsNaN() bool {
	return math.IsNaN(v.Lo) || math.IsNaN(v.Hi)
}

// Intersect returns the intersection of a and b, which must be brackets of the same number. If a and b are
// disjoint, because of round-off, it returns the smallest interval that contains both. If an end of a or b is NaN,
// it returns the other interval.
func Intersect(a, b Interval) Interval {
	switch {
	case a.IsNaN():
		return b
	case b.IsNaN():
		return a
	case Apart(a, b):
		return Interval{math.Min(a.Lo, b.Lo), math.Max(a.Hi, b.Hi)}
	}
	return Interval{math.Max(a.Lo, b.Lo), math.Min(a.Hi, b.Hi)}
}

// Mid returns the midpoint of v, or +Inf if v.Hi is +Inf.
func (v Interval) Mid() float64 {
	if math.IsInf(v.Hi, 1) {
		return v.Hi
	}
	return v.Lo + (v.Hi-v.Lo)/2
}

// Estimate returns x if it lies in v, and the midpoint of v otherwise.
func (v Interval) Estimate(x float64) float64 {
	if v.Lo <= x && x <= v.Hi {
		return x
	}
	return v.Mid()
}

// Apart reports whether two intervals are disjoint.
func Apart(a, b Interval) bool {
	return a.Lo > b.Hi || b.Lo > a.Hi
}

// Total returns a bracket of the sum of some numbers. parts has a bracket of each number.
func Total(parts []Interval) Interval {
	var sum Interval
	for _, v := range parts {
		sum.Lo += v.Lo
		sum.Hi += v.Hi
	}
	round := float64(len(parts)) * roundoff.Eps
	var size Interval // the sums of the magnitudes
	for _, v := range parts {
		size.Lo += math.Abs(v.Lo)
		size.Hi += math.Abs(v.Hi)
	}
	if size != sum { // some numbers may be negative
		return Interval{sum.Lo - 2*round*size.Lo, sum.Hi + 2*round*size.Hi}
	}
	return Interval{sum.Lo * (1 - round), sum.Hi * (1 + round)}
}

// WidenRoot returns a bracket of y² for a number y ≥ 0 that is near the square root z of a number in v. The
// distance |y − z| must be at most distance. The bracket allows for the underflow error of up to eight products.
func WidenRoot(v Interval, distance float64) Interval {
	const lost = 8 * roundoff.Underflow
	lo := math.Max(0, math.Sqrt(math.Max(0, inRange(v.Lo)-lost))-distance)
	hi := math.Sqrt(v.Hi+lost) + distance
	return Interval{math.Max(0, inRange(lo*lo)-lost), hi*hi + lost}
}

// inRange returns the lower bound lo, or the largest float64 if lo has overflowed to +Inf.
func inRange(lo float64) float64 { return math.Min(lo, math.MaxFloat64) }

// Squared returns a bracket of x² for a number x ≥ 0 between lo and hi. The bracket is valid even if the square of
// lo or hi underflows or overflows.
func Squared(lo, hi float64) Interval {
	lo = math.Max(0, lo)
	out := Interval{math.Max(0, inRange(lo*lo)-roundoff.Underflow), hi * hi}
	if hi > 0 {
		out.Hi += roundoff.Underflow
	}
	return out
}

// PerWeight returns a bracket of x/w for a number x in v and the total weight w of the rows. The argument weight is
// the computed value of w, and round bounds its relative error.
func PerWeight(v Interval, weight, round float64) Interval {
	const lost = 4 * roundoff.Underflow // underflow in the quotients and products
	round += 2 * roundoff.Eps
	out := Interval{math.Max(0, v.Lo/weight*(1-round)-lost), v.Hi / weight * (1 + round)}
	out.Lo = math.Min(out.Lo, math.MaxFloat64) // if the quotient overflowed
	if v.Hi > 0 {
		out.Hi += lost
	}
	return out
}
