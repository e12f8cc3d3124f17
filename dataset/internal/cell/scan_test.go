package cell

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// prefix is Prefix of a text that other bytes follow.
func prefix(text string) (v float64, n int) {
	return Prefix(append([]byte(text), make([]byte, Slack)...))
}

// checkPrefix holds Prefix to strconv on what it has read of s.
func checkPrefix(t *testing.T, s string) (n int) {
	t.Helper()
	v, n := prefix(s)
	if n == 0 {
		return 0
	}
	if n > len(s) {
		t.Fatalf("%q: %d bytes were read", s, n)
	}
	want, err := strconv.ParseFloat(s[:n], 64)
	if err != nil || math.Float64bits(v) != math.Float64bits(want) {
		t.Errorf(
			"%q: %v (%x) of %q, want %v (%x), %v",
			s,
			v,
			math.Float64bits(v),
			s[:n],
			want,
			math.Float64bits(want),
			err,
		)
	}
	return n
}

// all says that Prefix must decide s, to its end.
func all(t *testing.T, s string) {
	t.Helper()
	if n := checkPrefix(t, s); n != len(s) {
		t.Errorf("%q: %d bytes were read", s, n)
	}
}

// TestPrefix: the corners of the syntax, and what is left to Parse.
func TestPrefix(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, ".": 0, "-": 0, "-.": 0, "+": 0, "x": 0, " 1": 0, "--1": 0, "e5": 0, "inf": 0, "NaN": 0,
		"0": 1, "-0": 2, "+0": 2, "5.": 2, ".5": 2, "-.5": 3, "1,2": 1, "1.2.3": 3, "1x": 1, "1_0": 1, "0x1": 1,
		"12345678": 8, "123456789": 9,
		"1e": 1, "1e+": 1, "1e-": 1, "1e5": 3, "1E+5": 4, "1.5e-05x": 7, "1e0000022": 9, "1e00000022": 1,
		"0.00000000000000000000000": 0, "0.0000000000000000000001": 24, "00000000000000000000001": 23,
		"0000000000000000000000012": 0,
		"1234567890123456789":       19, "12345678901234567890": 0, "0.1234567890123456789": 21, "0.01234567890123456789": 22,
		"1.2345678901234567891": 0,
		"1e309":                 0, "1e-400": 0, "5e-324": 0, "1.7976931348623157e308": 22, "2.2250738585072014e-308": 23,
		"1e400000": 0,
		"0e9999":   6, "-0e-9": 5,
	} {
		if n := checkPrefix(t, s); n != want && !(want == 0 && strings.HasPrefix(s, "0.00000000000000000000000")) {
			t.Errorf("%q: %d bytes were read, want %d", s, n, want)
		}
	}
	for n := range Slack {
		if v, n := Prefix([]byte("1" + strings.Repeat(",", n))[:n]); n != 0 {
			t.Errorf("of fewer than Slack bytes %d are read: %v", n, v)
		}
	}
}

// TestPrefixRandom tries random float64 of all sizes and of usual sizes, with the shortest decimals and with 17 and 19
// digits. The scan decides all normal numbers.
func TestPrefixRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.Abs(f) < 0x1p-1000 || math.Abs(f) > 0x1p1023 {
			f = r.NormFloat64()
		}
		for _, digits := range []int{-1, 16, 18} {
			all(t, strconv.FormatFloat(f, 'e', digits, 64))
		}
		all(t, strconv.FormatFloat(r.NormFloat64(), 'f', -1, 64))
		all(t, strconv.FormatFloat(1e3*r.ExpFloat64(), 'f', r.IntN(14), 64))
		all(t, strconv.FormatUint(r.Uint64()>>(1+r.IntN(63)), 10))
	}
}

// TestPrefixHalfway: decimals halfway between two float64, exactly, and the nearest to it
// that 19 digits have, above and below.
func TestPrefixHalfway(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	tried := 0
	for range 20000 {
		m := 1<<53 | r.Uint64()>>11 | 1 // 54 bits: halfway
		// m/2^j = m·5^j/10^j
		j := r.IntN(5)
		w := m
		for range j {
			w *= 5
		}
		for _, w := range []uint64{w - 1, w, w + 1} {
			if w < 1e19 {
				all(t, fmt.Sprintf("%de-%d", w, j))
			}
		}
		// w·10^q with w·5^q of 54 bits
		q := 1 + r.IntN(22)
		five := uint64(1)
		for range q {
			five *= 5
		}
		lo, hi := (1<<53)/five+1, (1<<54)/five
		if hi <= lo {
			continue
		}
		if w := lo + r.Uint64N(hi-lo) | 1; bits.Len64(w*five) == 54 {
			all(t, fmt.Sprintf("%de%d", w, q))
			tried++
		}
		// Of any size: 19 digits on either side of halfway.
		f := math.Float64frombits(uint64(1+r.IntN(2045))<<52 | r.Uint64()>>12)
		half := new(big.Float).SetPrec(2000).SetFloat64(f)
		half.Add(half, new(big.Float).SetFloat64(math.Nextafter(f, math.Inf(1)))).Quo(half, big.NewFloat(2))
		s := half.Text('e', 18)
		checkPrefix(t, s)
		digits, exponent, _ := strings.Cut(s, "e")
		n, _ := new(big.Int).SetString(strings.Replace(digits, ".", "", 1), 10)
		for _, d := range []int64{-1, 1} {
			near := new(big.Int).Add(n, big.NewInt(d)).String()
			checkPrefix(t, near[:1]+"."+near[1:]+"e"+exponent)
		}
	}
	if tried < 2000 {
		t.Errorf("%d halfway with a power of ten", tried)
	}
}

// TestPowers holds every power to 10^q: as near to it as 128 bits are, on the side that the
// product needs.
func TestPowers(t *testing.T) {
	for q := minPower; q <= maxPower; q++ {
		p := power(q)
		if p.hi>>63 == 0 {
			t.Fatalf("10^%d: %x does not have 128 bits", q, p)
		}
		got := new(big.Int).SetUint64(p.hi)
		got.Lsh(got, 64).Add(got, new(big.Int).SetUint64(p.lo))
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(q, -q))), nil)
		// Scaled by a power of two to 128 bits.
		want := new(big.Rat).SetFrac(ten, big.NewInt(1))
		if n := uint(ten.BitLen()); q < 0 {
			want.SetFrac(new(big.Int).Lsh(big.NewInt(1), n+127), ten)
		} else {
			want.Mul(want, new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), 128), new(big.Int).Lsh(big.NewInt(1), n)))
		}
		off, _ := want.Sub(want, new(big.Rat).SetInt(got)).Float64()
		down := q >= 0 || q < exactDown
		if down && !(off >= 0 && off < 1) || !down && !(off <= 0 && off > -1) || q >= 0 && q <= exactUp && off != 0 {
			t.Errorf("10^%d: off by %v", q, off)
		}
	}
}

// TestWhole: digits, up to 15 of them.
func TestWhole(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "x": 0, "-1": 0, "7:": 1, "00012 ": 5, "12345678": 8, "123456789012345": 15, "1234567890123456": 0,
		"12345678901234567": 0,
	} {
		w, n := Whole(append([]byte(s), make([]byte, Slack)...))
		if n != want {
			t.Errorf("%q: %d bytes were read, want %d", s, n, want)
		}
		if v, err := strconv.ParseUint(s[:n], 10, 64); n > 0 && (err != nil || v != w) {
			t.Errorf("%q: %d, want %d, %v", s, w, v, err)
		}
	}
	if _, n := Whole([]byte("1")); n != 0 {
		t.Error("fewer than Slack bytes are read")
	}
}

func FuzzPrefix(f *testing.F) {
	for _, s := range []string{"1.5,2", "-9007199254740993e-3", "0.00012345678901234567", "1e23", "8.5e22", "4.35e-320x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkPrefix(t, s) })
}

// BenchmarkPrefix: bytes of text a second, of numbers with few digits, of measurements, and
// of all the digits of a float64, with a byte between them.
func BenchmarkPrefix(b *testing.B) {
	for name, number := range map[string]func(r *rand.Rand) (v float64, digits int){
		"short":  func(r *rand.Rand) (float64, int) { return float64(r.IntN(1000)) / 4, -1 },
		"fixed6": func(r *rand.Rand) (float64, int) { return 100 * r.NormFloat64(), 6 },
		"full":   func(r *rand.Rand) (float64, int) { return r.NormFloat64(), -1 },
	} {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var text []byte
			for len(text) < 1<<18 {
				v, digits := number(r)
				text = append(strconv.AppendFloat(text, v, 'f', digits, 64), ',')
			}
			size := len(text)
			text = append(text, make([]byte, Slack)...)
			b.SetBytes(int64(size))
			for b.Loop() {
				for p := 0; p < size; {
					_, n := Prefix(text[p:])
					if n == 0 {
						b.Fatalf("%q", text[p:p+Slack])
					}
					p += n + 1
				}
			}
		})
	}
}
