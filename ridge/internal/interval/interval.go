// Package interval has closed intervals that are known to hold a number, and the arithmetic
// with them.
package interval

import (
	"math"

	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// An Interval holds the numbers from Lo to Hi.
type Interval struct{ Lo, Hi float64 }

// Around is what is known of a number that is not negative and known to some error.
func Around(x, off float64) Interval { return Interval{math.Max(0, x-off), x + off} }

// Outward is Around, rounded outward. Of an x that is none, or whose error is not finite, it
// says nothing.
func Outward(x, off float64) Interval {
	if !(math.Abs(x)+off <= math.MaxFloat64) {
		return Nonnegative()
	}
	return Interval{math.Max(0, math.Nextafter(x-off, math.Inf(-1))), math.Nextafter(x+off, math.Inf(1))}
}

// Nonnegative is what is known of a number that is not negative.
func Nonnegative() Interval { return Interval{0, math.Inf(1)} }

// Unknown is the interval of all numbers.
func Unknown() Interval { return Interval{math.Inf(-1), math.Inf(1)} }

// IsNaN reports that an end is no number: such an interval says nothing.
func (v Interval) IsNaN() bool { return math.IsNaN(v.Lo) || math.IsNaN(v.Hi) }

// Intersect returns what two intervals that hold the same number share. Where
// round-off leaves them a hair apart it is what both span; one that is NaN says nothing.
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

// Apart reports that two intervals share nothing.
func Apart(a, b Interval) bool { return a.Lo > b.Hi || b.Lo > a.Hi }

// Total is the bracket of a sum of numbers that are not negative.
func Total(parts []Interval) Interval {
	var sum Interval
	for _, v := range parts {
		sum.Lo += v.Lo
		sum.Hi += v.Hi
	}
	round := float64(len(parts)) * roundoff.Eps
	return Interval{sum.Lo * (1 - round), sum.Hi * (1 + round)}
}

// WidenRoot brackets the square of a norm that differs by no more than by from one whose
// square is in v. A few products may have underflowed.
func WidenRoot(v Interval, by float64) Interval {
	const lost = 8 * roundoff.Underflow
	lo := math.Max(0, math.Sqrt(math.Max(0, v.Lo-lost))-by)
	hi := math.Sqrt(v.Hi+lost) + by
	return Interval{math.Max(0, inRange(lo*lo)-lost), hi*hi + lost}
}

// inRange is a bound from below, the largest number where it has overflowed.
func inRange(lo float64) float64 { return math.Min(lo, math.MaxFloat64) }

// Squared brackets x² for lo <= x <= hi and x >= 0, underflow and overflow included.
func Squared(lo, hi float64) Interval {
	lo = math.Max(0, lo)
	out := Interval{math.Max(0, inRange(lo*lo)-roundoff.Underflow), hi * hi}
	if hi > 0 {
		out.Hi += roundoff.Underflow
	}
	return out
}

// PerWeight returns v/weight for a weight whose relative error is at most round.
func PerWeight(v Interval, weight, round float64) Interval {
	const lost = 4 * roundoff.Underflow // of quotients below the normal numbers
	round += 2 * roundoff.Eps
	out := Interval{math.Max(0, v.Lo/weight*(1-round)-lost), v.Hi / weight * (1 + round)}
	out.Lo = math.Min(out.Lo, math.MaxFloat64) // of a quotient beyond range
	if v.Hi > 0 {
		out.Hi += lost
	}
	return out
}
