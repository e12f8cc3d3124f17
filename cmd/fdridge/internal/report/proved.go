package report

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/internal/digits"
	"github.com/fdridge/fdridge/ridge"
)

// Proved formats an interval as value ± bound, such that the value has only proved digits. If this is not possible,
// for example because an end is infinite, it writes [lo, hi].
func Proved(v ridge.Interval) string {
	k, ok := digits.Within(v.Lo, v.Hi)
	if !ok {
		return bracket(v)
	}
	return k.Text(digits.Exponent)
}

// Smallest and largest number of digits of a figure.
const (
	leastFigures = 3
	mostFigures  = 6
)

// Figure is formatFigure.
func Figure(v ridge.Interval) string { return formatFigure(v) }

// formatFigure formats an interval for a table. If the interval is narrow, it writes one number of three to six
// digits. Every point of the interval is then within one unit of the last digit. Otherwise it writes [lo, hi]. An
// interval of NaN, such as R² for a constant target, becomes "undefined".
func formatFigure(v ridge.Interval) string {
	if math.IsNaN(v.Lo) && math.IsNaN(v.Hi) {
		return "undefined"
	}
	short := toDecimal(v.Lo, -1)
	if v.Lo == v.Hi && len(short.digits) <= mostFigures {
		return plainNumber(short, mostFigures)
	}
	lo := new(big.Rat).SetFloat64(v.Lo)
	hi := new(big.Rat).SetFloat64(v.Hi)
	if lo == nil || hi == nil {
		return bracket(v)
	}
	for n := mostFigures; n >= leastFigures; n-- {
		d := toDecimal(v.Mid(), n-1)
		d.digits += strings.Repeat("0", n-len(d.digits))
		x, ok := new(big.Rat).SetString(plainNumber(d, n))
		if !ok {
			break
		}
		unit, ok := new(big.Rat).SetString("1e" + strconv.Itoa(d.exp-n+1))
		if ok &&
			new(big.Rat).Sub(x, unit).Cmp(lo) <= 0 &&
			new(big.Rat).Add(x, unit).Cmp(hi) >= 0 {
			text := plainNumber(d, n)
			fixed := !strings.Contains(text, "e")
			if !fixed || d.exp < n { // otherwise trailing zeros would look like proved digits
				return text
			}
		}
	}
	return bracket(v)
}

// formatAround formats x, whose error is at most e. The result value has the proved digits, or three digits if none
// is proved. The result errorText is an upper bound on the error of value.
func formatAround(x, e float64) (value, errorText string) {
	if k, ok := digits.Around(x, e); ok && e < math.Abs(x) {
		return k.Value(digits.Exponent), k.Bound(digits.Exponent)
	}
	const few = 3
	if off := roundingError(x, few); off > 0 {
		e = math.Nextafter(e+off, math.Inf(1))
	}
	return plainNumber(toDecimal(x, few-1), few), bound(e)
}

// roundingError returns an upper bound on how much x changes when it is rounded to n digits. It returns 0 if x does
// not change, or if x is not finite.
func roundingError(x float64, n int) float64 {
	exact := new(big.Rat).SetFloat64(x)
	written, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', n-1, 64))
	if exact == nil || !ok || written.Cmp(exact) == 0 {
		return 0
	}
	off, _ := written.Sub(written, exact).Float64()
	return math.Nextafter(math.Abs(off), math.Inf(1))
}
