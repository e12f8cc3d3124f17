// Package twofold computes with twice the digits of float64. [Sum] and [Product] return an exact result as two
// numbers: the rounded float64 and its round-off. A [Number] has a bound on its error. A [Total] adds up many
// numbers fast.
package twofold

import "math"

// Sum returns the rounded sum s of a and b, and its round-off e, so that a + b = s + e exactly (D. Knuth). s must
// not overflow.
func Sum(a, b float64) (s, e float64) {
	s = a + b
	z := s - a
	return s, (a - (s - z)) + (b - z)
}

// Product returns the rounded product p of a and b, and its round-off e, so that a·b = p + e exactly. The result p
// must not overflow, and e must not underflow. The conversion to float64 prevents the compiler from fusing the
// product with a later addition.
func Product(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// Lost is a bound on the round-off of [Add], divided by the sum of the magnitudes of the low parts.
const Lost = 0x1p-51

// Add adds the number h + l to the number *gh + *gl. e bounds the error of h + l, and *ge bounds the error of the
// sum. After Add, |*gl| is at most half a unit in the last place of *gh.
func Add(h, l, e float64, gh, gl, ge *float64) {
	s, missing := Sum(*gh, h)
	low := *gl + (l + missing)
	*ge += e + Lost*(math.Abs(l)+math.Abs(missing)+math.Abs(*gl))
	*gh, *gl = Sum(s, low)
}
