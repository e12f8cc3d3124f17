package digits

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// A Known is a number as far as an interval tells it: value ± bound, both multiples of the same
// power of ten, so that the last digit of the value is the last of the bound,
//
//	12.3456 ± 0.0007
//
// The bound has one significant digit from 3 to 9, or two from 10 to 29 (DIN 1333): of all powers
// of ten the least for which it is no more than 29 of them. What is from value − bound to value +
// bound has all of the interval. Where it has zero, too, which the interval has not, the bound has
// as many digits more as tell the sign, if up to four do. Where the interval is one number, that is written
// as the shortest decimal that is read back as the same float64, and the bound is 0.
type Known struct {
	negative bool
	digits   string // of |value|/10^power, without zeros in front but for "0"
	bound    int64  // in units of 10^power
	power    int
}

const (
	mostUnits  = 29 // the largest bound, in units of the last digit
	signDigits = 4  // how many more digits it may have where that tells the sign
)

// Within is what is known of a number from lo to hi. ok is false where these are not finite or
// not in order.
func Within(lo, hi float64) (k Known, ok bool) {
	if lo == hi {
		return exactly(lo)
	}
	l, h := new(big.Rat).SetFloat64(lo), new(big.Rat).SetFloat64(hi)
	if l == nil || h == nil || !(lo < hi) {
		return Known{}, false
	}
	return between(l, h), true
}

// Around is what is known of a number that is no further than e from x. ok is false where these are
// not finite or e is negative.
func Around(x, e float64) (k Known, ok bool) {
	if e == 0 {
		return exactly(x)
	}
	centre, far := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(e)
	if centre == nil || far == nil || !(e > 0) {
		return Known{}, false
	}
	return between(new(big.Rat).Sub(centre, far), new(big.Rat).Add(centre, far)), true
}

// exactly is x itself.
func exactly(x float64) (k Known, ok bool) {
	mantissa, power, finite := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	exp, err := strconv.Atoi(power)
	if !finite || err != nil {
		return Known{}, false
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	return Known{negative: x < 0, digits: whole + fraction, power: exp - len(fraction)}, true
}

// between is what is known of a number from lo to hi > lo.
func between(lo, hi *big.Rat) Known {
	half := new(big.Rat).Sub(hi, lo)
	half.Quo(half, big.NewRat(2, 1))
	// half is from 10^power to 10^(power+1); with one digit more the bound has two.
	power := (new(big.Float).SetRat(half).MantExp(nil) - 1) * 3 / 10
	for half.Cmp(powerOfTen(power)) < 0 {
		power--
	}
	for half.Cmp(powerOfTen(power+1)) >= 0 {
		power++
	}
	k := atMost(mostUnits, lo, hi, power)
	if lo.Sign() != hi.Sign() || lo.Sign() == 0 || !k.reachesZero() {
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

// atMost is what is known in units of 10^(power−1) or, where the bound is too many of them, of
// 10^power.
func atMost(units int64, lo, hi *big.Rat, power int) Known {
	if k := in(lo, hi, power-1); k.bound <= units {
		return k
	}
	return in(lo, hi, power)
}

// reachesZero says that zero is within bound of value.
func (k Known) reachesZero() bool {
	value, ok := new(big.Int).SetString(k.digits, 10)
	return ok && value.Cmp(big.NewInt(k.bound)) <= 0
}

// in is what is known in units of 10^power.
func in(lo, hi *big.Rat, power int) Known {
	unit := powerOfTen(power)
	l, h := new(big.Rat).Quo(lo, unit), new(big.Rat).Quo(hi, unit)
	// The value is the integer that is nearest to the middle: ⌊(l + h + 1)/2⌋.
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

// floor is the largest integer that is not above x.
func floor(x *big.Rat) *big.Int {
	return new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: rounds down for the positive denominator
}

func powerOfTen(n int) *big.Rat {
	p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil))
	if n < 0 {
		p.Inv(p)
	}
	return p
}

// String writes value ± bound, or the value alone where the bound is 0, with powers of ten as %g
// does: (1.2345 ± 0.0003)e-30.
func (k Known) String() string { return k.Text(Exponent) }

// Exponent writes a power of ten as %g does.
func Exponent(e int) string { return fmt.Sprintf("e%+03d", e) }

// Text is String with powers of ten as scale writes them, such as ·10⁻³⁰.
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

// Value writes the value alone.
func (k Known) Value(scale func(exp int) string) string {
	text := decimal(k.digits, k.power, scale)
	if k.negative {
		return "-" + text
	}
	return text
}

// Bound writes the bound alone.
func (k Known) Bound(scale func(exp int) string) string {
	if k.bound == 0 {
		return "0"
	}
	return decimal(strconv.FormatInt(k.bound, 10), k.power, scale)
}

// isFixed says that a number whose first digit counts 10^e is written without a power of ten.
func isFixed(e int) bool { return -5 < e && e < 9 }

// decimal writes digits·10^power.
func decimal(digits string, power int, scale func(exp int) string) string {
	if digits == "0" && !(-6 < power && power < 0) { // of these the decimals can be counted
		return digits
	}
	e := power + len(digits) - 1
	if isFixed(e) || digits == "0" {
		return point(digits, power)
	}
	return point(digits, power-e) + scale(e)
}

// point writes digits·10^power with a decimal point.
func point(digits string, power int) string {
	if power >= 0 {
		return digits + strings.Repeat("0", power)
	}
	if short := 1 - power - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	return digits[:len(digits)+power] + "." + digits[len(digits)+power:]
}
