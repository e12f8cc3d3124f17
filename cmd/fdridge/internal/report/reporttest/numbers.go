// Package reporttest reads the numbers that a report writes.
package reporttest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Plain is a number with its power of ten as a program writes it.
func Plain(text string) string {
	mantissa, power, ok := strings.Cut(text, "·10")
	if !ok {
		if power, ok = strings.CutPrefix(text, "10"); !ok || strings.Trim(power, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹") != "" || power == "" {
			return text
		}
		mantissa = "1"
	}
	for i, raised := range strings.Split("⁰¹²³⁴⁵⁶⁷⁸⁹", "") {
		power = strings.ReplaceAll(power, raised, fmt.Sprint(i))
	}
	return mantissa + "e" + strings.ReplaceAll(power, "⁻", "-")
}

// Ends are the numbers of a bracket "[lo, hi]"; of one number alone it is both.
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
