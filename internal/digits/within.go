package digits

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// A Known is a number that is known to lie in a given interval. It is written as value ± bound, and both end at the
// same decimal place:
//
//	12.3456 ± 0.0007
//
// The range from value − bound to value + bound contains the given interval. The bound has one significant digit
// from 3 to 9, or two from 10 to 29 (DIN 1333). This makes the last decimal place as small as possible. If the
// range contains zero and the given interval does not, up to four more digits are used to show the sign.
//
// If the given interval is a single number, the value is the shortest decimal that parses to the same float64, and
// the bound is 0.
type Known struct {
	negative bool
	digits   string // the digits of |value|/10^power, without leading zeros
	bound    int64  // the bound in units of 10^power
	power    int
}

const (
	mostUnits  = 29 // the largest bound in units of the last place
	signDigits = 4  // the largest number of additional digits to show the sign
)

// Within returns the number that is known to lie between lo and hi. The result ok is false if lo or hi is infinite
// or NaN, or if lo is larger than hi.
func Within(lo, hi float64) (k Known, ok bool) {
	if lo == hi {
		return exactly(lo)
	}
	l := new(big.Rat).SetFloat64(lo)
	h := new(big.Rat).SetFloat64(hi)
	if l == nil || h == nil || !(lo < hi) {
		return Known{}, false
	}
	return between(l, h), true
}

// Around returns the number that is known to lie between x − e and x + e. The result ok is false if x or e is
// infinite or NaN, or if e is negative.
func Around(x, e float64) (k Known, ok bool) {
	if e == 0 {
		return exactly(x)
	}
	centre := new(big.Rat).SetFloat64(x)
	far := new(big.Rat).SetFloat64(e)
	if centre == nil || far == nil || !(e > 0) {
		return Known{}, false
	}
	return between(new(big.Rat).Sub(centre, far), new(big.Rat).Add(centre, far)), true
}

// exactly returns the Known for the number x itself, with bound 0.
func exactly(x float64) (k Known, ok bool) {
	mantissa, power, finite := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	exp, err := strconv.Atoi(power)
	if !finite || err != nil {
		return Known{}, false
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	return Known{
		negative: x < 0,
		digits:   whole + fraction,
		power:    exp - len(fraction),
	}, true
}

// between returns the number that is known to lie between lo and hi, where lo < hi.
func between(lo, hi *big.Rat) Known {
	half := new(big.Rat).Sub(hi, lo)
	half.Quo(half, big.NewRat(2, 1))
	// The loops find the power of ten with 10^power ≤ half < 10^(power+1), where half is half the width of the
	// interval. The bound has two digits if one more decimal place is written.
	power := (new(big.Float).SetRat(half).MantExp(nil) - 1) * 3 / 10
	for half.Cmp(powerOfTen(power)) < 0 {
		power--
	}
	for half.Cmp(powerOfTen(power+1)) >= 0 {
		power++
	}
	k := atMost(mostUnits, lo, hi, power)
	if lo.Sign() != hi.Sign() ||
		lo.Sign() == 0 ||
		!k.reachesZero() {
		return k
	}
	units := int64(mostUnits)
	for more := 1; more <= signDigits; more++ {
		units = 10*units + 9
		if finer := atMost(units, lo, hi, power-more); !finer.reachesZero() {
			return finer
		}
	}
	return k
}

// atMost returns a number in [lo, hi] whose last decimal place is 10^(power−1). If its bound would be more than
// maxBound units of this place, the last place is 10^power.
func atMost(maxBound int64, lo, hi *big.Rat, power int) Known {
	if k := in(lo, hi, power-1); k.bound <= maxBound {
		return k
	}
	return in(lo, hi, power)
}

// reachesZero reports whether the range from value − bound to value + bound contains zero.
func (k Known) reachesZero() bool {
	value, ok := new(big.Int).SetString(k.digits, 10)
	return ok && value.Cmp(big.NewInt(k.bound)) <= 0
}

// in returns the Known with the last place 10^power.
func in(lo, hi *big.Rat, power int) Known {
	unit := powerOfTen(power)
	l := new(big.Rat).Quo(lo, unit)
	h := new(big.Rat).Quo(hi, unit)
	// The value is the integer closest to the middle: ⌊(l + h + 1)/2⌋.
	middle := new(big.Rat).Add(l, h)
	middle.Add(middle, big.NewRat(1, 1)).Quo(middle, big.NewRat(2, 1))
	value := floor(middle)
	at := new(big.Rat).SetInt(value)
	above, below := new(big.Rat).Sub(h, at), new(big.Rat).Sub(at, l)
	if above.Cmp(below) < 0 {
		above = below
	}
	bound := floor(above.Neg(above)) // −⌈above⌉
	bound.Neg(bound)
	return Known{value.Sign() < 0, new(big.Int).Abs(value).String(), bound.Int64(), power}
}

// floor returns ⌊x⌋.
func floor(x *big.Rat) *big.Int {
	return new(big.Int).Div(x.Num(), x.Denom()) // Euclidean division rounds down if the denominator is positive
}

func powerOfTen(n int) *big.Rat {
	p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil))
	if n < 0 {
		p.Inv(p)
	}
	return p
}

// Exponent formats the power of ten with the exponent e as the format %g does, for example as e+09.
func Exponent(e int) string { return fmt.Sprintf("e%+03d", e) }

// Text returns the number as "value ± bound", or only the value if the bound is 0. Very large and very small
// numbers have the form "(value ± bound)" times a power of ten. The function scale formats the power of ten with
// the exponent exp, for example as ·10⁻³⁰.
func (k Known) Text(scale func(exp int) string) string {
	if k.bound == 0 {
		return k.Value(scale)
	}
	bound := strconv.FormatInt(k.bound, 10)
	e := k.power + max(len(k.digits), len(bound)) - 1
	if isFixed(e) {
		return k.Value(scale) + " ± " + k.Bound(scale)
	}
	scaled := k
	scaled.power -= e
	return "(" + scaled.Value(scale) + " ± " + scaled.Bound(scale) + ")" + scale(e)
}

// Value returns the text of the value without the bound. For very large and very small numbers, it calls scale,
// which formats the power of ten with the exponent exp.
func (k Known) Value(scale func(exp int) string) string {
	text := decimal(k.digits, k.power, scale)
	if k.negative {
		return "-" + text
	}
	return text
}

// Bound returns the text of the bound without the value. For very large and very small numbers, it calls scale,
// which formats the power of ten with the exponent exp.
func (k Known) Bound(scale func(exp int) string) string {
	if k.bound == 0 {
		return "0"
	}
	return decimal(strconv.FormatInt(k.bound, 10), k.power, scale)
}

// isFixed reports whether a number with the decimal exponent e is written without a power of ten.
func isFixed(e int) bool { return -5 < e && e < 9 }

// decimal formats the number digits·10^power. For very large and very small numbers, it calls scale, which formats
// the power of ten with the exponent exp.
func decimal(digits string, power int, scale func(exp int) string) string {
	if digits == "0" && !(-6 < power && power < 0) { // zero with a few decimal places keeps them
		return digits
	}
	e := power + len(digits) - 1
	if isFixed(e) || digits == "0" {
		return point(digits, power)
	}
	return point(digits, power-e) + scale(e)
}

// point formats the number digits·10^power with a decimal point, and without a power of ten.
func point(digits string, power int) string {
	if power >= 0 {
		return digits + strings.Repeat("0", power)
	}
	if short := 1 - power - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	return digits[:len(digits)+power] + "." + digits[len(digits)+power:]
}
