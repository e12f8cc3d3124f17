// Package decimal reads numbers in text, rounded to the nearest float64 as
// strconv does, the short ones faster.
package decimal

import (
	"bytes"
	"strconv"
)

// Parse reads a decimal number, or Inf, Infinity or NaN of any case and sign, as np.loadtxt
// and pandas do. Unlike strconv.ParseFloat it refuses numbers as programs write them, with
// underscores between digits (1_000) or hexadecimal (0x1p4): in a file of data they are codes
// or mistakes. The error is strconv's.
func Parse(text []byte) (float64, error) {
	if v, ok := short(text); ok {
		return v, nil
	}
	if likeCode(text) {
		return 0, &strconv.NumError{Func: "ParseFloat", Num: string(text), Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(string(text), 64)
}

// likeCode reports whether text, if it is a number at all, is one that only programs write.
func likeCode(text []byte) bool { return bytes.ContainsAny(text, "_xX") }

// maxExact is 2⁵³: whole numbers up to it are float64 without rounding.
const maxExact = 1 << 53

// pow10 are the powers of ten that are exact in float64: 5²² < 2⁵³.
var pow10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// short reads [-]digits[.digits] where the digits without the point, of which
// there are at most 19, make a whole number w ≤ 2⁵³ and n ≤ 22 of them follow the
// point: w and 10ⁿ are then float64 without rounding, so that the one division
// w/10ⁿ rounds the decimal itself, correctly (Clinger, "How to read floating
// point numbers accurately", PLDI 1990). It leaves everything else alone.
func short(text []byte) (v float64, ok bool) {
	rest := text
	negative := len(rest) > 0 && rest[0] == '-'
	if negative {
		rest = rest[1:]
	}
	var w uint64
	digits, after := 0, -1 // after counts the digits behind the point, -1 before it
	for _, c := range rest {
		switch d := c - '0'; {
		case d <= 9:
			w = 10*w + uint64(d)
			digits++
			if after >= 0 {
				after++
			}
		case c == '.' && after < 0:
			after = 0
		default:
			return 0, false
		}
	}
	if digits == 0 || digits > 19 || w > maxExact {
		return 0, false
	}
	v = float64(w)
	if after > 0 {
		v /= pow10[after]
	}
	if negative {
		v = -v
	}
	return v, true
}
