package vec

import (
	"math"
	"math/bits"
)

// IsProduct reports whether n = a·b. It is correct even if the product overflows an int. No argument may be
// negative.
func IsProduct(n, a, b int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo == uint64(n)
}

// Addressable reports whether a slice can hold rows×cols float64. On 64-bit machines, a slice has less than 2⁴⁷
// bytes.
func Addressable(rows, cols uint64) bool {
	hi, lo := bits.Mul64(rows, cols)
	return hi == 0 && lo < min(1<<44, math.MaxInt/8)
}
