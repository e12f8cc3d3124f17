// This file and its neighbours parse decimal numbers to the nearest float64. The results have the same bits as
// strconv.ParseFloat, but parsing is several times faster.
//
// Digits are read eight at a time. A number is w·10^q, where w is the integer of all its digits. If w ≤ 2⁵³ and
// |q| ≤ 22, a single multiplication or division gives the correctly rounded number (W. D. Clinger, "How to read
// floating point numbers accurately", PLDI 1990). Otherwise w is multiplied by the first 128 bits of 10^q, and the
// product is rounded (D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51,
// 2021).
//
// A few numbers are left to strconv: numbers of more than 19 digits, subnormal numbers, and some numbers near the
// middle between two float64.

package cell

import (
	"bytes"
	"strconv"
)

// Parse returns the decimal number that text contains. Like np.loadtxt and pandas, it accepts Inf, Infinity and NaN
// in any case and with a sign. Errors are errors of package strconv.
//
// Unlike strconv.ParseFloat, it rejects underscores (1_000) and hexadecimal numbers (0x1p4), because in data they
// are codes or mistakes. It accepts the letter D of Fortran as the start of the exponent. A point must precede the
// D, or a sign must follow it, as in 1.5D3 and 1D+03.
func Parse(text []byte) (float64, error) {
	if len(text) <= Slack/2 {
		var padded [Slack + Slack/2]byte
		copy(padded[:], text)
		if v, n := Prefix(padded[:]); n > 0 && n == len(text) {
			return v, nil
		}
	}
	if isProgramNotation(text) {
		return 0, &strconv.NumError{
			Func: "ParseFloat",
			Num:  string(text),
			Err:  strconv.ErrSyntax,
		}
	}
	if at := bytes.IndexAny(text, "dD"); at > 0 && isFortran(text, at) {
		standard := append(bytes.Clone(text[:at]), 'e')
		return strconv.ParseFloat(string(append(standard, text[at+1:]...)), 64)
	}
	return strconv.ParseFloat(string(text), 64)
}

// isFortran reports whether text may be a number that Fortran wrote, such as 1.5D3. Fortran begins the exponent
// with the letter D, which must be text[at]. isFortran requires a point before the D or a sign after it. So it
// returns false for a code such as 12D3.
func isFortran(text []byte, at int) bool {
	next := at + 1
	signed := next < len(text) && (text[next] == '+' || text[next] == '-')
	return (signed || bytes.IndexByte(text[:at], '.') >= 0) &&
		!bytes.ContainsAny(text[next:], "eE")
}

// isProgramNotation reports whether text contains _ or x. Numbers in source code may have them, such as 1_000 and
// 0x1p4. Numbers in data do not.
func isProgramNotation(text []byte) bool {
	return bytes.ContainsAny(text, "_xX")
}
