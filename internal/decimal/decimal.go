// Package decimal reads numbers in text, rounded to the nearest float64: bit for bit what
// strconv.ParseFloat gives, several times faster.
//
// The digits are read eight at a time. Where they make a whole number w ≤ 2⁵³ and the power
// of ten is at most 10²², one multiplication or division rounds correctly (W. D. Clinger,
// "How to read floating point numbers accurately", PLDI 1990). Otherwise w·10^q is rounded
// from its product with 128 bits of 10^q (D. Lemire, "Number parsing at a gigabyte per
// second", Software: Practice and Experience 51, 2021). What these leave undecided (more
// than 19 digits, subnormal numbers, some of those next to halfway) goes to strconv.
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
	if len(text) <= Slack/2 {
		var padded [Slack + Slack/2]byte
		copy(padded[:], text)
		if v, n := Prefix(padded[:]); n > 0 && n == len(text) {
			return v, nil
		}
	}
	if likeCode(text) {
		return 0, &strconv.NumError{Func: "ParseFloat", Num: string(text), Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(string(text), 64)
}

// likeCode reports whether text, if it is a number at all, is one that only programs write.
func likeCode(text []byte) bool { return bytes.ContainsAny(text, "_xX") }
