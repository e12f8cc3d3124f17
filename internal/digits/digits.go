// Package digits writes numbers for people who compare them.
package digits

import "strconv"

// Apart writes two numbers with the same number of significant digits: six, or as many
// more as it takes for them to differ.
func Apart(a, b float64) (string, string) {
	const least, most = 6, 17 // 17 tell any two float64 apart
	for digits := least; ; digits++ {
		x, y := strconv.FormatFloat(a, 'g', digits, 64), strconv.FormatFloat(b, 'g', digits, 64)
		if x != y || digits == most {
			return x, y
		}
	}
}
