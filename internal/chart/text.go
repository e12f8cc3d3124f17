package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// superscripts are the superscript characters of Unicode, and what they raise.
var superscripts = map[rune]rune{
	'⁰': '0', '¹': '1', '²': '2', '³': '3', '⁴': '4', '⁵': '5', '⁶': '6', '⁷': '7', '⁸': '8', '⁹': '9',
	'⁻': '−', '⁽': '(', '⁾': ')', 'ᵗ': 't',
}

// Superscript is an exponent in Unicode.
func Superscript(e int) string {
	return strings.Map(func(digit rune) rune {
		for raised, plain := range superscripts {
			if plain == digit || plain == '−' && digit == '-' {
				return raised
			}
		}
		return digit
	}, fmt.Sprint(e))
}

// Digits writes a number in n digits at most, with a power of ten where it is small
// or large.
func Digits(x float64, n int) string {
	text := fmt.Sprintf("%.*e", n-1, x)
	mantissa, exponent, ok := strings.Cut(text, "e")
	k, err := strconv.Atoi(exponent)
	if !ok || err != nil || -4 < k && k < 4 { // without a power: also what is not finite
		return fmt.Sprintf("%.*g", max(n, k+1), x)
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if mantissa == "1" {
		return "10" + Superscript(k)
	}
	return mantissa + "·10" + Superscript(k)
}

// Short writes a number in two digits, with a power of ten where it is small or
// large.
func Short(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	k := int(math.Floor(math.Log10(math.Abs(x) * 1.005))) // 0.999 is 1.0
	if -4 <= k && k <= 3 {
		return fmt.Sprintf("%.*f", max(0, 1-k), x)
	}
	return fmt.Sprintf("%.1f·10%s", x/math.Pow10(k), Superscript(k))
}
