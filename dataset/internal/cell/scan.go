package cell

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Slack is the number of bytes that a text for [Prefix] must have at least. Prefix reads eight bytes at a time, and
// so it also reads bytes after the end of the number.
const Slack = 64

// maxDigits is 19, because every number of 19 decimal digits fits in a uint64, and 20 digits may not.
const maxDigits = 19

// Prefix parses the finite number at the start of text,
//
//	[+-] digits [. digits] [e [+-] digits]
//
// with at least one digit before or after the point. It returns the number, rounded to the nearest float64, and the
// length of the number in bytes. The length is 0 if text does not start with a number or has fewer than Slack
// bytes. It is also 0 if the number needs Parse.
//
// The caller must check what follows the number. For example, in 1e and in 1x the number is 1.
func Prefix(text []byte) (v float64, n int) {
	if len(text) < Slack {
		return 0, 0
	}
	sign := 0
	if (text[0]-'+')&^2 == 0 { // + is 43, - is 45
		sign = 1
	}
	w, k := eight(text, sign)
	if k == 8 {
		return large(text, sign)
	}
	i := sign + k
	digits := k
	q := 0
	if text[i] == '.' {
		f, k := eight(text, i+1)
		w = w*tens[k] + f
		q = k
		if k == 8 {
			f, k = eight(text, i+9)
			w = w*tens[k] + f
			q = 8 + k
			if k == 8 {
				f, k = eight(text, i+17)
				w = w*tens[k] + f
				q = 16 + k
			}
		}
		digits += q
		i += 1 + q
	}
	if uint(digits-1) >= maxDigits || text[i]|0x20 == 'e' || w > maxExact {
		return finish(text, w, -q, sign, i, digits)
	}
	return signed(float64(int64(w))/pow10[q], sign, text), i
}

// large does the work of Prefix for a number with eight or more digits before the point. The sign takes the given
// number of bytes, 0 or 1.
func large(text []byte, sign int) (v float64, n int) {
	w, _ := eight(text, sign)
	w, k := more(text, sign+8, w)
	i := sign + 8 + k
	digits := 8 + k
	q := 0
	if text[i] == '.' {
		i++
		f, k := eight(text, i)
		w = w*tens[k] + f
		q = k
		if k == 8 {
			w, k = more(text, i+8, w)
			q = 8 + k
		}
		digits += q
		i += q
	}
	return finish(text, w, -q, sign, i, digits)
}

// finish does the last step of Prefix. The digits before byte i of text have the value w·10^q. If there is an
// exponent at byte i, finish reads it. It returns the number and its length. The arguments sign and digits are the
// length of the sign and the number of digits.
func finish(text []byte, w uint64, q, sign, i, digits int) (v float64, n int) {
	if uint(digits-1) >= maxDigits &&
		(digits == 0 || text[i]-'0' <= 9 || !fits(text, digits)) {
		return 0, 0
	}
	if text[i]|0x20 == 'e' {
		e, k := exponent(text[i:])
		q += e
		i += k
	}
	v, ok := rounded(w, q)
	if !ok {
		return 0, 0
	}
	return signed(v, sign, text), i
}

// signed returns v, or −v if text begins with a minus sign and sign, the length of the sign, is 1. It uses bit 1 of
// the character, which is 0 for '-' and 1 for '+', because a branch would be slow for random signs.
func signed(v float64, sign int, text []byte) float64 {
	minus := uint64(sign &^ (int(text[0]) >> 1))
	return math.Float64frombits(math.Float64bits(v) | minus<<63)
}

// tens has the powers of ten up to 10⁸.
var tens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// eight reads the digits at the start of text[i:], at most eight. It returns their value and the number of digits.
func eight(text []byte, i int) (w uint64, k int) {
	const ones = 0x0101010101010101
	// Each byte of t holds one character, the first in the lowest byte. The digits 0x30 to 0x39 become 0 to 9.
	t := binary.LittleEndian.Uint64(text[i:]) ^ 0x30*ones
	// marks has the bit 0x80 in each byte of t that is no digit. A carry of the addition can spoil only the bytes
	// above the lowest mark, and only the lowest mark is used.
	marks := (t + 0x76*ones | t) & (0x80 * ones)
	k = bits.TrailingZeros64(marks) / 8
	t <<= 64 - 8*k // put zeros before the digits if there are fewer than eight
	// Combine neighbouring digits to four numbers of two digits, and then these four numbers to one.
	t = t*10 + t>>8
	const pair = 0xff000000ff
	t = (t&pair*(100+1000000<<32) + t>>16&pair*(1+10000<<32)) >> 32
	return t, k
}

// more reads the digits at the start of text[i:], at most 16. They continue the number w. It returns the value of w
// and these digits together, and the number of digits read.
func more(text []byte, i int, w uint64) (uint64, int) {
	f, k := eight(text, i)
	w = w*tens[k] + f
	if k < 8 {
		return w, k
	}
	f, k = eight(text, i+8)
	return w*tens[k] + f, 8 + k
}

// fits reports whether the number at the start of text has at most maxDigits digits without its leading zeros. The
// argument digits is the number of digits including leading zeros.
func fits(text []byte, digits int) bool {
	for _, c := range text {
		switch c {
		case '0':
			digits--
		case '+', '-', '.':
		default:
			return digits <= maxDigits
		}
	}
	return false
}

// exponent reads an exponent of the form e [+-] digits at the start of text. It returns its value and its length.
// The length is 0 if there are no digits, or more than seven.
func exponent(text []byte) (e, n int) {
	i := 1
	if (text[1]-'+')&^2 == 0 {
		i = 2
	}
	w, k := eight(text, i)
	if k == 0 || k == 8 {
		return 0, 0
	}
	e = int(w)
	if text[1] == '-' {
		e = -e
	}
	return e, i + k
}

// maxExact is 2⁵³. A float64 can represent every integer from 0 to 2⁵³.
const maxExact = 1 << 53

// pow10 holds the powers of ten up to 10²². A float64 represents them exactly, because 5²² < 2⁵³.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// rounded returns w·10^q, rounded to the nearest float64. If it cannot decide which of two float64 is nearer, ok is
// false.
func rounded(w uint64, q int) (v float64, ok bool) {
	if w <= maxExact {
		v = float64(int64(w))
		if uint(-q) < uint(len(pow10)) {
			return v / pow10[-q], true
		} else if uint(q) < uint(len(pow10)) {
			return v * pow10[q], true
		}
	}
	return product(w, q)
}

// For 64-bit integers w > 0, the number w·10^q is rounded to 0 if q < minPower. If q > maxPower, it exceeds the
// largest float64.
const minPower, maxPower = -342, 308

// product returns w·10^q, rounded to the nearest float64. It multiplies w by the first 128 bits of 10^q. If these
// bits do not determine the rounding, or if the result is subnormal or infinite, ok is false.
//
// The number w is shifted so that its highest bit is set. Let 10^q ≈ T·2^p with integers p and T, and 2¹²⁷ ≤
// T < 2¹²⁸; see power for the rounding of T. The result consists of the upper 53 bits of w·T. It is rounded by
// the next bit, and by whether any later bit is set. D. Lemire (2021) proves that the upper half of T is enough,
// unless the next bits of the product are all ones. Then the whole of T is enough, unless these bits are all ones
// again.
func product(w uint64, q int) (v float64, ok bool) {
	if w == 0 {
		return 0, true
	}
	if q < minPower || q > maxPower {
		return 0, false
	}
	t := power(q)
	shift := bits.LeadingZeros64(w)
	w <<= shift
	hi, lo := bits.Mul64(w, t.hi)
	const dropped = 1<<9 - 1 // 64 − 53 − 1 − 1
	if hi&dropped == dropped {
		second, _ := bits.Mul64(w, t.lo)
		var carry uint64
		lo, carry = bits.Add64(lo, second, 0)
		hi += carry
		if lo == math.MaxUint64 && (q < exactDown || q > exactUp) {
			return 0, false
		}
	}
	top := int(hi >> 63)
	m := hi >> (top + dropBits)
	// For these q, ⌊log₂ 10^q⌋ = ⌊217706·q/2¹⁶⌋.
	e := 217706*q>>16 + 63 + top - shift + 1023
	if e <= 0 {
		return 0, false
	}
	if lo <= 1 &&
		q >= -4 &&
		q <= 23 &&
		m&3 == 1 &&
		m<<(top+dropBits) == hi {
		m-- // exactly in the middle: round to the even number, which is below
	}
	m += m & 1
	m >>= 1
	if m == 1<<53 {
		m = 1 << 52
		e++
	}
	if e >= 0x7ff {
		return 0, false
	}
	return math.Float64frombits(uint64(e)<<52 | m&^(1<<52)), true
}

// dropBits is the number of low bits that are dropped from the upper 64 bits of a product. If the product begins
// with a 0, these 64 bits are this 0, 53 bits of the mantissa, a rounding bit and dropBits more bits.
const dropBits = 64 - 53 - 2

// Whole reads the digits at the start of text. It returns their value w and their number n. The number n is 0 if
// there are no digits, or 16 or more, or if text has fewer than Slack bytes.
func Whole(text []byte) (w uint64, n int) {
	if len(text) < Slack {
		return 0, 0
	}
	w, n = eight(text, 0)
	if n == 8 {
		var k int
		w, k = more(text, 8, w)
		if k >= 8 {
			return 0, 0
		}
		n += k
	}
	return w, n
}
