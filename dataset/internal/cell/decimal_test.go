package cell

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// TestParse holds Parse to strconv, bit for bit, on the corners of both ways, but for
// numbers as programs have them.
func TestParse(t *testing.T) {
	for _, s := range []string{
		"0", "-0", "0.0", "-0.0", "1", "-1", "0.1", ".5", "5.", "-.5", "3.14159",
		"9007199254740992", "9007199254740993", "9007199254740995", "900719925474099.3",
		"0.9007199254740993", "1234567890123456789", "12345678901234567890", "0000000000000000001",
		"00000000000000000001", "0.0000000000000000001", "0.00000000000000000000001",
		"18446744073709551615", "18446744073709551616", "99999999999999999999",
		"", ".", "-", "-.", "+1", "1e3", "1E-3", "1e400", "1e-400", "0x1p3", "0X1P3", "1_0", "1_000.5e1_0", "+0x.8p0",
		"nan", "inf", "-Inf",
		"1.5D3", ".0d0", "-1.d-3", "+2D+1", "12D3", "1.5D", "1.5d3e1", "1d2.5",
		"1..2", "1.2.3", "--1", "1-", "1 ", " 1", "1,5", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308",
	} {
		check(t, s)
	}
}

// fortran matches a number whose exponent begins with D, as Fortran writes it, if it has a point or a sign after D.
var fortran = regexp.MustCompile(
	`^([+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+))[dD]([+-]?[0-9]+)$` + "|" +
		`^([+-]?[0-9]+)[dD]([+-][0-9]+)$`,
)

func check(t *testing.T, s string) {
	t.Helper()
	got, err := Parse([]byte(s))
	want, wantErr := strconv.ParseFloat(fortran.ReplaceAllString(s, "${1}${3}e${2}${4}"), 64)
	if strings.ContainsAny(s, "_xX") {
		want, wantErr = 0, strconv.ErrSyntax
	}
	if (err == nil) != (wantErr == nil) || !same(got, want) {
		t.Errorf("%q: %v, %v; want %v, %v", s, got, err, want, wantErr)
	}
}

// TestParseRandom: decimals of any length with the point anywhere.
func TestParseRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		var b strings.Builder
		if r.IntN(2) == 0 {
			b.WriteByte('-')
		}
		n := 1 + r.IntN(21)
		point := r.IntN(n + 8)
		for i := range n {
			if i == point {
				b.WriteByte('.')
			}
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		check(t, b.String())
		check(t, strconv.FormatFloat(r.NormFloat64(), 'g', 1+r.IntN(17), 64))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1.5")
	f.Add("-9007199254740993")
	f.Fuzz(check)
}

func BenchmarkParse(b *testing.B) {
	for _, s := range []string{"1.25", "-122.2345", "0.12345678901234", "1.2345678901234567e-01"} {
		text := []byte(s)
		b.Run(s, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(s+" strconv", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := strconv.ParseFloat(string(text), 64); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
