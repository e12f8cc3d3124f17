package vec

import (
	"math"
	"math/bits"
)

// IsProduct reports whether n = a·b, without overflow, for nonnegative n, a and b.
func IsProduct(n, a, b int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo == uint64(n)
}

// Addressable reports whether a Go slice can hold rows×cols float64. The limit on 64-bit machines is 2⁴⁷ bytes.
func Addressable(rows, cols uint64) bool {
	hi, lo := bits.Mul64(rows, cols)
	return hi == 0 && lo < min(1<<44, math.MaxInt/8)
}
