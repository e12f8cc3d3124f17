package digits_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/internal/digits"
)

// raised writes a power of ten as nobody does, so that it can be told from the digits.
func raised(e int) string { return fmt.Sprintf("·10^%d", e) }

// parts takes value ± bound apart, in decimals, and the power of ten of its last digit.
func parts(text string) (value, bound *big.Rat, last int, err error) {
	text = strings.ReplaceAll(text, "·10^", "e")
	scale := "e0"
	if inner, power, ok := strings.Cut(strings.TrimPrefix(text, "("), ")"); ok {
		text, scale = inner, power
	}
	v, b, ok := strings.Cut(text, " ± ")
	if !ok {
		b = "0"
	}
	number := func(text string) (*big.Rat, int) {
		mantissa, power, _ := strings.Cut(text, "e")
		exp, _ := strconv.Atoi(power) // "" is 0
		by, e := strconv.Atoi(scale[1:])
		r, ok := new(big.Rat).SetString(fmt.Sprintf("%se%d", mantissa, exp+by))
		if !ok || e != nil {
			err = errors.New(text + " is no number")
			return new(big.Rat), 0
		}
		_, fraction, _ := strings.Cut(mantissa, ".")
		return r, exp + by - len(fraction)
	}
	value, of := number(v)
	bound, last = number(b)
	if ok && of != last && value.Sign() != 0 && bound.Cmp(ten(last+1)) < 0 {
		err = fmt.Errorf("%s: the value ends with 10^%d, the bound with 10^%d", text, of, last)
	}
	return value, bound, last, err
}

func ten(n int) *big.Rat {
	r, _ := new(big.Rat).SetString(fmt.Sprintf("1e%d", n))
	return r
}

// covers says that some integer number of units, give or take so many, covers lo to hi.
func covers(lo, hi, unit *big.Rat, bound int64) bool {
	_, least := nearest(lo, hi, unit)
	return least.Cmp(big.NewInt(bound)) <= 0
}

// nearest is the integer number of units with the least bound, in units, that covers lo to hi.
func nearest(lo, hi, unit *big.Rat) (value, bound *big.Int) {
	middle := new(big.Rat).Add(lo, hi)
	middle.Quo(middle, new(big.Rat).Mul(big.NewRat(2, 1), unit))
	down := new(big.Int).Div(middle.Num(), middle.Denom())
	for step := range int64(2) {
		at := new(big.Int).Add(down, big.NewInt(step))
		far := new(big.Int)
		for _, end := range []*big.Rat{lo, hi} {
			off := new(big.Rat).Quo(end, unit)
			off.Sub(off, new(big.Rat).SetInt(at)).Abs(off)
			up := new(big.Int).Div(off.Num(), off.Denom())
			if !off.IsInt() {
				up.Add(up, big.NewInt(1))
			}
			if up.Cmp(far) > 0 {
				far = up
			}
		}
		nearer := step == 0 || new(big.Rat).Sub(new(big.Rat).SetInt(at), middle).Cmp(big.NewRat(1, 2)) <= 0
		if value == nil || far.Cmp(bound) < 0 || far.Cmp(bound) == 0 && nearer {
			value, bound = at, far
		}
	}
	return value, bound
}

// leavesSign reports whether a text for lo to hi covers zero, too. The text has the finest unit, at least 10^last, in
// which a bound of at most so many units is enough.
func leavesSign(lo, hi *big.Rat, last int, most int64) bool {
	for !covers(lo, hi, ten(last), most) {
		last++
	}
	value, bound := nearest(lo, hi, ten(last))
	return value.CmpAbs(bound) <= 0
}

// check says what is wrong with how a number from lo to hi is written.
func check(k digits.Known, lo, hi *big.Rat) error {
	text := k.Text(digits.Exponent)
	if other := strings.ReplaceAll(k.Text(raised), "·10^", "e"); !sameNumbers(text, other) {
		return fmt.Errorf("%s in one way, %s in another", text, other)
	}
	value, bound, last, err := parts(text)
	if err != nil {
		return err
	}
	if new(big.Rat).Sub(value, bound).Cmp(lo) > 0 || new(big.Rat).Add(value, bound).Cmp(hi) < 0 {
		return fmt.Errorf("%s does not cover %v to %v", text, lo.FloatString(30), hi.FloatString(30))
	}
	for name, alone := range map[string][2]string{
		"value": {k.Value(digits.Exponent), value.RatString()},
		"bound": {k.Bound(digits.Exponent), bound.RatString()},
	} {
		if got, ok := new(big.Rat).SetString(alone[0]); !ok || got.RatString() != alone[1] {
			return fmt.Errorf("%s: the %s alone is %s", text, name, alone[0])
		}
	}
	units := new(big.Rat).Quo(bound, ten(last))
	if !units.IsInt() {
		return fmt.Errorf("%s: the bound is %v of the last digit", text, units)
	}
	n := units.Num().Int64()
	for last >= 0 && n > 29 && n%10 == 0 && new(big.Rat).Quo(value, ten(last+1)).IsInt() {
		n, last = n/10, last+1 // zeros before the point need not be digits
	}
	if in := new(big.Rat).Quo(value, ten(last)); !in.IsInt() {
		return fmt.Errorf("%s: the value has more digits than the bound", text)
	}
	// With more than 29 units fewer would leave the sign open, and as many do not.
	signed, most := lo.Sign() == hi.Sign() && lo.Sign() != 0, int64(29)
	for n > most && most < 299999 {
		if !signed || !leavesSign(lo, hi, last, most) {
			return fmt.Errorf("%s: the bound is %d of the last digit, and the sign is known with fewer", text, n)
		}
		most = 10*most + 9
	}
	if signed && leavesSign(lo, hi, last, most) {
		for finer := most; finer <= 299999; finer = 10*finer + 9 {
			if most > 29 || !leavesSign(lo, hi, last-4, finer) {
				return fmt.Errorf("%s: the sign is known with %d units", text, finer)
			}
		}
	}
	switch {
	case n < 3 || n > most:
		return fmt.Errorf("%s: the bound is %d of the last digit", text, n)
	case covers(lo, hi, ten(last), n-1):
		return fmt.Errorf("%s: a smaller bound would do", text)
	case covers(lo, hi, ten(last-1), most):
		return fmt.Errorf("%s: one digit more is known", text)
	}
	return nil
}

func sameNumbers(a, b string) bool {
	x, y, _, err := parts(a)
	u, v, _, other := parts(b)
	return err == nil && other == nil && x.Cmp(u) == 0 && y.Cmp(v) == 0
}

// checkWithin checks what is written of two floats, in whatever order.
func checkWithin(lo, hi float64) error {
	k, ok := digits.Within(lo, hi)
	finite := !math.IsInf(lo, 0) && !math.IsInf(hi, 0) && lo <= hi // NaN is not
	if ok != finite {
		return fmt.Errorf("%v to %v: %v", lo, hi, ok)
	}
	if !ok {
		return nil
	}
	if lo == hi {
		text := k.Text(digits.Exponent)
		if v, err := strconv.ParseFloat(text, 64); err != nil || v != lo || k.Bound(digits.Exponent) != "0" {
			return fmt.Errorf("%v is written %s", lo, text)
		}
		return nil
	}
	if err := check(k, new(big.Rat).SetFloat64(lo), new(big.Rat).SetFloat64(hi)); err != nil {
		return fmt.Errorf("%v to %v: %w", lo, hi, err)
	}
	return nil
}

// anyFloat draws numbers of every size, those at powers of ten and the extremes among them.
func anyFloat() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.Map(rapid.Uint64(), math.Float64frombits),
		rapid.Float64Range(-2000, 2000),
		rapid.Custom(func(t *rapid.T) float64 {
			x := math.Pow10(rapid.IntRange(-323, 308).Draw(t, "power")) * rapid.SampledFrom([]float64{
				1, 2.9, 2.95, 3, 9.5, 9.95, -1,
			}).Draw(t, "times")
			return []float64{x, math.Nextafter(x, 0), math.Nextafter(x, math.MaxFloat64)}[rapid.IntRange(0, 2).Draw(t, "beside")]
		}),
		rapid.SampledFrom(
			[]float64{
				0,
				5e-324,
				-5e-324,
				math.MaxFloat64,
				-math.MaxFloat64,
				math.Inf(1),
				math.Inf(-1),
				math.NaN(),
				0.1,
			},
		),
	)
}

// TestWithin: what is written covers the interval, with no digit more and none less than is known,
// and the value ends where the bound does.
func TestWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := anyFloat().Draw(t, "lo")
		hi := rapid.OneOf(
			anyFloat(), rapid.Just(lo), rapid.Just(math.Nextafter(lo, math.Inf(1))),
			rapid.Map(rapid.Float64Range(-20, 1), func(p float64) float64 { return lo + math.Abs(lo)*math.Pow(10, p) }),
		).Draw(t, "hi")
		for _, ends := range [][2]float64{{lo, hi}, {hi, lo}} {
			if err := checkWithin(ends[0], ends[1]); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestAround: the text of a number and a bound covers the interval from the number minus the bound to the number plus
// the bound.
func TestAround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, e := anyFloat().Draw(t, "x"), rapid.OneOf(anyFloat(), rapid.Float64Range(-1e-9, 1e-6)).Draw(t, "e")
		k, ok := digits.Around(x, e)
		if want := x-x == 0 && e-e == 0 && e >= 0; ok != want {
			t.Fatalf("%v ± %v: %v", x, e, ok)
		}
		if !ok || e == 0 {
			return
		}
		centre, far := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(e)
		if err := check(k, new(big.Rat).Sub(centre, far), new(big.Rat).Add(centre, far)); err != nil {
			t.Fatalf("%v ± %v: %v", x, e, err)
		}
	})
}

func FuzzWithin(f *testing.F) {
	for _, ends := range [][2]float64{
		{0.1, 0.2}, {-1, 1e-9}, {5e-324, 1e-323}, {-math.MaxFloat64, math.MaxFloat64}, {1, math.Nextafter(1, 2)}, {0, 0.0029},
	} {
		f.Add(math.Float64bits(ends[0]), math.Float64bits(ends[1]))
	}
	f.Fuzz(func(t *testing.T, lo, hi uint64) {
		if err := checkWithin(math.Float64frombits(lo), math.Float64frombits(hi)); err != nil {
			t.Error(err)
		}
	})
}

// TestLooks: how it is written.
func TestLooks(t *testing.T) {
	for want, ends := range map[string][2]float64{
		"0.3257092522850 ± 2.2e-12": {0.3257092522829, 0.3257092522871},
		"-12.295 ± 0.006":           {-12.3, -12.29},
		"0 ± 4":                     {-3.5, 3.9},
		"1230 ± 1190":               {45, 2412},
		"0.500 ± 0.498":             {0.0021, 0.9972},
		"0.5 ± 0.5":                 {1e-9, 1},
		"3100 ± 1900":               {1200, 5000},
		"0.0000 ± 0.0012":           {-0.00111, 0.00112},
		"(1.00005 ± 6e-05)e+30":     {1e30, 1.0001e30},
		"(1.0000 ± 0.0005)e-30":     {0.9995e-30, 1.0005e-30},
		"(0.1 ± 1.1)e-20":           {-1e-20, 1.2e-20},
		"0.5":                       {0.5, 0.5},
		"0":                         {0, 0},
		"-1.5e+300":                 {-1.5e300, -1.5e300},
	} {
		if k, ok := digits.Within(ends[0], ends[1]); !ok || k.Text(digits.Exponent) != want {
			t.Errorf("%v is written %s, want %s", ends, k.Text(digits.Exponent), want)
		}
	}
	k, _ := digits.Within(0.9995e-30, 1.0005e-30)
	got := k.Text(raised) + ", " + k.Value(raised) + ", " + k.Bound(raised)
	if got != "(1.0000 ± 0.0005)·10^-30, 1.0000·10^-30, 5·10^-34" {
		t.Error(got)
	}
}
