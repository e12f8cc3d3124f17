package cell

import "math"

// Half converts the bits of a float16 to float64. A float16 has a sign bit, 5 bits of exponent and 10 bits of
// mantissa.
func Half(bits uint16) float64 {
	exponent := int(bits >> 10 & 0x1f)
	mantissa := float64(bits & 0x3ff)
	v := math.Ldexp(mantissa, -24) // a subnormal number
	switch {
	case exponent == 0x1f && mantissa != 0:
		return math.NaN()
	case exponent == 0x1f:
		v = math.Inf(1)
	case exponent > 0:
		v = math.Ldexp(mantissa+0x400, exponent-25)
	}
	if bits>>15 != 0 {
		return -v
	}
	return v
}
