// Package twofold has sums and products of two float64 without error, as unevaluated
// sums of two: what rounding makes, and what it lost.
package twofold

import "math"

// Sum is a + b = s + e, s = fl(a + b) (D. Knuth), where nothing overflows.
func Sum(a, b float64) (s, e float64) {
	s = a + b
	z := s - a
	return s, (a - (s - z)) + (b - z)
}

// Product is a·b = p + e, p = fl(a·b), where nothing overflows and e does not underflow. The
// conversion keeps the compiler from fusing the product with a sum that p goes into.
func Product(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// Lost is what [Add] may lose, of the magnitudes of the low parts in it: four roundings.
const Lost = 0x1p-51

// Add adds h + l, known up to e, to the sum gh + gl, known up to ge. |gl| is then at most
// half an ulp of gh.
func Add(h, l, e float64, gh, gl, ge *float64) {
	s, missing := Sum(*gh, h)
	low := *gl + (l + missing)
	*ge += e + Lost*(math.Abs(l)+math.Abs(missing)+math.Abs(*gl))
	*gh, *gl = Sum(s, low)
}
