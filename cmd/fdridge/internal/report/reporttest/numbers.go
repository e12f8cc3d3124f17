// Package reporttest parses the numbers in a report, for tests.
package reporttest

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Plain converts a number of the HTML page to the notation of programs. For example, 1.5·10³ becomes 1.5e3.
func Plain(text string) string {
	mantissa, power, ok := strings.Cut(text, "·10")
	if !ok {
		power, ok = strings.CutPrefix(text, "10")
		if !ok || strings.Trim(power, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹") != "" || power == "" {
			return text
		}
		mantissa = "1"
	}
	for i, raised := range strings.Split("⁰¹²³⁴⁵⁶⁷⁸⁹", "") {
		power = strings.ReplaceAll(power, raised, fmt.Sprint(i))
	}
	return mantissa + "e" + strings.ReplaceAll(power, "⁻", "-")
}

// Ends returns the ends of an interval such as "[1.2, 1.3]". If the text is a single number, both ends are this
// number.
func Ends(text string) (lo, hi float64, err error) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	low, high, two := strings.Cut(text, ", ")
	if !two {
		high = low
	}
	for i, end := range []string{low, high} {
		v, err := strconv.ParseFloat(Plain(end), 64)
		if err != nil && !math.IsInf(v, 0) {
			return 0, 0, err
		}
		if i == 0 {
			lo = v
		} else {
			hi = v
		}
	}
	return lo, hi, nil
}

// Figure returns the range in which the exact value of a printed figure lies. For an interval such as "[1.2, 1.3]"
// it returns the ends. For a single number it returns this number minus and plus one unit of its last digit.
func Figure(text string) (lo, hi float64, err error) {
	if strings.HasPrefix(text, "[") {
		return Ends(text)
	}
	mantissa, power, _ := strings.Cut(Plain(text), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	exp, _ := strconv.Atoi(power) // power is "" if the number has no exponent
	x, isNumber := new(big.Rat).SetString(Plain(text))
	unit, hasUnit := new(big.Rat).SetString(fmt.Sprintf("1e%d", exp-len(decimals)))
	if !isNumber || !hasUnit {
		return 0, 0, fmt.Errorf("%q is not a figure", text)
	}
	lo, _ = new(big.Rat).Sub(x, unit).Float64() // rounded to nearest
	hi, _ = new(big.Rat).Add(x, unit).Float64()
	return lo, hi, nil
}
