package kernel

import (
	"math"
	"math/bits"
)

// twoOverPiBits holds 64 zero bits, followed by the first 1,280 bits of the binary fraction of 2/π.
var twoOverPiBits = [...]uint64{0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
	0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
	0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
	0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
}

// farCosine returns cos x for |x| > nearLimit, or NaN if x is not finite. It subtracts a multiple of π/2 so that
// the rest is at most π/4 (M. Payne, R. Hanek, "Radian reduction for trigonometric functions", ACM SIGNUM
// Newsletter 18, 1983).
//
// Let x = m·2ᵉ, where m is an integer of 53 bits. In the product x·2/π, the bits of 2/π with weights of at
// least 4·2⁻ᵉ contribute multiples of four. These are whole turns and are skipped. farCosine multiplies m by the
// next 256 bits, modulo 2²⁵⁶. The first two bits of this product are the quadrant. The following bits are the
// position in the quadrant, with an error of 2⁻²⁰⁰. For a float64 the distance to the nearest quadrant
// boundary exceeds 2⁻⁶⁴. So more than 106 bits of this distance are correct, which is the precision of two
// float64 numbers.
func farCosine(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.NaN()
	}
	b := math.Float64bits(x)
	e := int(b>>52&0x7ff) - 1075
	m := b&(1<<52-1) | 1<<52
	at := 64 + e - 2 // index of a bit of twoOverPiBits
	var p [4]uint64  // m times these bits, modulo 2²⁵⁶; the highest word first
	var carry uint64
	for i := 3; i >= 0; i-- {
		k := at/64 + i
		shift := uint(at % 64)
		word := twoOverPiBits[k] << shift
		if shift > 0 {
			word |= twoOverPiBits[k+1] >> (64 - shift)
		}
		hi, lo := bits.Mul64(m, word)
		var c uint64
		p[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	q := p[0] >> 62
	f := [3]uint64{p[0]<<2 | p[1]>>62, p[1]<<2 | p[2]>>62, p[2]<<2 | p[3]>>62}
	sign := 1.0
	if f[0]>>63 == 1 { // more than half a quadrant: use the distance from the next one
		q++
		sign = -1
		for i := range f {
			f[i] = ^f[i]
		}
	}
	zeros := bits.LeadingZeros64(f[0])
	hi := f[0]<<zeros | f[1]>>(64-zeros)
	lo := f[1]<<zeros | f[2]>>(64-zeros)
	unit := math.Ldexp(sign, -53-zeros)
	return fraction(unit*float64(hi>>11), unit*0x1p-53*float64(hi<<53>>11|lo>>22), q)
}

// fraction returns cos((f + g + q)·π/2), where |g| is less than 2⁻⁵² times |f|.
func fraction(f, g float64, q uint64) float64 {
	const rest = 0x1.1a62633145c07p-54 // π/2 − halfPi1
	product := float64(f * halfPi1)
	low := math.FMA(g, halfPi1, math.FMA(f, rest, math.FMA(f, halfPi1, -product)))
	r := product + low
	return quadrant(r, (product-r)+low, q)
}
