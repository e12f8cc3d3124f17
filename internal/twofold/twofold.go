// Package twofold computes with twice the digits of float64. [Sum] and [Product] are without error, as a rounded
// float64 plus the round-off. A [Number] has a bound on its error, and a [Total] sums many numbers fast.
package twofold

import "math"

// Sum returns s and e with a + b = s + e exactly, where s is the rounded sum (D. Knuth). s must not overflow.
func Sum(a, b float64) (s, e float64) {
	s = a + b
	z := s - a
	return s, (a - (s - z)) + (b - z)
}

// Product returns p and e with a·b = p + e exactly, where p is the rounded product. p must not overflow, and e must
// not underflow. The conversion to float64 keeps the compiler from fusing the product with a later addition.
func Product(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// Lost bounds the round-off of [Add], relative to the sum of the magnitudes of the low parts.
const Lost = 0x1p-51

// Add adds h + l to the sum *gh + *gl. e bounds the error of h + l, and *ge bounds the error of the sum. Afterwards
// |*gl| is at most half a unit in the last place of *gh.
func Add(h, l, e float64, gh, gl, ge *float64) {
	s, missing := Sum(*gh, h)
	low := *gl + (l + missing)
	*ge += e + Lost*(math.Abs(l)+math.Abs(missing)+math.Abs(*gl))
	*gh, *gl = Sum(s, low)
}
