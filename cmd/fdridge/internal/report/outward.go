package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/ridge"
)

// A printed bound must still hold. Therefore upper bounds are rounded up, and lower bounds are rounded down.
// Rounding starts from the exact binary value. For example, the float64 nearest to 0.1 is slightly above 1/10. With
// three digits it is printed as 0.101 if it is an upper bound.

// A decimal is the number ±d.ddd·10^exp.
type decimal struct {
	negative bool
	digits   string // digits of d.ddd without the point and without trailing zeros
	exp      int
	word     string // "NaN", "+Inf" or "-Inf"; "": the number is finite
}

// allDigits is a number of decimal digits after the first digit with which every float64 can be written exactly.
const allDigits = 766

// toDecimal returns x, rounded to n decimal digits after its first digit. If n is −1, it returns the fewest digits
// that distinguish x from other float64 numbers.
func toDecimal(x float64, n int) decimal {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return decimal{word: fmt.Sprint(x)}
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', n, 64), "e")
	d := decimal{negative: x < 0, digits: strings.Replace(mantissa, ".", "", 1)}
	d.exp, _ = strconv.Atoi(power) // cannot fail: FormatFloat wrote the digits
	d.digits = d.digits[:1] + strings.TrimRight(d.digits[1:], "0")
	return d
}

// roundOutward rounds x to at most n digits: upward if up is true, otherwise downward.
func roundOutward(x float64, n int, up bool) decimal {
	d := toDecimal(x, allDigits)
	if len(d.digits) <= n {
		return d
	}
	d.digits = d.digits[:n]
	if awayFromZero := up != d.negative; awayFromZero {
		d.increment()
	} else {
		d.digits = strings.TrimRight(d.digits, "0")
	}
	return d
}

// increment adds one unit in the last digit.
func (d *decimal) increment() {
	kept := strings.TrimRight(d.digits, "9")
	if kept == "" {
		d.digits = "1"
		d.exp++
		return
	}
	last := len(kept) - 1
	d.digits = kept[:last] + string(kept[last]+1)
}

func (d decimal) sign() string {
	if d.negative {
		return "-"
	}
	return ""
}

// mantissa returns the text ±d.ddd.
func (d decimal) mantissa() string {
	text := d.sign() + d.digits[:1]
	if len(d.digits) > 1 {
		text += "." + d.digits[1:]
	}
	return text
}

// fixed returns the number without an exponent.
func (d decimal) fixed() string {
	if d.exp < 0 {
		return d.sign() + "0." + strings.Repeat("0", -d.exp-1) + d.digits
	}
	whole := d.exp + 1
	if len(d.digits) <= whole {
		return d.sign() + d.digits + strings.Repeat("0", whole-len(d.digits))
	}
	return d.sign() + d.digits[:whole] + "." + d.digits[whole:]
}

// value returns the float64 nearest to d.
func (d decimal) value() float64 {
	v, _ := strconv.ParseFloat(plainNumber(d, 0), 64) // ±Inf if the number is too large
	return v
}

// plainNumber formats a number with n digits like %g.
func plainNumber(d decimal, n int) string {
	switch {
	case d.word != "":
		return d.word
	case d.exp < -4 || d.exp >= n:
		return fmt.Sprintf("%se%+03d", d.mantissa(), d.exp)
	}
	return d.fixed()
}

// AtMost formats an upper bound with at most n digits, rounded up.
func AtMost(x float64, n int) string {
	return plainNumber(roundOutward(x, n, true), n)
}

// formatGamma formats a ridge penalty with at most four digits. If it has more digits, it is rounded: upward if up
// is true, otherwise downward.
func formatGamma(gamma float64, up bool) string {
	d := toDecimal(gamma, -1)
	if len(d.digits) > fewDigits {
		d = roundOutward(gamma, fewDigits, up)
	}
	return plainNumber(d, fewDigits)
}

// fewDigits and mostDigits are the smallest and largest number of digits with which bracket writes the ends of an
// interval.
const (
	fewDigits  = 4
	mostDigits = 6
)

// bracket formats an interval with four digits, rounded outward. It uses five or six digits if rounding to fewer
// would more than double the width. If both rounded ends are equal, it writes a single number. An end beyond
// ±10³⁰⁰ is printed as infinite, because only an overflow can cause such an end.
func bracket(v ridge.Interval) string {
	const huge = 1e300
	if v.Hi > huge {
		v.Hi = math.Inf(1)
	}
	if v.Lo < -huge {
		v.Lo = math.Inf(-1)
	}
	for n := fewDigits; ; n++ {
		lo := roundOutward(v.Lo, n, false)
		hi := roundOutward(v.Hi, n, true)
		if n < mostDigits && hi.value()-lo.value() > 2*(v.Hi-v.Lo) {
			continue
		}
		if lo == hi {
			return plainNumber(lo, n)
		}
		return fmt.Sprintf("[%s, %s]", plainNumber(lo, n), plainNumber(hi, n))
	}
}

// noBound is the text for an infinite upper bound.
const noBound = "none"

// bound formats an upper bound with three digits.
func bound(x float64) string {
	if math.IsInf(x, 1) {
		return noBound
	}
	return AtMost(x, 3)
}
