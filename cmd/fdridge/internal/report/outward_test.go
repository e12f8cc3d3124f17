package report

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report/reporttest"
	"github.com/fdridge/fdridge/ridge"
)

// anyFloat draws numbers of every size: of few digits and of many, next to a power of ten,
// and the least and the largest there are.
func anyFloat(t *rapid.T, label string) float64 {
	return rapid.OneOf(
		rapid.Map(rapid.Uint64(), math.Float64frombits),
		rapid.Float64Range(-2000, 2000),
		rapid.Custom(func(t *rapid.T) float64 {
			digits, exp := rapid.IntRange(-10000, 10000).Draw(t, "digits"), rapid.IntRange(-330, 305).Draw(t, "exp")
			x, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", digits, exp), 64) // the least are 0
			return x
		}),
		rapid.Custom(func(t *rapid.T) float64 {
			x := math.Pow10(rapid.IntRange(-323, 308).Draw(t, "power"))
			return []float64{
				x, math.Nextafter(x, 0), math.Nextafter(x, math.MaxFloat64), 0.9995 * x, -x,
			}[rapid.IntRange(0, 4).Draw(t, "beside")]
		}),
		rapid.SampledFrom(
			[]float64{
				0,
				math.Copysign(0, -1),
				5e-324,
				-5e-324,
				math.MaxFloat64,
				-math.MaxFloat64,
				math.Inf(1),
				math.Inf(-1),
				math.NaN(),
				9.995,
				99.95,
				0.1,
			},
		),
	).Draw(t, label)
}

// rational returns the number in a text exactly.
func rational(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

// TestOutward: what is printed is on its side of the number, as close as so many digits come,
// and looks like %.ng. A page shows the same number.
func TestOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, n, up := anyFloat(t, "x"), rapid.IntRange(1, 8).Draw(t, "n"), rapid.Bool().Draw(t, "up")
		text := plainNumber(roundOutward(x, n, up), n)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			if want := fmt.Sprintf("%.*g", n, x); text != want || typeset(text) != want {
				t.Fatalf("%v is printed as %s and %s", x, text, typeset(text))
			}
			return
		}
		exact, got := new(big.Rat).SetFloat64(x), rational(t, text)
		off := new(big.Rat).Sub(got, exact)
		if !up {
			off.Neg(off)
		}
		if off.Sign() < 0 {
			t.Fatalf("%v to %d digits, up %v: %s is on the wrong side", x, n, up, text)
		}
		if v, err := strconv.ParseFloat(text, 64); up && v < x || !up && v > x || err != nil && !math.IsInf(v, 0) {
			t.Fatalf("%v to %d digits, up %v: %s is read as %v", x, n, up, text, v)
		}
		_, power, _ := strings.Cut(new(big.Float).SetFloat64(x).Text('e', 800), "e")
		exp, _ := strconv.Atoi(power)
		unit := rational(t, fmt.Sprintf("1e%d", exp-n+1))
		if off.Cmp(unit) >= 0 || !new(big.Rat).Quo(got, unit).IsInt() {
			t.Fatalf("%v to %d digits, up %v: %s is not the nearest on its side", x, n, up, text)
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(v) >= 0x1p-1022 &&
			text != fmt.Sprintf("%.*g", n, v) {
			t.Fatalf("%v to %d digits: %s looks unlike %.*g", x, n, text, n, v)
		}
		if p := reporttest.Plain(typeset(text)); rational(t, p).Cmp(got) != 0 {
			t.Fatalf("%v to %d digits: %s in a page, %s on a terminal", x, n, p, text)
		}
	})
}

// TestBracket: a printed bracket contains the bracket v that it represents. It is at most twice as wide as v, or
// 2·10⁻⁵ of its larger end wider than v.
func TestBracket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := ridge.Interval{Lo: anyFloat(t, "lo")}
		v.Hi = rapid.OneOf(
			rapid.Custom(func(t *rapid.T) float64 { return anyFloat(t, "hi") }),
			rapid.Map(rapid.Float64Range(0, 1e-3), func(w float64) float64 { return v.Lo + math.Abs(v.Lo)*w*w*w }),
			rapid.Just(v.Lo),
		).Draw(t, "hi")
		if !(v.Lo <= v.Hi) {
			v.Lo, v.Hi = v.Hi, v.Lo
		}
		for _, text := range []string{bracket(v), typeset(bracket(v))} {
			lo, hi, err := reporttest.Ends(text)
			if err != nil {
				t.Fatalf("%v is printed as %s: %v", v, text, err)
			}
			if v.Lo <= v.Hi && !(lo <= v.Lo && v.Hi <= hi) {
				t.Fatalf("%s does not hold %v", text, v)
			}
			for i, end := range strings.Split(strings.Trim(text, "[]"), ", ") {
				number, ok := new(big.Rat).SetString(reporttest.Plain(end))
				if v.Lo <= v.Hi && ok && i == 0 && number.Cmp(new(big.Rat).SetFloat64(v.Lo)) > 0 {
					t.Fatalf("%s begins above %v", text, v.Lo)
				}
				if v.Lo <= v.Hi && ok && (i == 1 || !strings.Contains(text, ",")) &&
					number.Cmp(new(big.Rat).SetFloat64(v.Hi)) < 0 {
					t.Fatalf("%s ends below %v", text, v.Hi)
				}
			}
			size := max(math.Abs(v.Lo), math.Abs(v.Hi))
			if width := v.Hi - v.Lo; size < 1e300 && size > 1e-300 && !(hi-lo <= max(2*width, width+2.01e-5*size)) {
				t.Fatalf("%s is %v wide, of %v", text, hi-lo, v)
			}
		}
	})
	for text, v := range map[string]ridge.Interval{
		"[0.07871, 0.07996]":   {Lo: 0.07871992128439803, Hi: 0.07995501044273824},
		"[0.110235, 0.110241]": {Lo: 0.11023504369424707, Hi: 0.11024010234386167},
		"[0.325709, 0.32571]":  {Lo: 0.32570925228309555, Hi: 0.32570925228715397},
		"[-Inf, 10]":           {Lo: math.Inf(-1), Hi: 9.9995},
		"[0, 0.001]":           {Hi: 0.000999999},
		"0.5":                  {Lo: 0.5, Hi: 0.5},
		"0.15625":              {Lo: 0.15625, Hi: 0.15625},
		"[0.1, 0.100001]":      {Lo: 0.1, Hi: 0.1}, // the float64 is a little above 1/10
	} {
		if got := bracket(v); got != text {
			t.Errorf("%v is printed as %s, want %s", v, got, text)
		}
	}
}

// TestWeight: what is within e of x over a scale is within what is printed of what is printed,
// which is no more than half as much again.
func TestWeight(t *testing.T) {
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	rapid.Check(t, func(t *rapid.T) {
		// or e underflows
		x := rapid.OneOf(
			rapid.Float64Range(-1e6, 1e6), rapid.SampledFrom([]float64{0.1, -0.001, 0.3}),
		).Filter(func(x float64) bool { return x == 0 || math.Abs(x) > 1e-280 }).Draw(t, "x")
		e := math.Abs(x) * math.Pow(10, rapid.Float64Range(-18, 1).Draw(t, "log10 e"))
		scale := rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(1e-3, 1e3)).Draw(t, "scale")
		value, within := aroundDivided(x, e, scale)
		shown, size := rational(t, reporttest.Plain(value)), rational(t, reporttest.Plain(within))
		off, far := new(big.Rat).Quo(exact(x), exact(scale)), new(big.Rat).Quo(exact(e), exact(scale))
		if off.Sub(off, shown).Abs(off).Add(off, far).Cmp(size) > 0 {
			t.Fatalf("%v ± %v over %v is not within %s ± %s", x, e, scale, value, within)
		}
		if w, _ := size.Float64(); !(w <= 1.5*(e+2e-15*math.Abs(x))/scale) {
			t.Fatalf("%v ± %v over %v is printed as %s ± %s", x, e, scale, value, within)
		}
	})
	for _, c := range []struct {
		x, e          float64
		value, within string
	}{
		{1.2512, math.Inf(1), "1.25", "none"}, {-0.02735261, 1900, "-0.0274", "1.91e+03"}, {0, 0, "0", "0"},
		{0.5, 0, "0.5", "0"}, {0.02735261, 0.027, "0.0274", "0.0271"},
	} {
		if value, within := formatAround(c.x, c.e); value != c.value || within != c.within {
			t.Errorf("%v ± %v is printed as %s ± %s", c.x, c.e, value, within)
		}
	}
}

func aroundDivided(x, e, scale float64) (value, within string) {
	quotient, off := divide(x, e, scale)
	return formatAround(quotient, off)
}

// TestFigure: a figure of a table holds the proved interval: as a number ± one unit of its last digit if three digits
// are proved, else as a bracket. Proved writes value ± bound.
func TestFigure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := ridge.Interval{Lo: anyFloat(t, "lo")}
		v.Hi = v.Lo + math.Abs(v.Lo)*math.Pow(10, rapid.Float64Range(-18, 1).Draw(t, "log10 width"))
		if math.IsNaN(v.Hi) {
			return
		}
		for _, text := range []string{formatFigure(v), typeset(formatFigure(v))} {
			lo, hi, err := reporttest.Figure(text)
			if err != nil {
				lo, hi, err = reporttest.Ends(text) // infinite
			}
			if err != nil || !(lo <= v.Lo && v.Hi <= hi) {
				t.Fatalf("%s does not hold %v: %v", text, v, err)
			}
			width := v.Hi - v.Lo
			if width <= 1e-3*math.Abs(v.Mid()) && !math.IsInf(width, 0) && math.Abs(v.Lo) < 1e308 &&
				math.Abs(v.Lo) > 1e-300 &&
				strings.HasPrefix(text, "[") {
				t.Fatalf("%v is printed as %s", v, text)
			}
		}
		text := Proved(v)
		value, bound, known := strings.Cut(text, " ± ")
		if !known {
			if lo, hi, err := reporttest.Ends(text); err != nil || !(lo <= v.Lo && v.Hi <= hi) {
				t.Fatalf("%s does not hold %v: %v", text, v, err)
			}
			return
		}
		scale := ""
		bound, scale, known = strings.Cut(bound, ")")
		if known {
			value = strings.TrimPrefix(value, "(")
		}
		by := rational(t, reporttest.Plain("1"+scale))
		middle, off := rational(t, reporttest.Plain(value)), rational(t, reporttest.Plain(bound))
		lo, hi := new(big.Rat).Sub(middle, off), new(big.Rat).Add(middle, off)
		if lo.Mul(lo, by).Cmp(new(big.Rat).SetFloat64(v.Lo)) > 0 ||
			hi.Mul(hi, by).Cmp(new(big.Rat).SetFloat64(v.Hi)) < 0 {
			t.Fatalf("%s does not hold %v", text, v)
		}
	})
	for text, v := range map[string]ridge.Interval{
		"0.325709":           {Lo: 0.3257092522828, Hi: 0.3257092522872},
		"1.00000":            {Lo: 0.9999999999987, Hi: 0.9999999999988},
		"12.0000":            {Lo: 11.9999944, Hi: 11.9999945},
		"[0.07871, 0.07996]": {Lo: 0.07871992128439803, Hi: 0.07995501044273824},
		"0.5":                {Lo: 0.5, Hi: 0.5},
		"[-Inf, 10]":         {Lo: math.Inf(-1), Hi: 9.9995},
		"[-Inf, +Inf]":       {Lo: -4e307, Hi: 4e307},
	} {
		if got := formatFigure(v); got != text {
			t.Errorf("%v is printed as %s, want %s", v, got, text)
		}
	}
	if got := typeset(formatFigure(ridge.Interval{Lo: 4.8363358e9, Hi: 4.8363359e9})); got != "4.83634·10⁹" {
		t.Error(got)
	}
}

// TestChoiceHolds: printed intervals are rounded outward. They contain every γ that a choice leaves possible, and the
// score of the chosen γ.
func TestChoiceHolds(t *testing.T) {
	for _, gamma := range []float64{0.1, 1e-5, 0.001} { // the names of candidates
		if lo, hi := formatGamma(gamma, false), formatGamma(gamma, true); lo != hi || lo != fmt.Sprint(gamma) {
			t.Errorf("from γ = %v to γ = %v", lo, hi)
		}
	}
	c := &choice{
		By:       "gcv",
		Gamma:    5,
		Score:    ridge.Interval{Lo: 0.12388, Hi: 0.98712},
		Possible: [2]number{1.23488, 9.87612},
		Excess:   1,
		Path:     make([]point, 3),
	}
	for text, words := range map[string]string{
		c.String(): "lies in [0.1238, 0.9872]; any gamma from 1.234 to 9.877 may",
		typeset(c.sentence()): "γ = 5: smallest proved bound on the GCV of 3 candidates, which lies in [0.1238, 0.9872]; " +
			"any γ from",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("%q does not say %q", text, words)
		}
	}
}

// TestTypeset: a page shows γ and powers of ten as on paper, but not in flags, lists and names.
func TestTypeset(t *testing.T) {
	for text, want := range map[string]string{
		"gamma = 1.5e-05, y: [-2e+07, 1e+04]":    "γ = 1.5·10⁻⁵, y: [-2·10⁷, 10⁴]",
		"any gamma may":                          "any γ may",
		"try --gamma auto:1e+05,1e+04 or x1e+05": "try --gamma auto:1e+05,1e+04 or x1e+05",
		"12.0000 ± 3e-12":                        "12.0000 ± 3·10⁻¹²",
		"gammas":                                 "gammas",
	} {
		if got := typeset(text); got != want {
			t.Errorf("%q is typeset as %q, want %q", text, got, want)
		}
	}
}
