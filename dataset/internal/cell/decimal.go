// This file and its neighbours parse decimal numbers to the nearest float64. The results have the same bits as
// strconv.ParseFloat, but parsing is several times faster.
//
// Eight digits are read at a time. If they form an integer w ≤ 2⁵³ and the power of ten is at most 10²², a
// single multiplication or division is correctly rounded (W. D. Clinger, "How to read floating point numbers
// accurately", PLDI 1990). Otherwise w·10^q is rounded from the product of w and the first 128 bits of 10^q (D.
// Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51, 2021).
//
// A few numbers are left to strconv: more than 19 digits, subnormal numbers, and some numbers near the middle between
// two float64.

package cell

import (
	"bytes"
	"strconv"
)

// Parse parses a decimal number. It accepts Inf, Infinity and NaN in any case and with a sign, like np.loadtxt and
// pandas. Unlike strconv.ParseFloat, it rejects underscores (1_000) and hexadecimal numbers (0x1p4). In data they are
// codes or mistakes. The exponent of Fortran, as in 1D+03 and 1.5D3, is accepted after a point or before a sign. The
// error is a strconv error.
func Parse(text []byte) (float64, error) {
	if len(text) <= Slack/2 {
		var padded [Slack + Slack/2]byte
		copy(padded[:], text)
		if v, n := Prefix(padded[:]); n > 0 && n == len(text) {
			return v, nil
		}
	}
	if isProgramNotation(text) {
		return 0, &strconv.NumError{Func: "ParseFloat", Num: string(text), Err: strconv.ErrSyntax}
	}
	if at := bytes.IndexAny(text, "dD"); at > 0 && isFortran(text, at) {
		standard := append(bytes.Clone(text[:at]), 'e')
		return strconv.ParseFloat(string(append(standard, text[at+1:]...)), 64)
	}
	return strconv.ParseFloat(string(text), 64)
}

// isFortran reports whether text may be a number that Fortran wrote, like 1.5D3. text[at] is the letter D that would
// begin the exponent. The result is false for a code such as 12D3, because a point before the D or a sign after the D
// is required.
func isFortran(text []byte, at int) bool {
	next := at + 1
	signed := next < len(text) && (text[next] == '+' || text[next] == '-')
	return (signed || bytes.IndexByte(text[:at], '.') >= 0) &&
		!bytes.ContainsAny(text[next:], "eE")
}

// isProgramNotation reports whether text contains characters that only numbers in source code contain.
func isProgramNotation(text []byte) bool {
	return bytes.ContainsAny(text, "_xX")
}
