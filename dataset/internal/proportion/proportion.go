// Package proportion computes proportions of integers without overflow.
package proportion

import "math/bits"

// Of returns n·a/b rounded down, for n >= 0, 0 <= a <= b and b > 0. The result is exact even if the product n·a
// overflows int64.
func Of(n, a, b int64) int64 {
	if a == b {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(a))
	q, _ := bits.Div64(hi, lo, uint64(b))
	return int64(q)
}
