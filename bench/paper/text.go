package paper

import (
	"fmt"
	"math"
	"strings"
)

// power writes a power of two as such, 2⁻⁴, and any other number in digits.
func power(x float64) string {
	if frac, e := math.Frexp(x); frac == 0.5 {
		switch e--; e {
		case 0:
			return "1"
		case 1:
			return "2"
		}
		return "2" + superscript(e)
	}
	return fmt.Sprintf("%.4g", x)
}

// superscripts are the superscript characters of Unicode, and what they raise.
var superscripts = map[rune]rune{
	'⁰': '0', '¹': '1', '²': '2', '³': '3', '⁴': '4', '⁵': '5', '⁶': '6', '⁷': '7', '⁸': '8', '⁹': '9',
	'⁻': '−', '⁽': '(', '⁾': ')', 'ᵗ': 't',
}

// superscript is an exponent in Unicode.
func superscript(e int) string {
	return strings.Map(func(digit rune) rune {
		for raised, plain := range superscripts {
			if plain == digit || plain == '−' && digit == '-' {
				return raised
			}
		}
		return digit
	}, fmt.Sprint(e))
}

// short writes a number in two digits, with a power of ten where it is small or
// large.
func short(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	k := int(math.Floor(math.Log10(math.Abs(x) * 1.005))) // 0.999 is 1.0
	if -4 <= k && k <= 3 {
		return fmt.Sprintf("%.*f", max(0, 1-k), x)
	}
	return fmt.Sprintf("%.1f·10%s", x/math.Pow10(k), superscript(k))
}

// span is the range of several numbers.
func span(x ...float64) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	if a, b := short(lo), short(hi); a != b {
		return a + " to " + b
	}
	return short(lo)
}
