package report

import (
	"math"
	"strconv"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/digits"
	"github.com/fdridge/fdridge/ridge"
)

// What is proved of a figure is written for people as value ± bound, with the digits of the value
// that are proved, see [digits.Known]. Where hardly any is, as of an effective dimension between 2
// and 7, a table has the bracket.

// raised writes a power of ten in a page.
func raised(exp int) string { return "·10" + chart.Superscript(exp) }

// Proved writes an interval as value ± bound, on a terminal; one that is not finite as a bracket.
func Proved(v ridge.Interval) string { return proved(v, digits.Exponent, general) }

// figure writes an interval in a table on a terminal.
func figure(v ridge.Interval) string { return inTable(v, digits.Exponent, general) }

// figureInPage writes an interval in a page.
func figureInPage(v ridge.Interval) string { return inTable(v, raised, typeset) }

func inTable(v ridge.Interval, scale func(exp int) string, as look) string {
	const narrow = 2e-3 // three digits are proved
	if !(v.Hi-v.Lo <= narrow*math.Abs(v.Mid())) {
		return ends(v, as)
	}
	return proved(v, scale, as)
}

func proved(v ridge.Interval, scale func(exp int) string, as look) string {
	k, ok := digits.Within(v.Lo, v.Hi)
	if !ok {
		return ends(v, as)
	}
	return k.Text(scale)
}

// around writes x, which is within e of what it stands for, and a bound on the error of what is
// written, for two columns of a page. Where no digit is proved it writes three of x itself.
func around(x, e float64) (value, within string) {
	if k, ok := digits.Around(x, e); ok && e < math.Abs(x) {
		return k.Value(raised), k.Bound(raised)
	}
	const few = 3
	return chart.Digits(x, few), bound(e + rounding(x, few))
}

// rounding bounds how far x in n digits is from x.
func rounding(x float64, n int) float64 {
	written, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64) // beyond the range it is infinite
	if written == x {
		return 0
	}
	return math.Abs(written-x) + 0x1p-52*math.Abs(x) // written is itself rounded
}
