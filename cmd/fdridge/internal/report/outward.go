package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/ridge"
)

// What is proved of a number has to hold of what is printed. So an upper bound is printed
// rounded up, a lower one rounded down, and a bracket from below its lower end to above its
// upper one. The float64 itself is rounded, not the shortest decimal that is read back as it:
// 0.1 is a little above 1/10, so that 0.101 is printed for a bound of three digits.

// A decimal is ±d.ddd·10^exp.
type decimal struct {
	negative bool
	digits   string // d.ddd without the point, and without zeros at the end
	exp      int
	word     string // "NaN" or the like, in place of all that, where x is not finite
}

// allDigits is the number of digits behind the first that any float64 has at most.
const allDigits = 766

// written is x in so many digits behind the first, -1 for the fewest that are read back as x.
func written(x float64, digits int) decimal {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return decimal{word: fmt.Sprint(x)}
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', digits, 64), "e")
	d := decimal{negative: x < 0, digits: strings.Replace(mantissa, ".", "", 1)}
	d.exp, _ = strconv.Atoi(power) // FormatFloat wrote it
	d.digits = d.digits[:1] + strings.TrimRight(d.digits[1:], "0")
	return d
}

// outward rounds x up, or else down, to n digits at most.
func outward(x float64, n int, up bool) decimal {
	d := written(x, allDigits)
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

// increment adds one to the last digit.
func (d *decimal) increment() {
	kept := strings.TrimRight(d.digits, "9")
	if kept == "" {
		d.digits, d.exp = "1", d.exp+1
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

// mantissa is ±d.ddd.
func (d decimal) mantissa() string {
	text := d.sign() + d.digits[:1]
	if len(d.digits) > 1 {
		text += "." + d.digits[1:]
	}
	return text
}

// fixed writes it without a power of ten.
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

// value is the float64 that is nearest.
func (d decimal) value() float64 {
	v, _ := strconv.ParseFloat(general(d, 0), 64) // beyond the range it is infinite
	return v
}

// A look writes a decimal of n digits.
type look func(d decimal, n int) string

// general writes it as %.ng does.
func general(d decimal, n int) string {
	switch {
	case d.word != "":
		return d.word
	case d.exp < -4 || d.exp >= n:
		return fmt.Sprintf("%se%+03d", d.mantissa(), d.exp)
	}
	return d.fixed()
}

// typeset writes it as chart.Digits does.
func typeset(d decimal, _ int) string {
	switch {
	case d.word != "":
		return d.word
	case -4 < d.exp && d.exp < 4:
		return d.fixed()
	case d.mantissa() == "1":
		return "10" + chart.Superscript(d.exp)
	}
	return d.mantissa() + "·10" + chart.Superscript(d.exp)
}

// atMost writes an upper bound in n digits.
func atMost(x float64, n int, as look) string { return as(outward(x, n, true), n) }

// atLeast writes a lower bound in n digits.
func atLeast(x float64, n int, as look) string { return as(outward(x, n, false), n) }

// fromGamma and toGamma write the ends of a range of candidates.
func fromGamma(gamma float64, as look) string { return candidate(gamma, false, as) }

func toGamma(gamma float64, as look) string { return candidate(gamma, true, as) }

// candidate writes a γ that few digits name, such as 0.1, by its name, and others rounded outward.
func candidate(gamma float64, up bool, as look) string {
	d := written(gamma, -1)
	if len(d.digits) > fewDigits {
		d = outward(gamma, fewDigits, up)
	}
	return as(d, fewDigits)
}

// Digits of the ends of a bracket.
const (
	fewDigits  = 4
	mostDigits = 6
)

// ends writes a bracket: in four digits, in up to six where fewer would make it more than
// twice as wide, and as one number where that is all of it.
func ends(v ridge.Interval, as look) string {
	for n := fewDigits; ; n++ {
		lo, hi := outward(v.Lo, n, false), outward(v.Hi, n, true)
		if n < mostDigits && hi.value()-lo.value() > 2*(v.Hi-v.Lo) {
			continue
		}
		if lo == hi {
			return as(lo, n)
		}
		return fmt.Sprintf("[%s, %s]", as(lo, n), as(hi, n))
	}
}

// AtMost writes an upper bound in n digits, rounded up, on a terminal.
func AtMost(x float64, n int) string { return atMost(x, n, general) }

// bracket prints an interval on a terminal.
func bracket(v ridge.Interval) string { return ends(v, general) }

// noBound is what a page has in place of a bound that is infinite.
const noBound = "none"

// bound writes an upper bound in a page.
func bound(x float64) string {
	if math.IsInf(x, 1) {
		return noBound
	}
	return atMost(x, 3, typeset)
}
