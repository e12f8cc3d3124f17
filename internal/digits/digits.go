// Package digits formats numbers that people compare.
package digits

import "strconv"

// Apart formats two numbers with six significant digits each. If the two texts would be equal, it uses as many
// digits as are needed to make them differ.
func Apart(a, b float64) (string, string) {
	const least, most = 6, 17 // 17 digits distinguish any two float64
	for digits := least; ; digits++ {
		x := strconv.FormatFloat(a, 'g', digits, 64)
		y := strconv.FormatFloat(b, 'g', digits, 64)
		if x != y || digits == most {
			return x, y
		}
	}
}
