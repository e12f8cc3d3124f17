// Package shape multiplies dimensions that may be of any size.
package shape

import (
	"math"
	"math/bits"
)

// IsProduct reports n = a·b for n, a, b >= 0.
func IsProduct(n, a, b int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo == uint64(n)
}

// Addressable reports whether a matrix of so many float64 fits in the address space that Go's
// slices can have: 2⁴⁷ bytes on any 64-bit machine.
func Addressable(rows, cols uint64) bool {
	hi, lo := bits.Mul64(rows, cols)
	return hi == 0 && lo < min(1<<44, math.MaxInt/8)
}
