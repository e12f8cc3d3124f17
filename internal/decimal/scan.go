package decimal

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Slack is how many bytes there must be from the beginning of a number on for [Prefix] to
// read it: it looks at eight bytes at a time, beyond the end of the number.
const Slack = 64

// maxDigits is how many digits a uint64 holds, whatever they are.
const maxDigits = 19

// Prefix reads the finite number that text begins with,
//
//	[+-] digits [. digits] [e [+-] digits]
//
// with at least one digit beside the point, and returns it, rounded to the nearest, with the
// number of its bytes. n = 0 says that text does not begin with such a number, that there
// are fewer than Slack bytes, or that Parse has to decide, as it does for the unusual ones.
// The caller looks at what follows: of 1e or 1x it is the 1 that is read.
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
	i, digits, q := sign+k, k, 0
	if text[i] == '.' {
		// In the branches it is known where to read on before it is known what was read.
		f, k := eight(text, i+1)
		w, q = w*tens[k]+f, k
		if k == 8 {
			f, k = eight(text, i+9)
			w, q = w*tens[k]+f, 8+k
			if k == 8 {
				f, k = eight(text, i+17)
				w, q = w*tens[k]+f, 16+k
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

// large is Prefix of a number with at least eight digits before the point.
func large(text []byte, sign int) (v float64, n int) {
	w, _ := eight(text, sign)
	w, k := more(text, sign+8, w)
	i, digits, q := sign+8+k, 8+k, 0
	if text[i] == '.' {
		i++
		f, k := eight(text, i)
		if w, q = w*tens[k]+f, k; k == 8 {
			w, k = more(text, i+8, w)
			q = 8 + k
		}
		digits += q
		i += q
	}
	return finish(text, w, -q, sign, i, digits)
}

// finish reads the exponent, if there is one, at byte i of a number that has so many signs
// before it and so many digits, which make w·10^q.
func finish(text []byte, w uint64, q, sign, i, digits int) (v float64, n int) {
	if uint(digits-1) >= maxDigits && (digits == 0 || text[i]-'0' <= 9 || !fits(text, digits)) {
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

// signed gives v the sign that text begins with, where it begins with one. There is no branch,
// for signs come at random: bit 1 of − is 0, of + it is 1.
func signed(v float64, sign int, text []byte) float64 {
	minus := uint64(sign &^ (int(text[0]) >> 1))
	return math.Float64frombits(math.Float64bits(v) | minus<<63)
}

// tens are the powers of ten up to 10⁸.
var tens = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// eight reads the digits that text[i:] begins with, up to eight, and returns their value and
// their number.
func eight(text []byte, i int) (w uint64, k int) {
	const ones = 0x0101010101010101
	// A digit, 0x30 to 0x39, becomes 0 to 9. The first digit is the lowest byte.
	t := binary.LittleEndian.Uint64(text[i:]) ^ 0x30*ones
	// The highest bit of each byte of other is set where the byte of t is more than 9. A
	// carry only goes up, to bytes behind the first of these.
	other := (t + 0x76*ones | t) & (0x80 * ones)
	k = bits.TrailingZeros64(other) / 8
	t <<= 64 - 8*k // as many zeros before the digits as there are fewer than eight
	// Pairs of digits, then the four pairs at once.
	t = t*10 + t>>8
	const pair = 0xff000000ff
	t = (t&pair*(100+1000000<<32) + t>>16&pair*(1+10000<<32)) >> 32
	return t, k
}

// more reads the digits of text[i:], up to 16 of them, behind those that make w, and returns
// what they make together and their number.
func more(text []byte, i int, w uint64) (uint64, int) {
	f, k := eight(text, i)
	w = w*tens[k] + f
	if k < 8 {
		return w, k
	}
	f, k = eight(text, i+8)
	return w*tens[k] + f, 8 + k
}

// fits reports whether no more than maxDigits of a number's digits are left without the
// zeros that it begins with.
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

// exponent reads e [+-] digits, and returns the number of bytes, 0 where these are not there
// or where the exponent has more than seven digits.
func exponent(text []byte) (e, n int) {
	i := 1
	if (text[1]-'+')&^2 == 0 {
		i = 2
	}
	w, k := eight(text, i)
	if k == 0 || k == 8 {
		return 0, 0
	}
	if e = int(w); text[1] == '-' {
		e = -e
	}
	return e, i + k
}

// maxExact is 2⁵³: whole numbers up to it are float64 without rounding.
const maxExact = 1 << 53

// pow10 are the powers of ten that are exact in float64: 5²² < 2⁵³.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// rounded is w·10^q to the nearest float64; ok is false where it is left undecided.
func rounded(w uint64, q int) (v float64, ok bool) {
	if w <= maxExact {
		if v = float64(int64(w)); uint(-q) < uint(len(pow10)) {
			return v / pow10[-q], true
		} else if uint(q) < uint(len(pow10)) {
			return v * pow10[q], true
		}
	}
	return product(w, q)
}

// minPower and maxPower bound the powers of ten that give float64 other than 0 and infinity.
const minPower, maxPower = -342, 308

// product is w·10^q to the nearest float64 by the 128-bit product; ok is false where that
// does not decide it, and for results that are subnormal or infinite.
//
// With w shifted to 64 bits and 10^q ≈ T·2^p, 2¹²⁷ ≤ T < 2¹²⁸, the upper bits of w·T are those
// of the result: 53 of them, one to round by, and whether there is anything behind. Lemire
// proves that the upper half of T suffices but where the bits next to be dropped are all ones,
// and that all of T does then, but where these are ones again.
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
		if hi += carry; lo == math.MaxUint64 && (q < exactDown || q > exactUp) {
			return 0, false
		}
	}
	top := int(hi >> 63)
	m := hi >> (top + dropBits)
	// ⌊log₂ 10^q⌋ = ⌊217706·q/2¹⁶⌋ for these q.
	e := 217706*q>>16 + 63 + top - shift + 1023
	if e <= 0 {
		return 0, false
	}
	if lo <= 1 && q >= -4 && q <= 23 && m&3 == 1 && m<<(top+dropBits) == hi {
		m-- // exactly halfway: to the even one, which is below
	}
	m += m & 1
	if m >>= 1; m == 1<<53 {
		m = 1 << 52
		e++
	}
	if e >= 0x7ff {
		return 0, false
	}
	return math.Float64frombits(uint64(e)<<52 | m&^(1<<52)), true
}

// dropBits is how many of the 64 upper bits of a product that begins with 0 are neither the
// result's nor the one to round by.
const dropBits = 64 - 53 - 2

// Whole reads the digits that text begins with, up to 16, and returns their value and their
// number: 0 where there are none, or fewer than Slack bytes.
func Whole(text []byte) (w uint64, n int) {
	if len(text) < Slack {
		return 0, 0
	}
	if w, n = eight(text, 0); n == 8 {
		var k int
		if w, k = more(text, 8, w); k >= 8 {
			return 0, 0
		}
		n += k
	}
	return w, n
}
