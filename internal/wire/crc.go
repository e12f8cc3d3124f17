package wire

// JoinSums returns the CRC-32 of two texts joined into one, given the CRC-32 of each text. With JoinSums, the parts
// of a text can be read in parallel. n is the length of the second text in bytes, and poly is a polynomial of
// package hash/crc32.
//
// A CRC-32 is the remainder of a polynomial over GF(2) modulo the polynomial poly. Bit 31 is the coefficient of 1,
// and bit 0 is the coefficient of x³¹. The CRC-32 of the joined text is first·x⁸ⁿ + second. CRC-32 complements
// its bits at the start and at the end. In this sum, the complements cancel.
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
