package report

import (
	"math"
	"math/big"
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
	if off := rounding(x, few); off > 0 {
		e = math.Nextafter(e+off, math.Inf(1))
	}
	return chart.Digits(x, few), bound(e)
}

// rounding bounds how far x in n digits is from x: 0 for an x of so few digits, or for one that is not
// finite.
func rounding(x float64, n int) float64 {
	exact := new(big.Rat).SetFloat64(x)
	written, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', n-1, 64))
	if exact == nil || !ok || written.Cmp(exact) == 0 {
		return 0
	}
	off, _ := written.Sub(written, exact).Float64()
	return math.Nextafter(math.Abs(off), math.Inf(1))
}
