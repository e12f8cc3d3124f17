package wire

// JoinSums returns the CRC-32 of two joined texts, given the CRC-32 of each, so that the parts of a text can be read
// in parallel. The second text has n bytes, and poly is a polynomial of package hash/crc32.
//
// A sum is the remainder of a polynomial over GF(2) modulo the polynomial poly. Bit 31 is the coefficient of 1, and
// bit 0 the coefficient of x³¹. The sum of the joined text is first·x⁸ⁿ + second. CRC-32 complements its bits
// at the start and at the end; these complements cancel.
func JoinSums(poly, first, second uint32, n int) uint32 {
	for power := uint32(1) << (31 - 8); n > 0; n >>= 1 { // x⁸, x¹⁶, x³², …
		if n&1 != 0 {
			first = multiply(poly, first, power)
		}
		power = multiply(poly, power, power)
	}
	return first ^ second
}

// multiply returns a·b modulo P.
func multiply(poly, a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			product ^= b
		}
		b = b>>1 ^ -(b&1)&poly // b·x
	}
	return product
}
